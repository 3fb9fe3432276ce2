/** Deletes plans that have expired. */
import type { PipelinesContext } from './context.ts';
import { deleteExpiredPlans } from './plans.worker.store.ts';

const batch = 5;

export function createPlanHousekeeping({ store }: Pick<PipelinesContext, 'store'>): () => Promise<void> {
  return () => deleteExpiredPlans(store.db, batch);
}
