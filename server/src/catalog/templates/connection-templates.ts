/**
 * Connection templates: where the data of every new source goes, when, and how. A new source gets a destination and a
 * connection for each template that its tags select (`pipelines/` makes them).
 *
 * What always holds: the destination's configuration was complete and right by its specification when it was written,
 * worked if the template says that it was checked, and is sealed at rest; a schedule is a valid Quartz expression.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type CreateConnectionTemplateRequest,
  hourly,
  type ConnectionTemplate as ShownConnectionTemplate,
} from '@inlay/contract/catalog/connection-templates';
import { type Configuration, keepMaskedSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import type { CheckDestinationRequest } from '@inlay/contract/pipelines/destination-checks';
import { readQuartz } from '@inlay/schedule/quartz';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionTemplateRow } from '../../kernel/db/tables.ts';
import { invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { configurationFaults, redirectedSecretFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { findDefinition, getDefinition, listDefinitions } from '../definitions/definitions.ts';
import { iconAddress } from '../definitions/icons.ts';
import { maskConfiguration, openConfiguration, sealConfiguration } from '../definitions/sealed-configuration.ts';
import { mayChangeIn, mayChangeText } from '../forms/customer-choice.ts';
import type { TemplatesContext } from './context.ts';
import { placementFaults } from './placement.ts';
import { recordChecked } from './templates.store.ts';
import {
  type Change,
  connectorOf,
  findAnyTemplate,
  getNamedDefinition,
  getTemplate,
  missingFaults,
  refuse,
  type Template,
  type TemplateChanges,
  type TemplateRules,
  type TestedDestination,
} from './templates.ts';

type ConnectionTemplate = Template<'connection'>;

/** Finds a template even if it is deleted: destinations that were planned with it still need it. */
export async function findAnyConnectionTemplate(
  ctx: { store: { db: Db } },
  organizationId: string,
  id: string,
): Promise<ConnectionTemplateRow | undefined> {
  return await findAnyTemplate(ctx, { organizationId, kind: 'connection', templateId: id });
}

/** The destination's configuration, with its secrets. */
export function openDestinationConfig({ sealer }: { sealer: Sealer }, template: ConnectionTemplateRow): Configuration {
  return openConfiguration(sealer, 'connection template', template.id, template.sealed_destination_config);
}

/** What a request to make a template says. Throws when it is refused. */
export async function acceptedDraft(
  ctx: TemplatesContext,
  organizationId: string,
  request: CreateConnectionTemplateRequest,
) {
  const definition = await getDestinationDefinition(ctx, organizationId, request.destination_definition_id);
  const placement = { namespace_format: request.namespace_format ?? null, prefix: request.prefix ?? null };
  const faults = placementFaults(definition, placement);
  const configuration = checkedConfig(definition, request.destination_config, {}, faults);
  const { cron_expression: cron = hourly } = request;
  const id = ctx.runtime.newId();
  const fields = {
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
    checked_at: null,
  };
  return { definition, configuration, fields, names: request.tags ?? [] };
}

export const connectionRules: TemplateRules<'connection'> = {
  kind: 'connection',
  nameOf: ({ destination_name }) => destination_name,
  sealedIn: ({ sealed_destination_config }) => sealed_destination_config,
  contentOf: (row, tags) => ({
    destination_name: row.destination_name,
    cron_expression: row.cron_expression,
    non_breaking_changes_preference: row.non_breaking_changes_preference,
    sync_on_create: row.sync_on_create === 1,
    namespace_format: row.namespace_format,
    prefix: row.prefix,
    ...(row.customer_may_change !== null && { customer_may_change: mayChangeIn(row) }),
    tags,
  }),
  async changesTo(ctx, _db, row, change) {
    const changes = changesTo(ctx, row, change);
    const { sealed_destination_config: sealed } = changes;
    if (sealed === undefined || !change.tested) return changes;
    const configuration = openDestinationConfig(ctx, { ...row, ...changes });
    return { ...changes, checked_at: timeOfTest(configuration, change.tested) };
  },
  async settle(ctx, tx, row, { tested }) {
    const checkedAt = tested ? timeOfTest(openDestinationConfig(ctx, row), tested) : null;
    if (checkedAt === null || row.checked_at === checkedAt) return row;
    return await recordChecked(tx, row.organization_id, row.id, checkedAt);
  },
  async restore(_ctx, _tx, { definition, content, configuration, sealed }) {
    const { tags: _, sync_on_create, customer_may_change, ...same } = content;
    refuse(configurationFaults(definition.specification, configuration, ['body', 'version']));
    return {
      ...same,
      sync_on_create: sync_on_create ? 1 : 0,
      customer_may_change: mayChangeText(customer_may_change),
      sealed_destination_config: sealed,
      // What was tested is another configuration.
      checked_at: null,
    };
  },
  present: async (ctx, template) =>
    present(ctx, template, await findDefinition(ctx, connectorOf('connection', template))),
};

/** Null also where someone else has changed what a mask stands for while the destination was tested. */
function timeOfTest(configuration: Configuration, tested: TestedDestination): number | null {
  return isDeepStrictEqual(configuration, tested.configuration) ? tested.checkedAt : null;
}

/** The destination that a check names: by definition and configuration, or by template. */
export async function destinationToCheck(
  ctx: TemplatesContext,
  organizationId: string,
  request: CheckDestinationRequest,
): Promise<{ definition: Definition; configuration: Configuration }> {
  const { connection_template_id: templateId, destination_definition_id: definitionId, destination_config } = request;
  if (templateId !== undefined && definitionId !== undefined) {
    const msg = 'send either a template or a definition, not both';
    throw invalidRequest({ loc: ['body', 'destination_definition_id'], msg, type: 'value_error' });
  }
  if (templateId !== undefined) {
    const row = await getTemplate(ctx, { organizationId, kind: 'connection', templateId });
    const definition = await getDefinition(ctx, connectorOf('connection', row));
    const stored = openDestinationConfig(ctx, row);
    return {
      definition,
      configuration: destination_config ? checkedConfig(definition, destination_config, stored, []) : stored,
    };
  }
  refuse(missingFaults(request, ['destination_definition_id', 'destination_config']));
  const definition = await getDestinationDefinition(ctx, organizationId, definitionId);
  return { definition, configuration: checkedConfig(definition, destination_config ?? {}, {}, []) };
}

const getDestinationDefinition = async (ctx: TemplatesContext, organizationId: string, id: string | undefined) =>
  await getNamedDefinition(ctx, { organizationId, kind: 'destination', id }, 'destination_definition_id');

/** The values that really differ from the present state. Throws when a value may not be changed so. */
function changesTo(
  ctx: TemplatesContext,
  row: ConnectionTemplateRow,
  { definition, request: { destination_config, cron_expression, sync_on_create, ...request } }: Change<'connection'>,
): TemplateChanges<'connection'> {
  const { customer_may_change } = request;
  const wanted: { [Column in keyof TemplateChanges<'connection'>]: TemplateChanges<'connection'>[Column] | undefined } =
    {
      destination_name: request.destination_name,
      non_breaking_changes_preference: request.non_breaking_changes_preference,
      namespace_format: request.namespace_format,
      prefix: request.prefix,
      cron_expression: typeof cron_expression === 'string' ? readQuartz(cron_expression) : cron_expression,
      sync_on_create: sync_on_create === undefined ? undefined : Number(sync_on_create),
      customer_may_change: customer_may_change && mayChangeText(customer_may_change),
    };
  const differing = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && value !== row[name as keyof typeof wanted],
  );
  const changes: TemplateChanges<'connection'> = Object.fromEntries(differing);
  const hasNewPlacement = request.namespace_format !== undefined || request.prefix !== undefined;
  const faults = hasNewPlacement ? placementFaults(definition, { ...row, ...changes }) : [];
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
    ...redirectedSecretFaults(
      specification,
      { given, accepted: configuration, before: stored, after: configuration },
      at,
    ),
    ...configurationFaults(specification, configuration, at),
  ];
  refuse(faults);
  return configuration;
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
