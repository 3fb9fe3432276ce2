/*
 * Who runs jobs: at most one process at a time for a database file. A lease is held by renewing it; one that was not
 * renewed for a while, or whose process is gone from this machine, may be taken over. Whoever was late must not write
 * any more, so every write of a run asks for the lease again, by the name it was taken under, in its own transaction.
 */

import type { Store } from '../db/open.ts';
import { forgetProcessName, isAbandoned, newProcessName } from '../process-names.ts';

const leaseMs = 30_000;
/** Often enough to survive two failed tries, seldom enough to let the disk rest. */
const renewEveryMs = 10_000;

export interface Lease {
  /** Takes the lease, or renews it when it is time: the name it is held under, undefined while somebody else has it. */
  hold(): Promise<string | undefined>;
  release(): Promise<void>;
}

export function createLease({ store, now }: { store: Store; now(): number }): Lease {
  let holder: string | undefined;

  function drop(): void {
    if (holder !== undefined) forgetProcessName(holder);
    holder = undefined;
  }

  return {
    hold: () =>
      store.transaction().execute(async (trx) => {
        const held = await trx.selectFrom('runner_lease').selectAll().executeTakeFirst();
        // As long as nobody took it over, a late renewal does no harm.
        if (held && held.holder === holder) {
          if (held.expires_at - now() > leaseMs - renewEveryMs) return holder;
        } else {
          drop();
          if (held && held.expires_at > now() && !isAbandoned(held.holder)) return undefined;
          holder = newProcessName();
        }
        const row = { holder: holder as string, expires_at: now() + leaseMs };
        await trx
          .insertInto('runner_lease')
          .values({ id: 1, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        return row.holder;
      }),
    async release() {
      if (holder === undefined) return;
      await store.deleteFrom('runner_lease').where('holder', '=', holder).execute();
      drop();
    },
  };
}
