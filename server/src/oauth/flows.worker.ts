/** Ends sign-ins that took too long, and forgets those that ended a day ago. */
import type { OAuthContext } from './context.ts';
import { endFlow } from './flows.store.ts';
import { recordState } from './flows.ts';
import { deleteEnded, listOverdue } from './flows.worker.store.ts';

const keptMs = 24 * 3_600_000;
const atATime = 100;

export function createSignInHousekeeping(ctx: Pick<OAuthContext, 'store' | 'journal'>): () => Promise<void> {
  return async () => {
    for (;;) {
      const overdue = await listOverdue(ctx.store.db, atATime);
      for (const flow of overdue) {
        await ctx.store.transaction(async (tx) => {
          // A customer may have gone on in this very moment: then the state is another one.
          const outcome = { state: 'failed', failure: 'expired' } as const;
          const ended = await endFlow(tx, flow.organization_id, flow.id, flow.state, outcome);
          if (ended) await recordState(ctx, tx, ended, flow.state);
        });
      }
      if (overdue.length < atATime) break;
    }
    await deleteEnded(ctx.store.db, keptMs);
  };
}
