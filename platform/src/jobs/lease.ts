/**
 * The job lease: at most one process at a time runs the jobs of a database file. The holder renews it; a lease that
 * expired, or whose process no longer exists on this machine, can be taken over. A process that was paused must not
 * write any more, so every write of a run checks the lease, under the name it was acquired with, in its own
 * transaction.
 */
import type { Store } from '../db/open.ts';
import { forgetProcessName, isAbandoned, newProcessName } from '../process-names.ts';
import type { Runtime } from '../runtime.ts';
import { deleteLease, findLease, type HeldLease, putLease } from './lease.worker.store.ts';

export const leaseMs = 30_000;
/** Often enough to survive two failed tries, seldom enough to let the disk rest. */
const renewEveryMs = 10_000;

export interface Lease {
  /**
   * Acquires the lease, or renews it when due. Returns the name it is held under, undefined while another process has
   * it.
   */
  hold(): Promise<string | undefined>;
  release(): Promise<void>;
}

interface LeaseContext {
  store: Store;
  runtime: Pick<Runtime, 'now' | 'newId'>;
  /** A key rotation must know whether the process that runs jobs uses the new key. */
  keyIds?: (() => string[]) | undefined;
}

export function createLease({ store, runtime, keyIds }: LeaseContext): Lease {
  const { now, newId } = runtime;
  let holder: string | undefined;

  function drop(): void {
    if (holder !== undefined) forgetProcessName(holder);
    holder = undefined;
  }

  return {
    hold: () =>
      store.transaction(async (tx) => {
        const held = await findLease(tx);
        const leftMs = (held?.expires_at ?? 0) - now();
        // As long as nobody took it over, a late renewal does no harm.
        if (held && held.holder === holder) {
          if (leftMs > leaseMs - renewEveryMs && leftMs <= leaseMs) return holder;
        } else {
          drop();
          if (held && leftMs > 0 && !isAbandoned(held.holder)) {
            // The clock was set back. If its holder is gone, it ends as if it had been renewed just now.
            if (leftMs > leaseMs) await putLease(tx, { ...held, expires_at: now() + leaseMs });
            return undefined;
          }
          holder = newProcessName(newId());
        }
        const encryption_keys = keyIds?.().join(',') ?? null;
        const lease = { holder: holder as string, expires_at: now() + leaseMs, encryption_keys };
        await putLease(tx, lease);
        return lease.holder;
      }),
    async release() {
      if (holder === undefined) return;
      await deleteLease(store.db, holder);
      drop();
    },
  };
}

/** Undefined where nobody runs jobs. */
export async function findRunner({
  store,
  runtime,
}: Pick<LeaseContext, 'store' | 'runtime'>): Promise<HeldLease | undefined> {
  const held = await findLease(store.db);
  return held && held.expires_at > runtime.now() && !isAbandoned(held.holder) ? held : undefined;
}
