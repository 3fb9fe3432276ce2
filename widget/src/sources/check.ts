/** Checks of a configuration: started, then asked for until there is an outcome. */
import type { Api } from '../api/api.ts';
import { failureOf } from '../api/failure.ts';
import { longerPauseMs, pause } from './pausing.ts';

const firstPauseMs = 400;
const lastPauseMs = 4_000;

/** What the connector found wrong, in its own words; empty when it gave none. */
export class CheckFailed extends Error {}

/**
 * Resolves when the check has succeeded, throws `CheckFailed` when it has not. The service ends every check in the end, so
 * an answer that does not come is only asked for again; the customer sees that, and can abort.
 */
export async function awaitCheck(api: Api, checkId: string, signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  for (;;) {
    await pause(pauseMs, signal);
    pauseMs = longerPauseMs(pauseMs, lastPauseMs);
    try {
      const { status, error_message } = await api.getCheck(checkId, signal);
      if (status === 'succeeded') return;
      if (status === 'failed') throw new CheckFailed(error_message ?? '');
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CheckFailed) throw error;
      const failure = failureOf(error);
      if (!failure.isPassing) throw failure;
      pauseMs = Math.max(pauseMs, failure.retryAfterMs ?? 0);
    }
  }
}
