/** The SQL of `template_tags` and of the two tables that say which template has which tag. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { TemplateKind, TemplateTagRow } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import { laterThanUpdatedAt } from './templates.store.ts';

export async function listTags(db: Db, organizationId: string): Promise<TemplateTagRow[]> {
  return await db
    .selectFrom('template_tags')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .execute();
}

interface NewTag {
  id: string;
  name: string;
}

/** Undefined when a tag with that name exists already. */
export async function insertTag(db: Db, organizationId: string, tag: NewTag): Promise<TemplateTagRow | undefined> {
  return await db
    .insertInto('template_tags')
    .values(newRow(organizationId, tag))
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Returns the tags with these names, and makes those that are missing. The rows are locked until the transaction ends,
 * so that nobody deletes a tag before a template has it. Every caller gives the names in the same order: two
 * transactions that lock in different orders block each other.
 */
export async function ensureTags(tx: Db, organizationId: string, tags: NewTag[]): Promise<TemplateTagRow[]> {
  if (tags.length === 0) return [];
  return await tx
    .insertInto('template_tags')
    .values(tags.map((tag) => newRow(organizationId, tag)))
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'name']).doUpdateSet({ name: sql<string>`excluded.name` }),
    )
    .returningAll()
    .execute();
}

function newRow(organizationId: string, tag: NewTag) {
  return {
    ...tag,
    organization_id: organizationId,
    created_at: sql<number>`now_ms()`,
    updated_at: sql<number>`now_ms()`,
  };
}

/** Reads the tag and keeps others from changing it until the transaction ends. */
export async function lockTag(tx: Db, organizationId: string, name: string): Promise<TemplateTagRow | undefined> {
  return await tx
    .updateTable('template_tags')
    .set({ name: sql<string>`name` })
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
}

export async function renameTag(tx: Db, organizationId: string, id: string, name: string): Promise<TemplateTagRow> {
  return await tx
    .updateTable('template_tags')
    .set({ name, updated_at: laterThanUpdatedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Takes the tag off every template, then deletes it. */
export async function deleteTag(tx: Db, organizationId: string, id: string): Promise<void> {
  for (const kind of ['source', 'connection'] as const) {
    await tx
      .deleteFrom(`${kind}_template_tags`)
      .where('organization_id', '=', organizationId)
      .where('tag_id', '=', id)
      .execute();
  }
  await tx.deleteFrom('template_tags').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** The names of the tags by template id, each list sorted. */
export async function tagNamesByTemplate(
  db: Db,
  kind: TemplateKind,
  organizationId: string,
  templateId?: string,
): Promise<Map<string, string[]>> {
  let query = db
    .selectFrom(`${kind}_template_tags as tagging`)
    .innerJoin('template_tags', 'template_tags.id', 'tagging.tag_id')
    .select(['tagging.template_id', 'template_tags.name'])
    .where('tagging.organization_id', '=', organizationId);
  if (templateId !== undefined) query = query.where('tagging.template_id', '=', templateId);
  const names = new Map<string, string[]>();
  for (const { template_id, name } of await query.orderBy('template_tags.name').execute()) {
    names.set(template_id, [...(names.get(template_id) ?? []), name]);
  }
  return names;
}

export async function replaceTaggings(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  tagIds: string[],
): Promise<void> {
  await tx
    .deleteFrom(`${kind}_template_tags`)
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .execute();
  if (tagIds.length === 0) return;
  const rows = tagIds.map((tag_id) => ({ organization_id: organizationId, template_id: templateId, tag_id }));
  await tx.insertInto(`${kind}_template_tags`).values(rows).execute();
}

/** False when the template had the tag already. */
export async function insertTagging(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  tagId: string,
): Promise<boolean> {
  const row = await tx
    .insertInto(`${kind}_template_tags`)
    .values({ organization_id: organizationId, template_id: templateId, tag_id: tagId })
    .onConflict((conflict) => conflict.columns(['template_id', 'tag_id']).doNothing())
    .returning('tag_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** False when the template did not have the tag. */
export async function deleteTagging(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  tagId: string,
): Promise<boolean> {
  const row = await tx
    .deleteFrom(`${kind}_template_tags`)
    .where('organization_id', '=', organizationId)
    .where('template_id', '=', templateId)
    .where('tag_id', '=', tagId)
    .returning('tag_id')
    .executeTakeFirst();
  return row !== undefined;
}
