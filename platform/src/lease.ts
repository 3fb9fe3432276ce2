/*
 * Who runs jobs: at most one process at a time for a database file. A lease is held by renewing it; one that was not
 * renewed for a while, or whose process is gone from this machine, may be taken over. Whoever was late must not write
 * any more, so every write of a run asks for the lease again, by the name it was taken under, in its own transaction.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Store } from './store.ts';

/** Many times longer than the time between two renewals. */
const leaseMs = 30_000;

export interface Lease {
  /** Takes or renews the lease: the name it is held under, undefined while somebody else has it. */
  hold(): Promise<string | undefined>;
  release(): Promise<void>;
}

export function createLease({ store, now }: { store: Store; now(): number }): Lease {
  let holder: string | undefined;

  return {
    hold: () =>
      store.transaction().execute(async (trx) => {
        const held = await trx.selectFrom('runner_lease').selectAll().executeTakeFirst();
        // As long as nobody took it over, a late renewal does no harm.
        if (!held || held.holder !== holder) {
          forget(holder);
          holder = undefined;
          if (held && held.expires_at > now() && !isGone(held)) return undefined;
          holder = randomUUID();
          holdersHere.add(holder);
        }
        const row = { holder, host, pid: process.pid, expires_at: now() + leaseMs };
        await trx
          .insertInto('runner_lease')
          .values({ id: 1, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        return holder;
      }),
    async release() {
      if (holder === undefined) return;
      await store.deleteFrom('runner_lease').where('holder', '=', holder).execute();
      forget(holder);
      holder = undefined;
    },
  };
}

/** Of this process: its id alone does not tell a lease of its own from one of a predecessor with the same id. */
const holdersHere = new Set<string>();

function forget(holder: string | undefined): void {
  if (holder !== undefined) holdersHere.delete(holder);
}

/** Ids of processes mean something only to the machine, or the container, that gave them out. */
const host = process.platform === 'linux' ? `${hostname()} ${readlinkSync('/proc/self/ns/pid')}` : hostname();

function isGone(held: { holder: string; host: string; pid: number }): boolean {
  if (held.host !== host) return false;
  return held.pid === process.pid ? !holdersHere.has(held.holder) : !isRunning(held.pid);
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is sent to nobody; it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else's may not be signalled, but is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
