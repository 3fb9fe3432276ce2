/** The SQL of `webhook_endpoints`. */
import { sql } from 'kysely';
import { noLease } from '../../kernel/db/leases.ts';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { WebhookEndpointRow } from '../../kernel/db/tables.ts';

/** Owner of endpoints. With a workspace, only those that its customer created. */
export interface Owner {
  organizationId: string;
  /** Undefined: an operator, who sees those of all customers as well. */
  workspaceId?: string | undefined;
}

function ownedBy(db: Db, { organizationId, workspaceId }: Owner) {
  const query = db.selectFrom('webhook_endpoints').selectAll().where('organization_id', '=', organizationId);
  return workspaceId === undefined ? query : query.where('workspace_id', '=', workspaceId);
}

export async function listEndpoints(db: Db, owner: Owner): Promise<WebhookEndpointRow[]> {
  return await ownedBy(db, owner).orderBy('created_at').orderBy('id').execute();
}

export async function findEndpoint(db: Db, owner: Owner, id: string): Promise<WebhookEndpointRow | undefined> {
  return await ownedBy(db, owner).where('id', '=', id).executeTakeFirst();
}

/** Anybody who knows the id of an endpoint may ask for its public keys. */
export async function findEndpointById(db: Db, id: string): Promise<WebhookEndpointRow | undefined> {
  return await db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Reads the endpoint and keeps others from changing it until the transaction ends. */
export async function lockEndpoint(tx: Db, owner: Owner, id: string): Promise<WebhookEndpointRow | undefined> {
  const query = tx
    .updateTable('webhook_endpoints')
    .set({ url: sql<string>`url` })
    .where('organization_id', '=', owner.organizationId)
    .where('id', '=', id);
  const owned = owner.workspaceId === undefined ? query : query.where('workspace_id', '=', owner.workspaceId);
  return await owned.returningAll().executeTakeFirst();
}

/** Two requests at the same time never count the same endpoints: the row of the organization is locked. */
export async function countEndpoints(
  tx: Db,
  organizationId: string,
): Promise<Pick<WebhookEndpointRow, 'workspace_id'>[]> {
  await tx.updateTable('organizations').set({ name: sql<string>`name` }).where('id', '=', organizationId).execute();
  return await tx
    .selectFrom('webhook_endpoints')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .execute();
}

export type EndpointSettings = Pick<
  WebhookEndpointRow,
  | 'url'
  | 'description'
  | 'types'
  | 'workspace_ids'
  | 'tags'
  | 'sealed_headers'
  | 'signing'
  | 'sealed_keys'
  | 'rate'
  | 'ordered'
  | 'enabled'
  | 'disabled_reason'
>;

/** The last position of the organization's log. */
const headOf = (organizationId: string) =>
  sql<number>`coalesce((select position from log_heads where organization_id = ${organizationId}), 0)`;

export async function insertEndpoint(
  tx: Db,
  organizationId: string,
  endpoint: EndpointSettings & { id: string; workspace_id: string | null },
): Promise<WebhookEndpointRow> {
  return await tx
    .insertInto('webhook_endpoints')
    .values({
      ...endpoint,
      organization_id: organizationId,
      disabled_at: endpoint.enabled === 1 ? null : now,
      // It gets what happens from now on.
      read_until: headOf(organizationId),
      ...noLease,
      not_before: 0,
      failing_since: null,
      failing_told: 0,
      last_delivered_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateEndpoint(
  tx: Db,
  organizationId: string,
  id: string,
  settings: Partial<EndpointSettings>,
): Promise<WebhookEndpointRow> {
  return await tx
    .updateTable('webhook_endpoints')
    // What was wrong may be right now.
    .set({ ...settings, not_before: 0, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** From the next event on; what was missed meanwhile can be recovered. */
export async function enableEndpoint(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx
    .updateTable('webhook_endpoints')
    .set({
      enabled: 1,
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      failing_told: 0,
      not_before: 0,
      read_until: headOf(organizationId),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

export async function disableEndpoint(
  tx: Db,
  organizationId: string,
  id: string,
  reason: WebhookEndpointRow['disabled_reason'],
): Promise<void> {
  await tx
    .updateTable('webhook_endpoints')
    .set({ enabled: 0, disabled_reason: reason, disabled_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', next_at: null })
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', id)
    .where('state', '=', 'pending')
    .execute();
}

export async function deleteEndpoint(tx: Db, organizationId: string, id: string): Promise<void> {
  for (const [table, column] of [
    ['webhook_deliveries', 'endpoint_id'],
    ['webhook_endpoints', 'id'],
  ] as const) {
    await sql`
      delete from ${sql.table(table)} where organization_id = ${organizationId} and ${sql.ref(column)} = ${id}`.execute(
      tx,
    );
  }
}

/** The names of the tags of each template of the organization. */
export async function tagsByTemplate(db: Db, organizationId: string): Promise<Map<string, string[]>> {
  const tags = new Map<string, string[]>();
  for (const taggings of ['source_template_tags', 'connection_template_tags'] as const) {
    const rows = await db
      .selectFrom(`${taggings} as tagging`)
      .innerJoin('template_tags', 'template_tags.id', 'tagging.tag_id')
      .select(['tagging.template_id', 'template_tags.name'])
      .where('tagging.organization_id', '=', organizationId)
      .execute();
    for (const { template_id, name } of rows) tags.set(template_id, [...(tags.get(template_id) ?? []), name]);
  }
  return tags;
}
