/**
 * A mutex for credentials whose refresh token goes to a connector: one process at a time, whatever it does (check,
 * discover, read) and for whichever connection. If two processes used the same single-use refresh token, the provider
 * would revoke the grant.
 *
 * A turn is a lease row that is renewed while in use, by the database's clock, so it also excludes other coordinators and
 * expires if its own is killed.
 */
import { databaseTime } from '@inlay/database/open-database';
import type { CredentialRef } from '../credentials.ts';
import type { Db, Store } from '../db/open.ts';
import { forgetProcessName, isAbandoned, newProcessName } from '../process-names.ts';
import type { Runtime } from '../runtime.ts';
import { deleteTurn, findTurn, prolongTurn, putTurn } from './credential-turns.store.ts';

export const turnMs = 30_000;
const prolongEveryMs = 10_000;
const lookEveryMs = 200;

interface TurnOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait; for ever, if it is not given. */
  patienceMs?: number | undefined;
  /** Called once, before the first wait. */
  onWait?(): void;
}

/** Another process uses the credential for longer than the caller waits. */
export class CredentialInUse extends Error {
  override readonly name = 'CredentialInUse';
}

/** Whether the turn is taken at the moment, `now` being the time of the database. */
export async function isInUse(tx: Db, { workspaceId, credentialId }: CredentialRef, now: number): Promise<boolean> {
  const held = await findTurn(tx, workspaceId, credentialId);
  return held !== undefined && held.expires_at > now && !isAbandoned(held.holder);
}

/** Throws CredentialInUse, and the reason of the signal. */
export async function inTurn<T>(
  { store, runtime }: { store: Store; runtime: Runtime },
  { workspaceId, credentialId }: CredentialRef,
  { signal, patienceMs = Number.POSITIVE_INFINITY, onWait }: TurnOptions,
  work: () => Promise<T>,
): Promise<T> {
  const holder = newProcessName(runtime.newId());
  const startedAt = runtime.elapsed();
  let isWaiting = false;

  const take = () =>
    store.transaction(async (tx) => {
      const now = await databaseTime(tx);
      if (await isInUse(tx, { workspaceId, credentialId }, now)) return false;
      await putTurn(tx, workspaceId, credentialId, { holder, expires_at: now + turnMs });
      return true;
    });

  try {
    while (!(await take())) {
      if (!isWaiting) onWait?.();
      isWaiting = true;
      if (runtime.elapsed() - startedAt >= patienceMs) throw new CredentialInUse('The credential is in use.');
      await runtime.sleep(lookEveryMs, signal);
      signal?.throwIfAborted();
    }
    const done = new AbortController();
    const prolonging = prolong(done.signal);
    try {
      return await work();
    } finally {
      done.abort();
      await prolonging;
      await deleteTurn(store.db, workspaceId, holder);
    }
  } finally {
    forgetProcessName(holder);
  }

  async function prolong(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await runtime.sleep(prolongEveryMs, until);
      if (!until.aborted) await prolongTurn(store.db, workspaceId, holder, turnMs);
    }
  }
}
