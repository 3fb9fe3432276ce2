import type { Store } from '../kernel/db/open.ts';
import { deleteExpired, type KeptFor, listExpired } from './housekeeping.worker.store.ts';

/** Deletes the rows that have expired. What goes wrong with one table keeps no other from its turn. */
export function createHousekeeping(store: Store, keptFor: KeptFor): () => Promise<void> {
  const expired = listExpired(keptFor);
  return async () => {
    const failures: unknown[] = [];
    for (const one of expired) await deleteExpired(store, one).catch((error) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'Failed to delete expired rows');
  };
}
