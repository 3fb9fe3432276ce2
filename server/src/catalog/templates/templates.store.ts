/**
 * The SQL of `source_templates` and `connection_templates`. The kind of a template says which of the two is meant, and
 * decides the type of the row. A deleted row stays, because the sources and connections made from it need it.
 */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionTemplateRow, SourceTemplateRow, TemplateKind } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';

export interface TemplateRows {
  source: SourceTemplateRow;
  connection: ConnectionTemplateRow;
}
type TemplateTable = 'source_templates' | 'connection_templates';

/** The store sets these itself. */
type Stamps = 'created_at' | 'updated_at' | 'deleted_at' | 'version';
/** These values of a template never change. */
type Fixed = 'id' | 'organization_id' | 'definition_id';

export type NewTemplate<Kind extends TemplateKind> = Omit<TemplateRows[Kind], 'organization_id' | Stamps>;
export type TemplateChanges<Kind extends TemplateKind> = Partial<Omit<TemplateRows[Kind], Fixed | Stamps>>;

/** Now, or just after the last change if the clock has not moved since. */
export const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

/**
 * Kysely has no type for a row of a table that the caller chooses; every statement here selects or returns all columns.
 */
function rowOf<Kind extends TemplateKind>(_kind: Kind, row: object): TemplateRows[Kind] {
  return row as TemplateRows[Kind];
}

export async function insertTemplate<Kind extends TemplateKind>(
  db: Db,
  kind: Kind,
  organizationId: string,
  template: NewTemplate<Kind>,
): Promise<TemplateRows[Kind]> {
  const stamps = { created_at: now, updated_at: now, deleted_at: null, version: 1 };
  const inserted = await db
    .insertInto<TemplateTable>(`${kind}_templates`)
    .values({ ...template, organization_id: organizationId, ...stamps })
    .returningAll()
    .executeTakeFirstOrThrow();
  return rowOf(kind, inserted);
}

/** Finds a template even if it is deleted. */
export async function findTemplate<Kind extends TemplateKind>(
  db: Db,
  { organizationId, kind, templateId }: TemplateRef<Kind>,
): Promise<TemplateRows[Kind] | undefined> {
  const found = await db
    .selectFrom<TemplateTable>(`${kind}_templates`)
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', templateId)
    .executeTakeFirst();
  return found && rowOf(kind, found);
}

/** The names of the source templates that are made from a definition. */
export async function listNamesByDefinition(tx: Db, organizationId: string, definitionId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('source_templates')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('definition_id', '=', definitionId)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** Reads the template and keeps others from changing it until the transaction ends. */
export async function lockTemplate<Kind extends TemplateKind>(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef<Kind>,
): Promise<TemplateRows[Kind] | undefined> {
  const locked = await tx
    .updateTable<TemplateTable>(`${kind}_templates`)
    .set({ updated_at: sql<number>`updated_at` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', templateId)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return locked && rowOf(kind, locked);
}

/** Oldest first. */
export async function listTemplates<Kind extends TemplateKind>(
  db: Db,
  kind: Kind,
  organizationId: string,
): Promise<TemplateRows[Kind][]> {
  const found = await db
    .selectFrom<TemplateTable>(`${kind}_templates`)
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return found.map((row) => rowOf(kind, row));
}

/** `updated_at` and `version` grow even if nothing else is given: the tags belong to the template. The caller records the version. */
export async function updateTemplate<Kind extends TemplateKind>(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef<Kind>,
  changes: TemplateChanges<Kind>,
): Promise<TemplateRows[Kind]> {
  const updated = await tx
    .updateTable<TemplateTable>(`${kind}_templates`)
    .set({ ...changes, version: sql<number>`version + 1`, updated_at: laterThanUpdatedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', templateId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return rowOf(kind, updated);
}

/** No change of the template: it is the same, and known to work. */
export async function recordChecked(
  tx: Db,
  organizationId: string,
  id: string,
  checkedAt: number | null,
): Promise<ConnectionTemplateRow> {
  return await tx
    .updateTable('connection_templates')
    .set({ checked_at: checkedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteTemplate<Kind extends TemplateKind>(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef<Kind>,
): Promise<TemplateRows[Kind] | undefined> {
  const deleted = await tx
    .updateTable<TemplateTable>(`${kind}_templates`)
    .set({ deleted_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', templateId)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return deleted && rowOf(kind, deleted);
}
