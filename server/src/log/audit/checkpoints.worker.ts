/** Signs the end of every trail, once an hour, where something has happened since. */
import type { AuditKeysContext } from './audit-keys.ts';
import { listDue } from './checkpoints.worker.store.ts';
import { signNow } from './signing.ts';

const everyMs = 3_600_000;

/** For the housekeeping. */
export function createCheckpoints(ctx: AuditKeysContext): () => Promise<void> {
  return async () => {
    for (const organizationId of await listDue(ctx.store.db, everyMs))
      await signNow(ctx, organizationId, { afterMs: everyMs });
  };
}
