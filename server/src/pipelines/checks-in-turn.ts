/**
 * Runs a check in the background when its tenant has its turn: a workspace, or for destinations the organization. Only so
 * many checks of one tenant may wait. While a check waits or runs, its row is kept alive, so that a caller on any replica
 * can tell a check that goes on from a check whose process is gone.
 */
import { QueueClosed, QueueFull } from '@inlay/schedule/fair-queue';
import { AppError } from '../errors.ts';
import type { PipelinesContext } from './context.ts';

/** A check whose process has gone counts as interrupted after this time. */
export const patienceMs = 360_000;
const renewEveryMs = 60_000;
export const interrupted = 'The check was interrupted. Start it again.';

interface CheckInTurn {
  /** Puts the row of the check on disk. */
  record(): Promise<void>;
  renew(): Promise<void>;
  /** Begins after `record`, and ends by writing the outcome. */
  run(): Promise<void>;
}

/** Resolves when the check is on disk. Throws when too many checks of the tenant wait already. */
export async function startInTurn(ctx: PipelinesContext, tenant: string, check: CheckInTurn): Promise<void> {
  assertRoom(ctx, tenant);
  let recorded: Promise<void> | undefined;
  // Recorded once, by what comes first: the answer to the caller, or the check itself if it has its turn now.
  const record = () => {
    recorded ??= check.record();
    return recorded;
  };
  const over = new AbortController();
  ctx.inBackground('a check', async () => {
    try {
      await ctx.turns.checks.run(tenant, async () => {
        await record();
        await check.run();
      });
    } catch (error) {
      // The service is stopping. A caller who asks for the check is told that it was interrupted.
      if (!(error instanceof QueueClosed)) throw error;
    } finally {
      over.abort();
    }
  });
  ctx.inBackground('keeping a check alive', async () => {
    for (;;) {
      await ctx.runtime.sleep(renewEveryMs, over.signal);
      if (over.signal.aborted) return;
      await check.renew();
    }
  });
  await record();
}

export function assertRoom(ctx: PipelinesContext, tenant: string): void {
  try {
    ctx.turns.checks.assertRoom(tenant);
  } catch (error) {
    throw asAppError(error);
  }
}

export function asAppError(error: unknown): unknown {
  if (!(error instanceof QueueFull)) return error;
  return new AppError('queue_full', { retryAfterSeconds: error.retryAfterSeconds }, { cause: error });
}
