/**
 * Tags: words by which an operator groups templates, one set for both kinds. A name stands for one tag of the
 * organization and is kept in NFC, so that the same word typed on two machines is one tag. Renaming changes it on every
 * template; deleting takes it off every template.
 */
import type { TemplateTag } from '@inlay/contract/catalog/template-tags';
import { isUniqueViolation } from '@inlay/database/unique-violation';
import type { Db } from '../../kernel/db/open.ts';
import type { TemplateTagRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import type { TemplatesContext } from './context.ts';
import { tagIdentity } from './filtering.ts';
import * as tags from './tags.store.ts';

export async function listTags(ctx: TemplatesContext, organizationId: string): Promise<TemplateTagRow[]> {
  return await tags.listTags(ctx.store.db, organizationId);
}

export async function createTag(ctx: TemplatesContext, organizationId: string, name: string): Promise<TemplateTagRow> {
  return await ctx.store.transaction(async (tx) => {
    const tag = await tags.insertTag(tx, organizationId, { id: ctx.runtime.newId(), name: tagIdentity(name) });
    if (!tag) throw new AppError('tag_name_taken');
    await ctx.journal.record(tx, organizationId, {
      type: 'tag.created',
      data: { tag: { id: tag.id, name: tag.name } },
      change: { before: undefined, after: { name: tag.name } },
    });
    return tag;
  });
}

export async function renameTag(
  ctx: TemplatesContext,
  organizationId: string,
  name: string,
  newName: string,
): Promise<TemplateTagRow> {
  try {
    return await ctx.store.transaction(async (tx) => {
      const tag = await lockTag(tx, organizationId, name);
      const wanted = tagIdentity(newName);
      if (tag.name === wanted) return tag;
      const renamed = await tags.renameTag(tx, organizationId, tag.id, wanted);
      const data = { tag: { id: tag.id, name: wanted }, previous_name: tag.name };
      const change = { before: { name: tag.name }, after: { name: wanted } };
      await ctx.journal.record(tx, organizationId, { type: 'tag.renamed', data, change });
      return renamed;
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('tag_name_taken', {}, { cause: error });
    throw error;
  }
}

export async function deleteTag(
  ctx: TemplatesContext,
  organizationId: string,
  name: string,
): Promise<{ id: string; deletedAt: number }> {
  const id = await ctx.store.transaction(async (tx) => {
    const tag = await lockTag(tx, organizationId, name);
    await tags.deleteTag(tx, organizationId, tag.id);
    await ctx.journal.record(tx, organizationId, {
      type: 'tag.deleted',
      data: { tag: { id: tag.id, name: tag.name } },
      change: { before: { name: tag.name }, after: undefined },
    });
    return tag.id;
  });
  return { id, deletedAt: await ctx.store.now() };
}

/** Throws not-found when there is no such tag. */
export async function lockTag(tx: Db, organizationId: string, name: string): Promise<TemplateTagRow> {
  const tag = await tags.lockTag(tx, organizationId, tagIdentity(name));
  if (!tag) throw new AppError('tag_not_found');
  return tag;
}

/** Gives a template exactly these tags, and makes the tags that the organization lacks. Returns their names, sorted. */
export async function setTags(
  ctx: TemplatesContext,
  tx: Db,
  template: TemplateRef,
  names: readonly string[],
): Promise<string[]> {
  const { organizationId } = template;
  const sorted = sortedTags(names);
  const wanted = sorted.map((name) => ({ id: ctx.runtime.newId(), name }));
  const rows = await tags.ensureTags(tx, organizationId, wanted);
  const made = rows.filter(({ id }) => wanted.some((tag) => tag.id === id));
  for (const { id, name } of made) {
    const change = { before: undefined, after: { name } };
    await ctx.journal.record(tx, organizationId, { type: 'tag.created', data: { tag: { id, name } }, change });
  }
  await tags.replaceTaggings(
    tx,
    template,
    rows.map(({ id }) => id),
  );
  return sorted;
}

/** Each name once, sorted as the database sorts. */
export function sortedTags(names: readonly string[]): string[] {
  return [...new Set(names.map(tagIdentity))].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function presentTag({ id, name, organization_id, created_at, updated_at }: TemplateTagRow): TemplateTag {
  return {
    id,
    name,
    organization_id,
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  };
}
