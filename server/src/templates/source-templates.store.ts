/** The SQL of `source_templates`. A deleted row stays: sources that were made from it still need its defaults. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { SourceTemplateRow } from '../db/tables.ts';

const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

export async function insertSourceTemplate(
  db: Db,
  template: Omit<SourceTemplateRow, 'created_at' | 'updated_at' | 'deleted_at'>,
): Promise<SourceTemplateRow> {
  const now = sql<number>`now_ms()`;
  return await db
    .insertInto('source_templates')
    .values({ ...template, created_at: now, updated_at: now, deleted_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findSourceTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<SourceTemplateRow | undefined> {
  return await db
    .selectFrom('source_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Even if it is deleted. */
export async function findAnySourceTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<SourceTemplateRow | undefined> {
  return await db
    .selectFrom('source_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Reads the template and keeps others from changing it until the transaction ends. */
export async function lockSourceTemplate(
  tx: Db,
  organizationId: string,
  id: string,
): Promise<SourceTemplateRow | undefined> {
  return await tx
    .updateTable('source_templates')
    .set({ updated_at: sql<number>`updated_at` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Oldest first. */
export async function listSourceTemplates(db: Db, organizationId: string): Promise<SourceTemplateRow[]> {
  return await db
    .selectFrom('source_templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export type SourceTemplateChanges = Partial<Pick<SourceTemplateRow, 'name' | 'sealed_defaults' | 'customization'>>;

/** `updated_at` grows even if nothing else is given: the tags of a template are part of it. */
export async function updateSourceTemplate(
  tx: Db,
  organizationId: string,
  id: string,
  changes: SourceTemplateChanges,
): Promise<SourceTemplateRow> {
  return await tx
    .updateTable('source_templates')
    .set({ ...changes, updated_at: laterThanUpdatedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteSourceTemplate(
  db: Db,
  organizationId: string,
  id: string,
): Promise<{ deleted_at: number | null } | undefined> {
  return await db
    .updateTable('source_templates')
    .set({ deleted_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('deleted_at')
    .executeTakeFirst();
}
