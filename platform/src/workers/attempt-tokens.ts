/** Tokens of attempts: sealed, so that a worker can't make one up, and bound to the worker that has the attempt. */
import type { Sealer } from '../actors/sealed-configuration.ts';
import type { AttemptRef } from '../attempts/desk.ts';
import { Problem } from '../problems.ts';

const context = 'attempt of a worker';

export function sealAttempt(sealer: Sealer, workerId: string, { jobId, attempt, epoch }: AttemptRef): string {
  return sealer.seal(JSON.stringify({ workerId, jobId, attempt, epoch }), context);
}

export function openAttempt(sealer: Sealer, workerId: string, token: unknown): AttemptRef {
  const { workerId: holder, ...ref } = read(sealer, token);
  if (holder !== workerId) throw new Problem('forbidden', { message: 'This attempt belongs to another worker.' });
  return ref;
}

function read(sealer: Sealer, token: unknown): AttemptRef & { workerId: string } {
  try {
    return JSON.parse(sealer.open(String(token), context));
  } catch (cause) {
    throw new Problem('forbidden', { message: 'The attempt token is not valid.' }, { cause });
  }
}
