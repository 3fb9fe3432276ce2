/**
 * Checks of destinations: whether the data of customers would arrive, before any customer depends on it. They are the
 * operator's, so they belong to the organization, wait in its turn, and nobody else reads their outcome. A check is started
 * and asked for later on any replica, as for sources; a connection template is tested while its request waits.
 *
 * Only the bundled platform can check destinations.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { CheckDestinationRequest } from '@inlay/contract/pipelines/destination-checks';
import type { Check } from '@inlay/contract/pipelines/sources';
import type { Definition } from '../../catalog/definitions/definition.ts';
import { destinationToCheck } from '../../catalog/templates/connection-templates.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ConnectorFailure } from '../../kernel/platform/pipelines-port.ts';
import { getPlatformOrganizationId } from '../../tenancy/organizations/organizations.ts';
import type { PipelinesContext } from '../context.ts';
import { reasonOf } from '../failure-texts.ts';
import { askInTurn, canAskForOperators, readCheck, startCheck, whyNotRun, withoutSecrets } from './checks-in-turn.ts';

const unavailable = 'destination_check_unavailable';

export async function startDestinationCheck(
  ctx: PipelinesContext,
  organizationId: string,
  request: CheckDestinationRequest,
): Promise<string> {
  const { definition, configuration } = await destinationToCheck(ctx.templates, organizationId, request);
  if (!(await canAskForOperators(ctx, unavailable))) throw new AppError('destination_checks_unsupported');
  return await startCheck(ctx, { organizationId }, async () => {
    const failure = await failureOf(ctx, organizationId, definition, configuration);
    const reasons = failure && JSON.stringify({ operator: reasonOf(failure), customer: null });
    return {
      status: failure ? 'failed' : 'succeeded',
      error_message: failure?.message ?? null,
      reasons: reasons ?? null,
    };
  });
}

export async function getDestinationCheck(ctx: PipelinesContext, organizationId: string, id: string): Promise<Check> {
  return await readCheck(ctx, { id, organizationId }, 'operator');
}

/** A failure is without secrets. `not checkable`: the platform has no checks of destinations. */
export type DestinationVerdict = 'works' | 'not checkable' | ConnectorFailure;

/** For a connection template, whose request waits. */
export async function tryDestination(
  ctx: PipelinesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
): Promise<DestinationVerdict> {
  if (!(await canAskForOperators(ctx, unavailable))) return 'not checkable';
  const ask = () => failureOf(ctx, organizationId, definition, configuration);
  const tooLate = (failure: ConnectorFailure) => failure;
  return (await askInTurn(ctx, organizationId, { of: 'destination', ask, tooLate, unavailable })) ?? 'works';
}

/** Without secrets. Undefined: it works. */
async function failureOf(
  ctx: PipelinesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
): Promise<ConnectorFailure | undefined> {
  const owner = await getPlatformOrganizationId(ctx.store, organizationId);
  const asked = { organizationId: owner, definitionId: definition.id, configuration };
  try {
    const outcome = await ctx.platform.checkDestination(asked);
    return outcome.status === 'succeeded' ? undefined : withoutSecrets(outcome.failure, definition, configuration);
  } catch (error) {
    const { operator: message, reasons } = whyNotRun(ctx, error).texts;
    return { message, origin: 'platform', reason: reasons.operator };
  }
}
