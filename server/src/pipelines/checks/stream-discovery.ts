/**
 * Which streams a source has, before any customer has it: an operator gives a whole configuration, the connector runs with it
 * once, and nothing is kept. It belongs to the organization, and waits in its turn, as checks of destinations do.
 *
 * Only the bundled platform can do this.
 */
import { type Configuration, keepMaskedSecrets, listSecrets } from '@inlay/contract/connector-configuration';
import { redactor } from '@inlay/contract/redaction';
import type { DiscoveredStreams, DiscoverStreamsRequest } from '@inlay/contract/stream-discovery';
import { QueueClosed } from '@inlay/schedule/fair-queue';
import { configurationFaults, movedSecretFaults } from '../definitions/configuration-faults.ts';
import type { Definition } from '../definitions/definition.ts';
import { definitionOf, findDefinition, getDefinition } from '../definitions/definitions.ts';
import { openManifest } from '../definitions/own-definitions.ts';
import { AppError, invalidRequest } from '../errors.ts';
import type { Verdict } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { getSourceTemplate, openDefaults } from '../templates/source-templates.ts';
import { asAppError, assertRoom } from './checks-in-turn.ts';
import type { PipelinesContext } from './context.ts';

/** A connection of HTTP that is silent for a minute may be closed. */
const requestPatienceMs = 50_000;

export async function discoverStreams(
  ctx: PipelinesContext,
  organizationId: string,
  request: DiscoverStreamsRequest,
): Promise<DiscoveredStreams> {
  const { definition, stored } = await askedConnector(ctx, organizationId, request);
  const configuration = acceptedConfiguration(definition, request.source_config, stored);
  await assertSupported(ctx);
  assertRoom(ctx, organizationId);
  const over = new AbortController();
  const tooLate = ctx.runtime.timeLimit(requestPatienceMs, over.signal).then((): Verdict => {
    const message = `The source did not answer within ${requestPatienceMs / 1000} seconds.`;
    return { status: 'failed', failure: { message, origin: 'source' } };
  });
  try {
    const asked = ctx.turns.checks.run(organizationId, () => ask(ctx, organizationId, definition, configuration));
    const verdict = await Promise.race([asked, tooLate]);
    if (verdict.status === 'succeeded') {
      return { status: 'succeeded', error_message: null, streams: verdict.streams ?? [] };
    }
    const { redact } = redactor(listSecrets(definition.specification.connectionSpecification, configuration));
    return { status: 'failed', error_message: redact(verdict.failure.message), streams: [] };
  } catch (error) {
    if (error instanceof QueueClosed) throw new AppError('stream_discovery_unavailable', {}, { cause: error });
    throw asAppError(error);
  } finally {
    over.abort();
  }
}

/** The connector, and the secrets behind the masks of the template. */
async function askedConnector(
  ctx: PipelinesContext,
  organizationId: string,
  { source_definition_id: id, source_template_id: templateId }: DiscoverStreamsRequest,
): Promise<{ definition: Definition; stored: Configuration }> {
  if ((id === undefined) === (templateId === undefined)) {
    const msg = 'name a template or a definition, and not both';
    throw invalidRequest({ loc: ['body', 'source_definition_id'], msg, type: 'value_error' });
  }
  if (templateId !== undefined) {
    const template = await getSourceTemplate(ctx.templates, organizationId, templateId);
    const definition = await getDefinition(ctx.templates, definitionOf(template));
    return { definition, stored: openDefaults(ctx.templates, template) };
  }
  const definition = await findDefinition(ctx.templates, { organizationId, kind: 'source', id: id ?? '' });
  if (definition) return { definition, stored: {} };
  const msg = 'there is no source definition with this id';
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
    ...movedSecretFaults(specification, { given, accepted, before: stored, after: accepted }, at),
    ...configurationFaults(specification, accepted, at),
  ];
  if (faults.length > 0) throw invalidRequest(...faults);
  return accepted;
}

async function assertSupported(ctx: PipelinesContext): Promise<void> {
  try {
    if (await ctx.platform.checksDestinations()) return;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('stream_discovery_unavailable', {}, { cause: error });
  }
  throw new AppError('stream_discovery_unsupported');
}

async function ask(
  ctx: PipelinesContext,
  organizationId: string,
  { id: definitionId, ownVersion }: Definition,
  configuration: Configuration,
): Promise<Verdict> {
  const connector =
    ownVersion === undefined
      ? { definitionId }
      : { manifest: await openManifest(ctx, organizationId, definitionId, ownVersion) };
  const owner = await ctx.workspaces.platformOrganizationId(organizationId);
  try {
    return await ctx.platform.discoverStreams({ organizationId: owner, configuration, ...connector });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error }, 'a source could not be asked for its streams');
    throw new AppError('stream_discovery_unavailable', {}, { cause: error });
  }
}
