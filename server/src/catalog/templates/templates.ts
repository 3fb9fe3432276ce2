/**
 * The lifecycle of templates of both kinds: create, change, roll back, tag and delete. Each kind has its own rules
 * (source-templates.ts, connection-templates.ts). changes/ decides who a change applies to.
 *
 * Invariant: every change of a template creates a version in the same transaction.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ConnectionTemplate, UpdateConnectionTemplateRequest } from '@inlay/contract/catalog/connection-templates';
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { SourceTemplate, UpdateSourceTemplateRequest } from '@inlay/contract/catalog/source-templates';
import type { Fault } from '@inlay/contract/errors';
import type { Db } from '../../kernel/db/open.ts';
import type { TemplateKind } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import type { Operator, TemplateRef } from '../../kernel/template-ref.ts';
import type { Definition } from '../definitions/definition.ts';
import { findDefinition, getDefinition, type WantedDefinition } from '../definitions/definitions.ts';
import { holdDefinition } from '../definitions/own-definitions.ts';
import { openConfiguration } from '../definitions/sealed-configuration.ts';
import type { TemplatesContext } from './context.ts';
import { isSelected, noFilter, type TagFilter } from './filtering.ts';
import * as tags from './tags.store.ts';
import { lockTag, setTags, sortedTags } from './tags.ts';
import * as templates from './templates.store.ts';
import { type ConnectionContent, getVersion, recordDeleted, recordVersion, type SourceContent } from './versions.ts';

interface UpdateRequests {
  source: UpdateSourceTemplateRequest;
  connection: UpdateConnectionTemplateRequest;
}
export type UpdateRequest<Kind extends TemplateKind> = UpdateRequests[Kind];
interface Shown {
  source: SourceTemplate;
  connection: ConnectionTemplate;
}
interface Contents {
  source: SourceContent;
  connection: ConnectionContent;
}
export type Content<Kind extends TemplateKind> = Contents[Kind];
export type TemplateRow<Kind extends TemplateKind> = templates.TemplateRows[Kind];
export type TemplateChanges<Kind extends TemplateKind> = templates.TemplateChanges<Kind>;
/** The tags are sorted by name. */
export type Template<Kind extends TemplateKind> = TemplateRow<Kind> & { tags: string[] };

export interface Change<Kind extends TemplateKind> {
  definition: Definition;
  request: UpdateRequest<Kind>;
  /** The destination that was tested before the change. */
  tested?: TestedDestination | undefined;
}

export interface TestedDestination {
  configuration: Configuration;
  /** Null where it was not tested. */
  checkedAt: number | null;
}

/** What differs between the two kinds. */
export interface TemplateRules<Kind extends TemplateKind> {
  kind: Kind;
  nameOf(row: TemplateRow<Kind>): string;
  sealedIn(row: TemplateRow<Kind>): string;
  contentOf(row: templates.NewTemplate<Kind>, tags: string[]): Content<Kind>;
  /** The values that really differ from the present state. Throws when a value may not be changed so. */
  changesTo(
    ctx: TemplatesContext,
    db: Db,
    row: TemplateRow<Kind>,
    change: Change<Kind>,
  ): Promise<TemplateChanges<Kind>>;
  /** After a change: records what makes no version. */
  settle?(ctx: TemplatesContext, tx: Db, row: TemplateRow<Kind>, change: Change<Kind>): Promise<TemplateRow<Kind>>;
  /** What a row gets from an earlier version. Throws when the connector no longer accepts that version. */
  restore(ctx: TemplatesContext, tx: Db, version: EarlierVersion<Kind>): Promise<TemplateChanges<Kind>>;
  /** As operators see it. */
  present(ctx: TemplatesContext, template: Template<Kind>): Promise<Shown[Kind]>;
}

export interface EarlierVersion<Kind extends TemplateKind> {
  organizationId: string;
  definition: Definition;
  content: Content<Kind>;
  configuration: Configuration;
  sealed: string;
}

const notFound = (kind: TemplateKind) => new AppError(`${kind}_template_not_found`);

export async function getTemplate<Kind extends TemplateKind>(
  { store }: { store: { db: Db } },
  ref: TemplateRef<Kind>,
): Promise<Template<Kind>> {
  const row = await templates.findTemplate(store.db, ref);
  if (row?.deleted_at !== null) throw notFound(ref.kind);
  return { ...row, tags: await tagsOf(store.db, ref) };
}

/** Finds a template even if it is deleted: what was made from it still needs it. */
export async function findAnyTemplate<Kind extends TemplateKind>(
  { store }: { store: { db: Db } },
  ref: TemplateRef<Kind>,
): Promise<Template<Kind> | undefined> {
  const row = await templates.findTemplate(store.db, ref);
  return row && { ...row, tags: await tagsOf(store.db, ref) };
}

/** Oldest first. */
export async function listTemplates<Kind extends TemplateKind>(
  { store }: { store: { db: Db } },
  kind: Kind,
  organizationId: string,
  filter: TagFilter = noFilter,
): Promise<Template<Kind>[]> {
  const rows = await templates.listTemplates(store.db, kind, organizationId);
  const names = await tags.tagNamesByTemplate(store.db, kind, organizationId);
  return rows
    .map((row) => ({ ...row, tags: names.get(row.id) ?? [] }))
    .filter((template) => isSelected(template.tags, filter));
}

async function tagsOf(db: Db, { organizationId, kind, templateId }: TemplateRef): Promise<string[]> {
  const names = await tags.tagNamesByTemplate(db, kind, organizationId, templateId);
  return names.get(templateId) ?? [];
}

/** The connector of a template, which never changes. */
export const connectorOf = (kind: TemplateKind, row: { organization_id: string; definition_id: string }) =>
  ({
    organizationId: row.organization_id,
    kind: kind === 'source' ? 'source' : 'destination',
    id: row.definition_id,
  }) satisfies WantedDefinition;

/** Not in a transaction, because reading definitions may take a while. */
export async function getConnectorOf(ctx: TemplatesContext, ref: TemplateRef): Promise<Definition> {
  return await getDefinition(ctx, connectorOf(ref.kind, await getTemplate(ctx, ref)));
}

/** The definition that a field of a request names. */
export async function getNamedDefinition(
  ctx: TemplatesContext,
  { id, ...wanted }: Omit<WantedDefinition, 'id'> & { id: string | undefined },
  field: string,
): Promise<Definition> {
  const definition = id && (await findDefinition(ctx, { ...wanted, id }));
  if (definition) return definition;
  const msg = `no ${wanted.kind} definition has this id`;
  throw invalidRequest({ loc: ['body', field], msg, type: 'value_error.definition' });
}

export async function createTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  { definition, fields, names }: { definition: Definition; fields: templates.NewTemplate<Kind>; names: string[] },
): Promise<Template<Kind>> {
  const { organizationId } = by;
  return await ctx.store.transaction(async (tx) => {
    await holdDefinition(tx, organizationId, definition);
    const row = await templates.insertTemplate(tx, rules.kind, organizationId, fields);
    const named = await setTags(ctx, tx, { organizationId, kind: rules.kind, templateId: row.id }, names);
    return await record(ctx, tx, rules, row, { by, definition, tags: named });
  });
}

/** Keeps others from changing the template until the transaction ends. */
export async function lockTemplate<Kind extends TemplateKind>(
  tx: Db,
  ref: TemplateRef<Kind>,
): Promise<TemplateRow<Kind>> {
  const row = await templates.lockTemplate(tx, ref);
  if (!row) throw notFound(ref.kind);
  return row;
}

/** The caller has locked the template. */
export async function changeTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  tx: Db,
  rules: TemplateRules<Kind>,
  row: TemplateRow<Kind>,
  by: Operator,
  change: Change<Kind>,
): Promise<Template<Kind>> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId: row.id };
  const changes = await rules.changesTo(ctx, tx, row, change);
  const present = await tagsOf(tx, ref);
  const { request, definition } = change;
  const names = request.tags && sortedTags(request.tags);
  const isRetagged = names !== undefined && !isDeepStrictEqual(names, present);
  if (isRetagged) await setTags(ctx, tx, ref, names);
  const isChanged = isRetagged || Object.keys(changes).length > 0;
  const updated = isChanged ? await templates.updateTemplate(tx, ref, changes) : row;
  const settled = rules.settle ? await rules.settle(ctx, tx, updated, change) : updated;
  const named = names ?? present;
  return isChanged
    ? await record(ctx, tx, rules, settled, { by, definition, tags: named })
    : { ...settled, tags: named };
}

/**
 * Makes a new version that repeats an earlier one: numbers only grow, and what happened stays on record. The caller has
 * locked the template.
 */
export async function restoreVersion<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  tx: Db,
  rules: TemplateRules<Kind>,
  row: TemplateRow<Kind>,
  by: Operator,
  { number, definition }: { number: number; definition: Definition },
): Promise<Template<Kind>> {
  const { organizationId } = by;
  const ref = { organizationId, kind: rules.kind, templateId: row.id };
  const { content: text, sealed_configuration: sealed } = await getVersion(tx, ref, number);
  const content: Content<Kind> = JSON.parse(text);
  const configuration = openConfiguration(ctx.sealer, `${rules.kind} template`, row.id, sealed);
  const changes = await rules.restore(ctx, tx, { organizationId, definition, content, configuration, sealed });
  if (number === row.version) return { ...row, tags: content.tags };
  const named = await setTags(ctx, tx, ref, content.tags);
  const updated = await templates.updateTemplate(tx, ref, changes);
  return await record(ctx, tx, rules, updated, { by, definition, tags: named, copyOf: number });
}

export async function deleteTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  tx: Db,
  rules: TemplateRules<Kind>,
  ref: TemplateRef<Kind>,
): Promise<TemplateRow<Kind>> {
  const row = await templates.deleteTemplate(tx, ref);
  if (!row) throw notFound(ref.kind);
  await recordDeleted(ctx, tx, ref, { name: rules.nameOf(row), version: row.version });
  return row;
}

/** The tag must exist. A template that has the tag already is no error. */
export async function tagTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  templateId: string,
  tagName: string,
): Promise<Template<Kind>> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId };
  await ctx.store.transaction(async (tx) => {
    await lockTemplate(tx, ref);
    const { id } = await lockTag(tx, by.organizationId, tagName);
    if (await tags.insertTagging(tx, ref, id)) await recordRetagged(ctx, tx, rules, ref, by);
  });
  return await getTemplate(ctx, ref);
}

export async function untagTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  templateId: string,
  tagName: string,
): Promise<{ deletedAt: number }> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId };
  await ctx.store.transaction(async (tx) => {
    await lockTemplate(tx, ref);
    const { id } = await lockTag(tx, by.organizationId, tagName);
    if (!(await tags.deleteTagging(tx, ref, id))) throw new AppError('tag_not_found');
    await recordRetagged(ctx, tx, rules, ref, by);
  });
  return { deletedAt: await ctx.store.now() };
}

/** The tags belong to the template, so the template counts as changed. */
async function recordRetagged<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  tx: Db,
  rules: TemplateRules<Kind>,
  ref: TemplateRef<Kind>,
  by: Operator,
): Promise<void> {
  const row = await templates.updateTemplate(tx, ref, {});
  await record(ctx, tx, rules, row, { by, tags: await tagsOf(tx, ref) });
}

async function record<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  tx: Db,
  rules: TemplateRules<Kind>,
  row: TemplateRow<Kind>,
  { tags: names, ...about }: { by: Operator; tags: string[]; definition?: Definition; copyOf?: number },
): Promise<Template<Kind>> {
  const { id, version } = row;
  const content = rules.contentOf(row, names);
  const recorded = { id, version, name: rules.nameOf(row), content, sealed: rules.sealedIn(row), ...about };
  await recordVersion(ctx, tx, rules.kind, recorded);
  return { ...row, tags: names };
}

/** For fields that only some requests require. */
export const missingFaults = <Request extends object>(request: Request, names: readonly (keyof Request & string)[]) =>
  names
    .filter((name) => request[name] === undefined)
    .map((name): Fault => ({ loc: ['body', name], msg: 'field required', type: 'value_error.missing' }));

export function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(...faults);
}
