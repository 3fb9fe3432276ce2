/**
 * Asks a connector something when its tenant has its turn: a workspace, or for questions of operators the organization. Only
 * so many questions of one tenant may wait. Two ways to ask:
 * - A check runs in the background, and callers on any replica ask for its outcome. While it waits or runs, its row is kept
 *   alive, which distinguishes it from a check whose process died.
 * - A request waits for the answer, but only so long.
 */
import { type Configuration, listSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { Audience } from '@inlay/contract/pipelines/health';
import type { Check } from '@inlay/contract/pipelines/sources';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import { redactor } from '@inlay/contract/text/redaction';
import { QueueClosed, QueueFull } from '@inlay/schedule/fair-queue';
import type { Definition } from '../../catalog/definitions/definition.ts';
import { openManifest } from '../../catalog/definitions/own-definitions.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ConnectorFailure } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { PipelinesContext } from '../context.ts';
import { type AudienceWarnings, type FailureTexts, sameForBoth, storedReasons } from '../two-texts.ts';
import * as checks from './checks.store.ts';

/** A check whose process has gone counts as interrupted after this time. */
const patienceMs = 360_000;
const renewEveryMs = 60_000;
/** A request waits so long. A connection of HTTP that is silent for a minute may be closed. */
const requestPatienceMs = 50_000;

type CheckOwner = Omit<checks.CheckRef, 'id'>;

/** Resolves with the id when the check is on disk. Throws when too many checks of the tenant wait already. */
export async function startCheck(
  ctx: PipelinesContext,
  owner: CheckOwner,
  run: (id: string) => Promise<checks.CheckEnd>,
): Promise<string> {
  const { db } = ctx.store;
  const tenant = owner.workspaceId ?? owner.organizationId;
  const check = { ...owner, id: ctx.runtime.newId() };
  assertRoom(ctx, tenant);
  let recorded: Promise<void> | undefined;
  // Recorded once, by what comes first: the answer to the caller, or the check itself if it has its turn now.
  const record = () => {
    recorded ??= checks.insertCheck(db, check, patienceMs);
    return recorded;
  };
  const over = new AbortController();
  ctx.background.run('Check', async () => {
    try {
      await ctx.turns.checks.run(tenant, async () => {
        await record();
        await checks.finishCheck(db, check, await run(check.id));
      });
    } catch (error) {
      // The service is stopping. Callers see the check as interrupted.
      if (!(error instanceof QueueClosed)) throw error;
    } finally {
      over.abort();
    }
  });
  ctx.background.run('Check heartbeat', async () => {
    for (;;) {
      await ctx.runtime.sleep(renewEveryMs, over.signal);
      if (over.signal.aborted) return;
      await checks.renewCheck(db, check, patienceMs);
    }
  });
  await record();
  return check.id;
}

export async function readCheck(
  { store: { db } }: PipelinesContext,
  { id, organizationId, workspaceId }: checks.CheckRef,
  audience: Audience,
): Promise<Check> {
  const row = await checks.findCheck(db, { id, organizationId, workspaceId });
  if (!row) {
    const isElsewhere = workspaceId !== undefined && (await checks.existsSourceCheck(db, organizationId, id));
    throw new AppError(isElsewhere ? 'forbidden' : 'check_not_found');
  }
  if (row.status === 'running' && row.expires_at <= row.now) {
    const reason: Reason = { code: 'check_interrupted', parameters: {} };
    return { id, status: 'failed', error_message: sayReason(reason, audience), error_reason: reason };
  }
  const warnings = row.warnings == null ? [] : (JSON.parse(row.warnings) as AudienceWarnings)[audience];
  return {
    id,
    status: row.status,
    error_message: audience === 'operator' ? row.error_message : (row.customer_message ?? null),
    error_reason: storedReasons(row.reasons)?.[audience] ?? null,
    ...(warnings.length > 0 && { warnings }),
  };
}

interface Question<Answer> {
  of: 'source' | 'destination';
  ask: () => Promise<Answer>;
  /** What a connector that does not answer in time counts as. */
  tooLate: (failure: ConnectorFailure) => Answer;
  unavailable: Unavailable;
}

type Unavailable = 'destination_check_unavailable' | 'stream_discovery_unavailable';

/** For an operator's request that waits for the answer. */
export async function askInTurn<Answer>(
  ctx: PipelinesContext,
  organizationId: string,
  { of, ask, tooLate, unavailable }: Question<Answer>,
): Promise<Answer> {
  assertRoom(ctx, organizationId);
  const over = new AbortController();
  const late = ctx.runtime.timeLimit(requestPatienceMs, over.signal).then(() => {
    const reason: Reason = {
      code: 'connector_timeout',
      parameters: { connector: of, seconds: requestPatienceMs / 1000 },
    };
    return tooLate({ message: sayReason(reason, 'operator'), reason, origin: of });
  });
  try {
    return await Promise.race([ctx.turns.checks.run(organizationId, ask), late]);
  } catch (error) {
    if (error instanceof QueueClosed) throw new AppError(unavailable, {}, { cause: error });
    throw asAppError(error);
  } finally {
    over.abort();
  }
}

/** Hosted platforms run connectors for customers' sources only. */
export async function canAskForOperators(ctx: PipelinesContext, unavailable: Unavailable): Promise<boolean> {
  try {
    return await ctx.platform.checksDestinations();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError(unavailable, {}, { cause: error });
  }
}

/** Which connector the platform runs for a question. */
export async function connectorOf(
  ctx: PipelinesContext,
  organizationId: string,
  { id: definitionId, ownVersion }: Definition,
): Promise<{ definitionId: string } | { manifest: Record<string, unknown> }> {
  if (ownVersion === undefined) return { definitionId };
  return { manifest: await openManifest(ctx, organizationId, definitionId, ownVersion) };
}

/** Why the platform has not run a check. */
export function whyNotRun({ log }: PipelinesContext, error: unknown): { isRefused: boolean; texts: FailureTexts } {
  if (!(error instanceof PlatformError)) throw error;
  log.warn({ err: error }, 'Check failed to run');
  const isRefused = error.failure === 'rejected' && !error.isConflict;
  const reason: Reason = isRefused
    ? { code: 'rejected_by_platform', parameters: { what: 'configuration' } }
    : { code: 'check_not_run', parameters: {} };
  return { isRefused, texts: sameForBoth(reason) };
}

export function withoutSecrets(
  failure: ConnectorFailure,
  { specification }: Definition,
  configuration: Configuration,
): ConnectorFailure {
  const { redact } = redactor(listSecrets(specification.connectionSpecification, configuration));
  return { ...failure, message: redact(failure.message) };
}

function assertRoom(ctx: PipelinesContext, tenant: string): void {
  try {
    ctx.turns.checks.assertRoom(tenant);
  } catch (error) {
    throw asAppError(error);
  }
}

function asAppError(error: unknown): unknown {
  if (!(error instanceof QueueFull)) return error;
  return new AppError('queue_full', { retryAfterSeconds: error.retryAfterSeconds }, { cause: error });
}
