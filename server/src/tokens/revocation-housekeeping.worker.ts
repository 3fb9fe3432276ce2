import type { Store } from '../db/open.ts';
import { purgeExpiredRevocations } from './revocations.worker.store.ts';

/** Deletes revocations of tokens that have expired meanwhile. */
export function createRevocationHousekeeping(store: Store): () => Promise<void> {
  return () => purgeExpiredRevocations(store.db);
}
