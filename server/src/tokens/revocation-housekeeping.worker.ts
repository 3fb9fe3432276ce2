import type { Store } from '../db/open.ts';
import { purgeExpiredRevocations } from './revocations.worker.store.ts';

/** Forgets revocations of tokens that have expired since. */
export function createRevocationHousekeeping(store: Store): () => Promise<void> {
  return () => purgeExpiredRevocations(store.db);
}
