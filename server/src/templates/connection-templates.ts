/**
 * Connection templates: where the data of every new source goes, when, and how. A new source gets a destination and a
 * connection for each template that its tags select (`pipelines/` makes them). A change affects only connections made
 * after it.
 *
 * What always holds: the destination's configuration was complete and right by its specification when it was written,
 * worked if the template says that it was checked, and is sealed at rest; a schedule is a valid Quartz expression.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type CreateConnectionTemplateRequest,
  hourly,
  type ConnectionTemplate as ShownConnectionTemplate,
  type UpdateConnectionTemplateRequest,
} from '@inlay/contract/connection-templates';
import { type Configuration, keepMaskedSecrets } from '@inlay/contract/connector-configuration';
import type { CheckDestinationRequest } from '@inlay/contract/destination-checks';
import type { Fault } from '@inlay/contract/errors';
import type { Apply, ExistingChoice, RollbackRequest } from '@inlay/contract/rollouts';
import type { DeletedTemplate } from '@inlay/contract/source-templates';
import { readQuartz } from '@inlay/schedule/quartz';
import type { Db } from '../db/open.ts';
import type { ConnectionTemplateRow } from '../db/tables.ts';
import { configurationFaults, movedSecretFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { findDefinition, getDefinition, listDefinitions, type WantedDefinition } from '../definitions/definitions.ts';
import { iconAddress } from '../definitions/icons.ts';
import { maskConfiguration, openConfiguration, sealConfiguration } from '../definitions/sealed-configuration.ts';
import { AppError, invalidRequest } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { Operator } from '../template-ref.ts';
import type { TemplatesContext } from './context.ts';
import { mayChangeIn, mayChangeText } from './customer-choice.ts';
import { assertDestinationWorks, testDestination } from './destination-test.ts';
import { isSelected, noFilter, type TagFilter } from './filtering.ts';
import { placementFaults } from './placement.ts';
import { openPlanned, type Preview } from './planned-changes.ts';
import { type TaggedTemplates, tagTemplate, untagTemplate } from './tagging.ts';
import * as tags from './tags.store.ts';
import { setTags, sortedTags } from './tags.ts';
import * as templates from './templates.store.ts';
import {
  type ConnectionContent,
  connectionContent,
  getVersion,
  openVersion,
  recordConnectionVersion,
  recordDeleted,
} from './versions.ts';

const table = 'connection_templates';
const taggings = 'connection_template_tags';
const tagged: TaggedTemplates = {
  taggings,
  notFound: 'connection_template_not_found',
  lock: (tx, organizationId, id) => templates.lockTemplate(tx, table, organizationId, id),
  async touch(ctx, tx, by, id) {
    const row = await templates.updateTemplate(tx, table, by.organizationId, id, {});
    const names = await tags.tagNamesByTemplate(tx, taggings, by.organizationId, id);
    await recordConnectionVersion(ctx, tx, row, { by, tags: names.get(id) ?? [] });
  },
};
type Changes = templates.TemplateChanges<typeof table>;

export interface ConnectionTemplate extends ConnectionTemplateRow {
  /** Sorted by name. */
  tags: string[];
}

export async function getConnectionTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
): Promise<ConnectionTemplate> {
  const row = await templates.findTemplate(ctx.store.db, table, organizationId, id);
  if (!row) throw new AppError('connection_template_not_found');
  const names = await tags.tagNamesByTemplate(ctx.store.db, taggings, organizationId, id);
  return { ...row, tags: names.get(id) ?? [] };
}

/** Oldest first. */
export async function listMatchingConnectionTemplates(
  ctx: TemplatesContext,
  organizationId: string,
  filter: TagFilter = noFilter,
): Promise<ConnectionTemplate[]> {
  const rows = await templates.listTemplates(ctx.store.db, table, organizationId);
  const names = await tags.tagNamesByTemplate(ctx.store.db, taggings, organizationId);
  return rows
    .map((row) => ({ ...row, tags: names.get(row.id) ?? [] }))
    .filter((template) => isSelected(template.tags, filter));
}

/** The destination's configuration, with its secrets. */
export function openDestinationConfig(ctx: TemplatesContext, template: ConnectionTemplateRow): Configuration {
  return openConfiguration(ctx.sealer, 'connection template', template.id, template.sealed_destination_config);
}

export async function createConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  request: CreateConnectionTemplateRequest,
): Promise<ConnectionTemplate> {
  const { organizationId } = by;
  const { definition, placement, configuration } = await acceptedDraft(ctx, organizationId, request);
  const { cron_expression: cron = hourly } = request;
  const id = ctx.runtime.newId();
  const checkedAt = await timeOfTest(ctx, organizationId, definition, configuration, request);
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.insertTemplate(tx, table, organizationId, {
      id,
      destination_name: request.destination_name,
      definition_id: definition.id,
      icon: definition.icon,
      sealed_destination_config: sealConfiguration(ctx.sealer, 'connection template', id, configuration),
      cron_expression: cron === null ? null : readQuartz(cron),
      non_breaking_changes_preference: request.non_breaking_changes_preference ?? 'ignore',
      sync_on_create: (request.sync_on_create ?? true) ? 1 : 0,
      ...placement,
      customer_may_change: mayChangeText(request.customer_may_change),
      checked_at: checkedAt,
    });
    const names = request.tags ?? [];
    const template = { ...row, tags: await setTags(ctx, tx, taggings, { organizationId, templateId: id, names }) };
    await recordConnectionVersion(ctx, tx, row, { by, definition, tags: template.tags });
    return template;
  });
}

/** What a request to make a template says, or why it is refused. */
export async function acceptedDraft(
  ctx: TemplatesContext,
  organizationId: string,
  request: CreateConnectionTemplateRequest,
) {
  const definition = await getNamedDefinition(ctx, organizationId, request.destination_definition_id);
  const placement = { namespace_format: request.namespace_format ?? null, prefix: request.prefix ?? null };
  const faults = placementFaults(definition, placement);
  return { definition, placement, configuration: checkedConfig(definition, request.destination_config, {}, faults) };
}

export interface UpdatedConnectionTemplate {
  template: ConnectionTemplate;
  /** If the change goes to existing connections, too. */
  rollout: { id: string } | undefined;
}

export async function updateConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  given: UpdateConnectionTemplateRequest,
): Promise<UpdatedConnectionTemplate> {
  const { organizationId } = by;
  const template = { organizationId, kind: 'connection', templateId: id } as const;
  const { request, plan } = await openPlanned(ctx, template, given);
  // Read before the transaction, because reading definitions may take a while. The definition of a template never
  // changes.
  const before = await getConnectionTemplate(ctx, organizationId, id);
  const definition = await getDefinition(ctx, destinationOf(before));
  const tested = await testChange(ctx, before, definition, request);
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('connection_template_not_found');
    if (plan) await ctx.assertPlanHolds(tx, plan, row.version, request.apply);
    const changes = changesTo(ctx, row, definition, request);
    const isTested = tested && isDeepStrictEqual(acceptedConfig(ctx, row, definition, request), tested.configuration);
    // Somebody else has changed what a mask stands for while the destination was tested.
    const checkedAt = tested && (isTested ? tested.checkedAt : null);
    if (checkedAt !== undefined && changes.sealed_destination_config !== undefined) changes.checked_at = checkedAt;
    const present = (await tags.tagNamesByTemplate(tx, taggings, organizationId, id)).get(id) ?? [];
    const names = request.tags && sortedTags(request.tags);
    const isRetagged = names !== undefined && !isDeepStrictEqual(names, present);
    if (isRetagged) await setTags(ctx, tx, taggings, { organizationId, templateId: id, names });
    const isChanged = isRetagged || Object.keys(changes).length > 0;
    const updated = isChanged ? await templates.updateTemplate(tx, table, organizationId, id, changes) : row;
    if (typeof checkedAt === 'number' && updated.checked_at !== checkedAt) {
      updated.checked_at = (await templates.recordChecked(tx, organizationId, id, checkedAt)).checked_at;
    }
    if (isChanged) await recordConnectionVersion(ctx, tx, updated, { by, definition, tags: names ?? present });
    const rollout = await rollOut(ctx, tx, by, updated, request.apply ?? 'new_only');
    return { template: { ...updated, tags: names ?? present }, rollout };
  });
}

async function rollOut(ctx: TemplatesContext, tx: Db, by: Operator, row: ConnectionTemplateRow, apply: Apply) {
  if (apply === 'new_only') return undefined;
  const template = { organizationId: by.organizationId, kind: 'connection', templateId: row.id } as const;
  return await ctx.startRollout(ctx.journal, tx, { template, version: row.version, by, apply });
}

/** What the template would be after the change, which is refused for the same reasons. Changes nothing. */
export async function previewConnectionTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
  request: UpdateConnectionTemplateRequest,
): Promise<Preview<ConnectionContent>> {
  const row = await getConnectionTemplate(ctx, organizationId, id);
  const definition = await getDefinition(ctx, destinationOf(row));
  const changes = changesTo(ctx, row, definition, request);
  const names = request.tags ? sortedTags(request.tags) : row.tags;
  const configuration = acceptedConfig(ctx, row, definition, request);
  const isTested = request.destination_config !== undefined && request.skip_check !== true;
  return {
    definition,
    version: row.version,
    before: { content: connectionContent(row, row.tags), configuration: openDestinationConfig(ctx, row) },
    after: { content: connectionContent({ ...row, ...changes }, names), configuration },
    isChanged: Object.keys(changes).length > 0 || !isDeepStrictEqual(names, row.tags),
    test: isTested ? await testDestination(ctx, organizationId, definition, configuration) : { isChecked: false },
  };
}

/** Makes a new version that repeats an earlier one: numbers only grow, and what happened stays on record. */
export async function rollBackConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  { version: number, apply = 'all' }: RollbackRequest,
): Promise<UpdatedConnectionTemplate> {
  const { organizationId } = by;
  const definition = await getDefinition(ctx, destinationOf(await getConnectionTemplate(ctx, organizationId, id)));
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('connection_template_not_found');
    const version = await getVersion(tx, { organizationId, kind: 'connection', templateId: id }, number);
    const {
      tags: named,
      sync_on_create,
      customer_may_change,
      ...content
    }: ConnectionContent = JSON.parse(version.content);
    refuse(configurationFaults(definition.specification, openVersion(ctx, version), ['body', 'version']));
    if (number === row.version) {
      return { template: { ...row, tags: named }, rollout: await rollOut(ctx, tx, by, row, apply) };
    }
    const changes = {
      ...content,
      sync_on_create: sync_on_create ? 1 : 0,
      customer_may_change: mayChangeText(customer_may_change),
      sealed_destination_config: version.sealed_configuration,
      // What was tested is another configuration.
      checked_at: null,
    };
    const names = await setTags(ctx, tx, taggings, { organizationId, templateId: id, names: named });
    const updated = await templates.updateTemplate(tx, table, organizationId, id, changes);
    await recordConnectionVersion(ctx, tx, updated, { by, definition, tags: names, copyOf: number });
    return { template: { ...updated, tags: names }, rollout: await rollOut(ctx, tx, by, updated, apply) };
  });
}

/** What is tested before a change is saved, and when it worked. Undefined: nothing of the destination changes. */
async function testChange(
  ctx: TemplatesContext,
  before: ConnectionTemplateRow,
  definition: Definition,
  request: UpdateConnectionTemplateRequest,
): Promise<{ configuration: Configuration; checkedAt: number | null } | undefined> {
  if (!request.destination_config) return undefined;
  // All other faults first: they are known at once.
  changesTo(ctx, before, definition, request);
  const configuration = acceptedConfig(ctx, before, definition, request);
  const checkedAt = await timeOfTest(ctx, before.organization_id, definition, configuration, request);
  return { configuration, checkedAt };
}

/** Null where it was not tested. Throws 422 if it does not work. */
async function timeOfTest(
  ctx: TemplatesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
  { skip_check: isSkipped = false }: { skip_check?: boolean },
): Promise<number | null> {
  if (isSkipped) return null;
  const isChecked = await assertDestinationWorks(ctx, organizationId, definition, configuration);
  return isChecked ? await ctx.store.now() : null;
}

/** The destination that a check names: by definition and configuration, or by template. */
export async function destinationToCheck(
  ctx: TemplatesContext,
  organizationId: string,
  request: CheckDestinationRequest,
): Promise<{ definition: Definition; configuration: Configuration }> {
  const { connection_template_id: templateId, destination_definition_id: definitionId, destination_config } = request;
  if (templateId !== undefined && definitionId !== undefined) {
    const msg = 'name a template or a definition, not both';
    throw invalidRequest({ loc: ['body', 'destination_definition_id'], msg, type: 'value_error' });
  }
  if (templateId !== undefined) {
    const row = await getConnectionTemplate(ctx, organizationId, templateId);
    const definition = await getDefinition(ctx, destinationOf(row));
    return { definition, configuration: acceptedConfig(ctx, row, definition, request) };
  }
  const missing = [
    ...(definitionId === undefined ? ['destination_definition_id'] : []),
    ...(destination_config === undefined ? ['destination_config'] : []),
  ];
  refuse(missing.map((name) => ({ loc: ['body', name], msg: 'field required', type: 'value_error.missing' })));
  const definition = await getNamedDefinition(ctx, organizationId, definitionId ?? '');
  return { definition, configuration: checkedConfig(definition, destination_config ?? {}, {}, []) };
}

async function getNamedDefinition(ctx: TemplatesContext, organizationId: string, id: string): Promise<Definition> {
  const definition = await findDefinition(ctx, { organizationId, kind: 'destination', id });
  if (definition) return definition;
  throw invalidRequest({
    loc: ['body', 'destination_definition_id'],
    msg: 'there is no destination definition with this id',
    type: 'value_error.definition',
  });
}

/** The configuration that the template gets by the request, or has. */
function acceptedConfig(
  ctx: TemplatesContext,
  row: ConnectionTemplateRow,
  definition: Definition,
  { destination_config: given }: { destination_config?: Configuration },
): Configuration {
  const stored = openDestinationConfig(ctx, row);
  return given ? checkedConfig(definition, given, stored, []) : stored;
}

/** The values that really differ from the present state. Throws when a value may not be changed so. */
function changesTo(
  ctx: TemplatesContext,
  row: ConnectionTemplateRow,
  definition: Definition,
  { destination_config, cron_expression, sync_on_create, ...request }: UpdateConnectionTemplateRequest,
): Changes {
  const wanted: Changes = {
    ...(request.destination_name === undefined ? {} : { destination_name: request.destination_name }),
    ...(request.non_breaking_changes_preference === undefined
      ? {}
      : { non_breaking_changes_preference: request.non_breaking_changes_preference }),
    ...(request.namespace_format === undefined ? {} : { namespace_format: request.namespace_format }),
    ...(request.prefix === undefined ? {} : { prefix: request.prefix }),
    ...(cron_expression === undefined
      ? {}
      : { cron_expression: cron_expression === null ? null : readQuartz(cron_expression) }),
    ...(sync_on_create === undefined ? {} : { sync_on_create: sync_on_create ? 1 : 0 }),
    ...(request.customer_may_change === undefined
      ? {}
      : { customer_may_change: mayChangeText(request.customer_may_change) }),
  };
  const isPlacedAnew = request.namespace_format !== undefined || request.prefix !== undefined;
  const faults = isPlacedAnew ? placementFaults(definition, { ...row, ...wanted }) : [];
  const differing = Object.entries(wanted).filter(([name, value]) => value !== row[name as keyof typeof wanted]);
  const changes: Changes = Object.fromEntries(differing);
  if (destination_config) {
    const stored = openDestinationConfig(ctx, row);
    const configuration = checkedConfig(definition, destination_config, stored, faults);
    if (!isDeepStrictEqual(configuration, stored)) {
      changes.sealed_destination_config = sealConfiguration(ctx.sealer, 'connection template', row.id, configuration);
    }
  }
  refuse(faults);
  return changes;
}

/** Throws the faults of the configuration together with those that were found before. */
function checkedConfig(
  { specification }: Definition,
  given: Configuration,
  stored: Configuration,
  before: readonly Fault[],
): Configuration {
  const configuration = keepMaskedSecrets(specification.connectionSpecification, given, stored);
  const at = ['body', 'destination_config'];
  const faults = [
    ...before,
    ...movedSecretFaults(specification, { given, accepted: configuration, before: stored, after: configuration }, at),
    ...configurationFaults(specification, configuration, at),
  ];
  refuse(faults);
  return configuration;
}

function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(...faults);
}

export async function deleteConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  existing: ExistingChoice = 'keep',
): Promise<DeletedTemplate> {
  const { organizationId } = by;
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.deleteTemplate(tx, table, organizationId, id);
    if (!row) throw new AppError('connection_template_not_found');
    await recordDeleted(ctx, tx, { organizationId, kind: 'connection', templateId: id }, row);
    const deleted = { id, deleted_at: isoTime(row.deleted_at ?? 0) };
    if (existing === 'keep') return deleted;
    const template = { organizationId, kind: 'connection', templateId: id } as const;
    const rollout = await ctx.startRetirement(ctx.journal, tx, { template, version: row.version, by, how: existing });
    return { ...deleted, rollout_id: rollout.id };
  });
}

export async function tagConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  tagName: string,
): Promise<ConnectionTemplate> {
  await tagTemplate(ctx, tagged, { by, templateId: id, tagName });
  return await getConnectionTemplate(ctx, by.organizationId, id);
}

export async function untagConnectionTemplate(
  ctx: TemplatesContext,
  by: Operator,
  id: string,
  tagName: string,
): Promise<{ deletedAt: number }> {
  return await untagTemplate(ctx, tagged, { by, templateId: id, tagName });
}

export async function presentConnectionTemplates(
  ctx: TemplatesContext,
  shown: ConnectionTemplate[],
): Promise<ShownConnectionTemplate[]> {
  const [first] = shown;
  if (!first) return [];
  const all = await listDefinitions(ctx, first.organization_id, 'destination');
  const definitions = new Map(all.map((known) => [known.id, known]));
  return shown.map((template) => present(ctx, template, definitions.get(template.definition_id)));
}

export async function presentConnectionTemplate(
  ctx: TemplatesContext,
  template: ConnectionTemplate,
): Promise<ShownConnectionTemplate> {
  return present(ctx, template, await findDefinition(ctx, destinationOf(template)));
}

export async function presentUpdated(ctx: TemplatesContext, { template, rollout }: UpdatedConnectionTemplate) {
  const shown = await presentConnectionTemplate(ctx, template);
  return rollout ? { ...shown, rollout_id: rollout.id } : shown;
}

function present(
  ctx: TemplatesContext,
  template: ConnectionTemplate,
  definition: Definition | undefined,
): ShownConnectionTemplate {
  return {
    id: template.id,
    organization_id: template.organization_id,
    destination_name: template.destination_name,
    destination_definition_id: template.definition_id,
    destination_config: maskConfiguration(definition, openDestinationConfig(ctx, template)),
    icon: iconAddress(ctx, template.definition_id, template.icon),
    cron_expression: template.cron_expression,
    non_breaking_changes_preference: template.non_breaking_changes_preference,
    sync_on_create: template.sync_on_create === 1,
    namespace_format: template.namespace_format,
    prefix: template.prefix,
    customer_may_change: mayChangeIn(template),
    tags: template.tags,
    checked: template.checked_at !== null,
    checked_at: template.checked_at === null ? null : isoTime(template.checked_at),
    created_at: isoTime(template.created_at),
    updated_at: isoTime(template.updated_at),
    version: template.version,
  };
}

/** Finds a template even if it is deleted: destinations that were planned with it still need it. */
export async function findAnyConnectionTemplate(
  ctx: TemplatesContext,
  organizationId: string,
  id: string,
): Promise<ConnectionTemplateRow | undefined> {
  return await templates.findAnyTemplate(ctx.store.db, table, organizationId, id);
}

function destinationOf({
  organization_id: organizationId,
  definition_id: id,
}: ConnectionTemplateRow): WantedDefinition {
  return { organizationId, kind: 'destination', id };
}
