/**
 * The processes that coordinate attempts: any number on PostgreSQL, and one at a time on SQLite, where `runner_lease` names
 * it, as it did before there were others. A coordinator says every ten seconds that it lives, on the database's clock.
 *
 * A coordinator that was paused may come back and write: what it writes for an attempt is refused by the attempt's own lease and
 * epoch (attempts-book.ts). Being listed here only lets it take new attempts.
 */
import { isSqlite } from '@inlay/database/is-sqlite';
import { databaseTime } from '@inlay/database/open-database';
import manifest from '../../package.json' with { type: 'json' };
import type { Db, Store } from '../db/open.ts';
import type { CoordinatorRow } from '../db/tables.ts';
import { forgetProcessName, isAbandoned, newProcessName } from '../process-names.ts';
import type { Runtime } from '../runtime.ts';
import * as coordinators from './coordinators.worker.store.ts';

/** Of attempts and of coordinators. */
export const leaseMs = 30_000;
/** Often enough to survive two failed tries, seldom enough to let the disk rest. */
export const renewEveryMs = 10_000;

export interface Coordinator {
  /**
   * Becomes a coordinator, or stays one. Returns the name under which it is listed, undefined while another process has the
   * file.
   */
  hold(): Promise<string | undefined>;
  release(): Promise<void>;
}

interface CoordinatorContext {
  store: Store;
  runtime: Pick<Runtime, 'newId'>;
  slots: number;
  /** A key rotation must know which keys the processes that run jobs have. */
  keyIds?: (() => string[]) | undefined;
}

export function createCoordinator({ store, runtime, slots, keyIds }: CoordinatorContext): Coordinator {
  let name: string | undefined;

  function drop(): void {
    if (name !== undefined) forgetProcessName(name);
    name = undefined;
  }

  /** How long it is still known to live; negative if another process has the file. */
  async function leftMs(tx: Db, now: number): Promise<number> {
    if (!isSqlite(tx)) {
      const known = name === undefined ? undefined : await coordinators.findCoordinator(tx, name);
      return (known?.seen_at ?? now - leaseMs) + leaseMs - now;
    }
    const held = await coordinators.findLease(tx);
    const left = (held?.expires_at ?? 0) - now;
    // As long as nobody took it over, a late renewal does no harm.
    if (held?.holder === name) return Math.max(0, left);
    drop();
    if (!held || left <= 0 || isAbandoned(held.holder)) return 0;
    // The clock was set back. If its holder is gone, it ends as if it had been renewed just now.
    if (left > leaseMs) await coordinators.putLease(tx, { ...held, expires_at: now + leaseMs });
    return -1;
  }

  return {
    hold: () =>
      store.transaction(async (tx) => {
        const now = await databaseTime(tx);
        const left = await leftMs(tx, now);
        if (left < 0) return undefined;
        if (name !== undefined && left > leaseMs - renewEveryMs && left <= leaseMs) return name;
        name ??= newProcessName(runtime.newId());
        const encryption_keys = keyIds?.().join(',') ?? '';
        await coordinators.putCoordinator(tx, {
          name,
          seen_at: now,
          encryption_keys,
          version: manifest.version,
          slots,
        });
        if (isSqlite(tx)) await coordinators.putLease(tx, { holder: name, expires_at: now + leaseMs, encryption_keys });
        return name;
      }),
    async release() {
      const held = name;
      if (held === undefined) return;
      await store.transaction(async (tx) => {
        await coordinators.deleteCoordinators(tx, [held]);
        await coordinators.deleteLease(tx, held);
      });
      drop();
    },
  };
}

export async function listLiveCoordinators(db: Db): Promise<CoordinatorRow[]> {
  const now = await databaseTime(db);
  const all = await coordinators.listCoordinators(db);
  return all.filter(({ name, seen_at }) => seen_at > now - leaseMs && !isAbandoned(name));
}

/** The encryption keys of every process that may seal something for a job. */
export async function listKeyHolders({ db }: Store): Promise<{ encryption_keys: string | null }[]> {
  const live = await listLiveCoordinators(db);
  const held = await coordinators.findLease(db);
  // A version that knows only the lease is not listed.
  const isEarlier = held && held.expires_at > (await databaseTime(db)) && !isAbandoned(held.holder);
  return isEarlier && !live.some(({ name }) => name === held.holder) ? [...live, held] : live;
}
