/**
 * Organizations: the operators that share one deployment and see nothing of each other. Each has an id here and an id
 * on the platform, usually the same. They are made on the command line, never over the API.
 */
import type { Db, Store } from '../../kernel/db/open.ts';
import type { OrganizationRow } from '../../kernel/db/tables.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import * as organizations from './organizations.store.ts';

interface NewOrganization {
  id?: string | undefined;
  name: string;
  platformOrganizationId?: string | undefined;
}

export async function createOrganization(
  store: Store,
  runtime: Runtime,
  { id = runtime.newId(), name, platformOrganizationId = id }: NewOrganization,
): Promise<OrganizationRow> {
  return await organizations.insertOrganization(store.db, {
    id,
    name,
    platform_organization_id: platformOrganizationId,
  });
}

export const listOrganizations = (store: Store): Promise<OrganizationRow[]> =>
  organizations.listOrganizations(store.db);

export const findOrganization = (store: Store, id: string): Promise<OrganizationRow | undefined> =>
  organizations.findOrganization(store.db, id);

/** The default organization: the configured one, else the oldest. It is made on the first start. */
export async function ensureFirstOrganization(
  store: Store,
  runtime: Runtime,
  configured: { id?: string | undefined; platformOrganizationId?: string | undefined },
): Promise<OrganizationRow> {
  return await store.exclusively(async (tx) => {
    const existing = await organizations.listOrganizations(tx);
    const wanted = configured.id === undefined ? existing[0] : existing.find(({ id }) => id === configured.id);
    if (wanted) return wanted;
    const id = configured.id ?? runtime.newId();
    const platformOrganizationId = configured.platformOrganizationId ?? id;
    return await organizations.insertOrganization(tx, {
      id,
      name: 'default',
      platform_organization_id: platformOrganizationId,
    });
  });
}

/** The platform's id for one of our organizations. */
export async function getPlatformOrganizationId({ db }: Store, organizationId: string): Promise<string> {
  const row = await organizations.findOrganization(db, organizationId);
  if (!row) throw new Error(`The organization ${organizationId} does not exist.`);
  return row.platform_organization_id;
}

/** In a transaction as well. */
export async function listOrganizationIds(db: Db): Promise<string[]> {
  return (await organizations.listOrganizations(db)).map(({ id }) => id);
}
