import type { Store } from '../db/open.ts';
import { deleteExpiredKeys } from './idempotency.worker.store.ts';

/** Deletes the answers of keys that are older than a day. */
export function createIdempotencyHousekeeping(store: Store): () => Promise<void> {
  return () => deleteExpiredKeys(store.db);
}
