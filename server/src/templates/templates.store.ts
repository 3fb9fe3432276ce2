/**
 * The SQL of `source_templates` and `connection_templates`. The parameter `table` of each function says which of the
 * two is meant, and decides the type of the row. A deleted row stays, because the sources and connections made from it
 * need it.
 */
import { sql } from 'kysely';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionTemplateRow, SourceTemplateRow } from '../db/tables.ts';

interface TemplateRows {
  source_templates: SourceTemplateRow;
  connection_templates: ConnectionTemplateRow;
}
type TemplateTable = keyof TemplateRows;

/** The store sets these itself. */
type Stamps = 'created_at' | 'updated_at' | 'deleted_at' | 'version';
/** These values of a template never change. */
type Fixed = 'id' | 'organization_id' | 'definition_id';

type NewTemplate<Table extends TemplateTable> = Omit<TemplateRows[Table], 'organization_id' | Stamps>;
export type TemplateChanges<Table extends TemplateTable> = Partial<Omit<TemplateRows[Table], Fixed | Stamps>>;

/** Now, or just after the last change if the clock has not moved since. */
export const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

/**
 * Kysely has no type for a row of a table that is chosen by the caller; every statement here selects or returns all
 * columns.
 */
function rowOf<Table extends TemplateTable>(_table: Table, row: object): TemplateRows[Table] {
  return row as TemplateRows[Table];
}

export async function insertTemplate<Table extends TemplateTable>(
  db: Db,
  table: Table,
  organizationId: string,
  template: NewTemplate<Table>,
): Promise<TemplateRows[Table]> {
  const stamps = { created_at: now, updated_at: now, deleted_at: null, version: 1 };
  const inserted = await db
    .insertInto<TemplateTable>(table)
    .values({ ...template, organization_id: organizationId, ...stamps })
    .returningAll()
    .executeTakeFirstOrThrow();
  return rowOf(table, inserted);
}

export async function findTemplate<Table extends TemplateTable>(
  db: Db,
  table: Table,
  organizationId: string,
  id: string,
): Promise<TemplateRows[Table] | undefined> {
  const found = await db
    .selectFrom<TemplateTable>(table)
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return found && rowOf(table, found);
}

/** Finds a template even if it is deleted. */
export async function findAnyTemplate<Table extends TemplateTable>(
  db: Db,
  table: Table,
  organizationId: string,
  id: string,
): Promise<TemplateRows[Table] | undefined> {
  const found = await db
    .selectFrom<TemplateTable>(table)
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return found && rowOf(table, found);
}

/** Reads the template and keeps others from changing it until the transaction ends. */
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

export async function lockTemplate<Table extends TemplateTable>(
  tx: Db,
  table: Table,
  organizationId: string,
  id: string,
): Promise<TemplateRows[Table] | undefined> {
  const locked = await tx
    .updateTable<TemplateTable>(table)
    .set({ updated_at: sql<number>`updated_at` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return locked && rowOf(table, locked);
}

/** Oldest first. */
export async function listTemplates<Table extends TemplateTable>(
  db: Db,
  table: Table,
  organizationId: string,
): Promise<TemplateRows[Table][]> {
  const found = await db
    .selectFrom<TemplateTable>(table)
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return found.map((row) => rowOf(table, row));
}

/** `updated_at` and `version` grow even if nothing else is given: the tags belong to the template. The caller records the version. */
export async function updateTemplate<Table extends TemplateTable>(
  tx: Db,
  table: Table,
  organizationId: string,
  id: string,
  changes: TemplateChanges<Table>,
): Promise<TemplateRows[Table]> {
  const updated = await tx
    .updateTable<TemplateTable>(table)
    .set({ ...changes, version: sql<number>`version + 1`, updated_at: laterThanUpdatedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return rowOf(table, updated);
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

export async function deleteTemplate(
  db: Db,
  table: TemplateTable,
  organizationId: string,
  id: string,
): Promise<{ deleted_at: number | null; version: number; name: string } | undefined> {
  return await db
    .updateTable(table)
    .set({ deleted_at: sql<number>`now_ms()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(['deleted_at', 'version'])
    .returning(sql<string>`${sql.ref(table === 'source_templates' ? 'name' : 'destination_name')}`.as('name'))
    .executeTakeFirst();
}
