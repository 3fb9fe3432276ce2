/** Starts a check of a configuration and polls its outcome. */
import type { Check, CheckWarning } from '@inlay/contract/pipelines/sources';
import type { Api } from '../api/api.ts';
import { failureOf } from '../api/failure.ts';
import { longerPauseMs, pause } from './pausing.ts';

const firstPauseMs = 400;
const lastPauseMs = 4_000;

/** The connector's own message; empty if it gave none. */
export class CheckFailed extends Error {
  constructor(
    readonly reason: Check['error_reason'],
    message: string,
  ) {
    super(message);
  }
}

/**
 * Resolves once the check has succeeded, throws `CheckFailed` if it failed. The service ends every check eventually, so failed
 * polls are retried. The customer sees the progress and can abort.
 */
export async function awaitCheck(api: Api, checkId: string, signal: AbortSignal): Promise<CheckWarning[]> {
  let pauseMs = firstPauseMs;
  for (;;) {
    await pause(pauseMs, signal);
    pauseMs = longerPauseMs(pauseMs, lastPauseMs);
    try {
      const { status, error_message, error_reason, warnings = [] } = await api.getCheck(checkId, signal);
      if (status === 'succeeded') return warnings;
      if (status === 'failed') throw new CheckFailed(error_reason, error_message ?? '');
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CheckFailed) throw error;
      const failure = failureOf(error);
      if (!failure.isPassing) throw failure;
      pauseMs = Math.max(pauseMs, failure.retryAfterMs ?? 0);
    }
  }
}
