/**
 * Which streams a source has, before any customer has it: an operator gives a whole configuration, the connector runs with it
 * once, and nothing is kept. It belongs to the organization, and waits in its turn, as checks of destinations do.
 *
 * Only the bundled platform can do this.
 */
import { type Configuration, keepMaskedSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { DiscoveredStreams, DiscoverStreamsRequest } from '@inlay/contract/pipelines/stream-discovery';
import { configurationFaults, redirectedSecretFaults } from '../../catalog/definitions/configuration-faults.ts';
import type { Definition } from '../../catalog/definitions/definition.ts';
import { definitionOf, findDefinition, getDefinition } from '../../catalog/definitions/definitions.ts';
import { getSourceTemplate, openDefaults } from '../../catalog/templates/source-templates.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import type { Verdict } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { getPlatformOrganizationId } from '../../tenancy/organizations/organizations.ts';
import type { PipelinesContext } from '../context.ts';
import { reasonOf } from '../failure-texts.ts';
import { askInTurn, canAskForOperators, connectorOf, withoutSecrets } from './checks-in-turn.ts';

const unavailable = 'stream_discovery_unavailable';

export async function discoverStreams(
  ctx: PipelinesContext,
  organizationId: string,
  request: DiscoverStreamsRequest,
): Promise<DiscoveredStreams> {
  const { definition, stored } = await askedConnector(ctx, organizationId, request);
  const configuration = acceptedConfiguration(definition, request.source_config, stored);
  if (!(await canAskForOperators(ctx, unavailable))) throw new AppError('stream_discovery_unsupported');
  const verdict = await askInTurn(ctx, organizationId, {
    of: 'source',
    ask: () => ask(ctx, organizationId, definition, configuration),
    tooLate: (failure): Verdict => ({ status: 'failed', failure }),
    unavailable,
  });
  if (verdict.status === 'succeeded') {
    return { status: 'succeeded', error_message: null, error_reason: null, streams: verdict.streams ?? [] };
  }
  const failure = withoutSecrets(verdict.failure, definition, configuration);
  return { status: 'failed', error_message: failure.message, error_reason: reasonOf(failure), streams: [] };
}

/** The connector, and the secrets behind the masks of the template. */
async function askedConnector(
  ctx: PipelinesContext,
  organizationId: string,
  { source_definition_id: id, source_template_id: templateId }: DiscoverStreamsRequest,
): Promise<{ definition: Definition; stored: Configuration }> {
  if ((id === undefined) === (templateId === undefined)) {
    const msg = 'send either a template or a definition, not both';
    throw invalidRequest({ loc: ['body', 'source_definition_id'], msg, type: 'value_error' });
  }
  if (templateId !== undefined) {
    const template = await getSourceTemplate(ctx.templates, organizationId, templateId);
    const definition = await getDefinition(ctx.templates, definitionOf(template));
    return { definition, stored: openDefaults(ctx.templates, template) };
  }
  const definition = await findDefinition(ctx.templates, { organizationId, kind: 'source', id: id ?? '' });
  if (definition) return { definition, stored: {} };
  const msg = 'no source definition has this id';
  throw invalidRequest({ loc: ['body', 'source_definition_id'], msg, type: 'value_error.definition' });
}

/** Complete, so that no secret of the template goes anywhere but where the caller has seen it go. */
function acceptedConfiguration(
  { specification }: Definition,
  given: Configuration,
  stored: Configuration,
): Configuration {
  const at = ['body', 'source_config'];
  const accepted = keepMaskedSecrets(specification.connectionSpecification, given, stored);
  const faults = [
    ...redirectedSecretFaults(specification, { given, accepted, before: stored, after: accepted }, at),
    ...configurationFaults(specification, accepted, at),
  ];
  if (faults.length > 0) throw invalidRequest(...faults);
  return accepted;
}

async function ask(
  ctx: PipelinesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
): Promise<Verdict> {
  const connector = await connectorOf(ctx, organizationId, definition);
  const owner = await getPlatformOrganizationId(ctx.store, organizationId);
  try {
    return await ctx.platform.discoverStreams({ organizationId: owner, configuration, ...connector });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error }, 'Stream discovery failed');
    throw new AppError(unavailable, {}, { cause: error });
  }
}
