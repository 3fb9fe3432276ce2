/**
 * Adds a tag to a template or removes it, the same for both kinds of template. The tags belong to the template, so the
 * template counts as changed.
 */
import type { Db } from '../db/open.ts';
import { AppError } from '../errors.ts';
import type { Operator } from '../template-ref.ts';
import type { TemplatesContext } from './context.ts';
import * as tags from './tags.store.ts';
import { lockTag } from './tags.ts';

/** How one kind of template is stored. */
export interface TaggedTemplates {
  taggings: tags.Taggings;
  notFound: 'source_template_not_found' | 'connection_template_not_found';
  lock(tx: Db, organizationId: string, id: string): Promise<object | undefined>;
  /** Makes a version of it. */
  touch(ctx: TemplatesContext, tx: Db, by: Operator, id: string): Promise<unknown>;
}

interface Tagging {
  by: Operator;
  templateId: string;
  tagName: string;
}

/** The tag must exist. A template that has the tag already is no error. */
export async function tagTemplate(ctx: TemplatesContext, of: TaggedTemplates, tagging: Tagging): Promise<void> {
  const { by, templateId, tagName } = tagging;
  const { organizationId } = by;
  await ctx.store.transaction(async (tx) => {
    if (!(await of.lock(tx, organizationId, templateId))) throw new AppError(of.notFound);
    const { id } = await lockTag(tx, organizationId, tagName);
    const isNew = await tags.insertTagging(tx, of.taggings, organizationId, templateId, id);
    if (isNew) await of.touch(ctx, tx, by, templateId);
  });
}

export async function untagTemplate(
  ctx: TemplatesContext,
  of: TaggedTemplates,
  { by, templateId, tagName }: Tagging,
): Promise<{ deletedAt: number }> {
  const { organizationId } = by;
  await ctx.store.transaction(async (tx) => {
    if (!(await of.lock(tx, organizationId, templateId))) throw new AppError(of.notFound);
    const { id } = await lockTag(tx, organizationId, tagName);
    const wasThere = await tags.deleteTagging(tx, of.taggings, organizationId, templateId, id);
    if (!wasThere) throw new AppError('tag_not_found');
    await of.touch(ctx, tx, by, templateId);
  });
  return { deletedAt: await ctx.store.now() };
}
