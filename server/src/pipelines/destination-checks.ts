/**
 * Checks of destinations: whether the data of customers would arrive, before any customer depends on it. They are the
 * operator's, so they belong to the organization, wait in its turn, and nobody else reads their outcome. A check is started
 * and asked for later on any replica, as for sources; a connection template is tested while its request waits.
 *
 * Only the bundled platform can check destinations. On a hosted one there is nothing to ask.
 */
import { type Configuration, listSecrets } from '@inlay/contract/connector-configuration';
import type { CheckDestinationRequest } from '@inlay/contract/destination-checks';
import { redactor } from '@inlay/contract/redaction';
import type { Check } from '@inlay/contract/sources';
import { QueueClosed } from '@inlay/schedule/fair-queue';
import type { Definition } from '../definitions/definition.ts';
import { AppError } from '../errors.ts';
import type { ConnectorFailure } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { destinationToCheck } from '../templates/connection-templates.ts';
import type { DestinationVerdict } from '../templates/context.ts';
import { asAppError, assertRoom, interrupted, patienceMs, startInTurn } from './checks-in-turn.ts';
import type { PipelinesContext } from './context.ts';
import * as checks from './destination-checks.store.ts';

/** A request waits so long for a destination. A connection of HTTP that is silent for a minute may be closed. */
const requestPatienceMs = 50_000;

export async function startDestinationCheck(
  ctx: PipelinesContext,
  organizationId: string,
  request: CheckDestinationRequest,
): Promise<string> {
  const { definition, configuration } = await destinationToCheck(ctx.templates, organizationId, request);
  if (!(await canCheck(ctx))) throw new AppError('destination_checks_unsupported');
  const { db } = ctx.store;
  const id = ctx.runtime.newId();
  await startInTurn(ctx, organizationId, {
    record: () => checks.insertCheck(db, organizationId, id, patienceMs),
    renew: () => checks.renewCheck(db, organizationId, id, patienceMs),
    run: async () => {
      const failure = await failureOf(ctx, organizationId, definition, configuration);
      const outcome = failure
        ? { status: 'failed' as const, message: failure.message }
        : { status: 'succeeded' as const, message: null };
      await checks.finishCheck(db, organizationId, id, outcome);
    },
  });
  return id;
}

export async function getDestinationCheck(ctx: PipelinesContext, organizationId: string, id: string): Promise<Check> {
  const row = await checks.findCheck(ctx.store.db, organizationId, id);
  if (!row) throw new AppError('check_not_found');
  const isInterrupted = row.status === 'running' && row.expires_at <= row.now;
  if (isInterrupted) return { id, status: 'failed', error_message: interrupted };
  return { id, status: row.status, error_message: row.error_message };
}

/** For a request that waits: in the turn of the organization, and only so long. */
export async function tryDestination(
  ctx: PipelinesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
): Promise<DestinationVerdict> {
  if (!(await canCheck(ctx))) return 'not checkable';
  assertRoom(ctx, organizationId);
  const over = new AbortController();
  const tooLate = ctx.runtime.timeLimit(requestPatienceMs, over.signal).then((): ConnectorFailure => {
    const message = `The destination did not answer within ${requestPatienceMs / 1000} seconds.`;
    return { message, origin: 'destination' };
  });
  try {
    const check = ctx.turns.checks.run(organizationId, () => failureOf(ctx, organizationId, definition, configuration));
    return (await Promise.race([check, tooLate])) ?? 'works';
  } catch (error) {
    if (error instanceof QueueClosed) throw new AppError('destination_check_unavailable', {}, { cause: error });
    throw asAppError(error);
  } finally {
    over.abort();
  }
}

async function canCheck(ctx: PipelinesContext): Promise<boolean> {
  try {
    return await ctx.platform.checksDestinations();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('destination_check_unavailable', {}, { cause: error });
  }
}

/** Without secrets. Undefined: it works. */
async function failureOf(
  ctx: PipelinesContext,
  organizationId: string,
  { id: definitionId, specification }: Definition,
  configuration: Configuration,
): Promise<ConnectorFailure | undefined> {
  const owner = await ctx.workspaces.platformOrganizationId(organizationId);
  try {
    const outcome = await ctx.platform.checkDestination({ organizationId: owner, definitionId, configuration });
    if (outcome.status === 'succeeded') return undefined;
    const { redact } = redactor(listSecrets(specification.connectionSpecification, configuration));
    return { ...outcome.failure, message: redact(outcome.failure.message) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error }, 'a check of a destination could not be run');
    const isRefused = error.failure === 'rejected' && !error.isConflict;
    const message = isRefused ? refused : unavailable;
    return { message, origin: 'platform' };
  }
}

const unavailable = 'The platform could not run the check. Try again later.';
const refused = 'The platform did not accept the configuration.';
