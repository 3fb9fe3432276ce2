/** The SQL of `connection_templates`. A deleted row stays, as what connections were made from. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { ConnectionTemplateRow } from '../db/tables.ts';

const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

export async function insertConnectionTemplate(
  db: Db,
  template: Omit<ConnectionTemplateRow, 'created_at' | 'updated_at' | 'deleted_at'>,
): Promise<ConnectionTemplateRow> {
  const now = sql<number>`now_ms()`;
  return await db
    .insertInto('connection_templates')
    .values({ ...template, created_at: now, updated_at: now, deleted_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findConnectionTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<ConnectionTemplateRow | undefined> {
  return await db
    .selectFrom('connection_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Reads the template and keeps others from changing it until the transaction ends. */
export async function lockConnectionTemplate(
  tx: Db,
  organizationId: string,
  id: string,
): Promise<ConnectionTemplateRow | undefined> {
  return await tx
    .updateTable('connection_templates')
    .set({ updated_at: sql<number>`updated_at` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Oldest first. */
export async function listConnectionTemplates(db: Db, organizationId: string): Promise<ConnectionTemplateRow[]> {
  return await db
    .selectFrom('connection_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export type ConnectionTemplateChanges = Partial<
  Omit<
    ConnectionTemplateRow,
    'id' | 'organization_id' | 'definition_id' | 'icon' | 'created_at' | 'updated_at' | 'deleted_at'
  >
>;

/** `updated_at` grows even if nothing else is given: the tags of a template are part of it. */
export async function updateConnectionTemplate(
  tx: Db,
  organizationId: string,
  id: string,
  changes: ConnectionTemplateChanges,
): Promise<ConnectionTemplateRow> {
  return await tx
    .updateTable('connection_templates')
    .set({ ...changes, updated_at: laterThanUpdatedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteConnectionTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<{ deleted_at: number | null } | undefined> {
  return await db
    .updateTable('connection_templates')
    .set({ deleted_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('deleted_at')
    .executeTakeFirst();
}

/** Even if it is deleted. */
export async function findAnyConnectionTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<ConnectionTemplateRow | undefined> {
  return await db
    .selectFrom('connection_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}
