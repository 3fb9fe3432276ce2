/** Checks of a configuration: a check is started, and then its outcome is asked for until there is one. */
import type { Check, CheckWarning } from '@inlay/contract/pipelines/sources';
import type { Api } from '../api/api.ts';
import { failureOf } from '../api/failure.ts';
import { longerPauseMs, pause } from './pausing.ts';

const firstPauseMs = 400;
const lastPauseMs = 4_000;

/** The connector's own message about the problem; empty when it gave none. */
export class CheckFailed extends Error {
  constructor(
    readonly reason: Check['error_reason'],
    message: string,
  ) {
    super(message);
  }
}

/**
 * Resolves when the check has succeeded, throws `CheckFailed` when it has failed. The service ends every check at some
 * time, so a missing answer is just asked for again. The customer sees that the check goes on, and can abort it.
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
