/**
 * Ends sign-ins that took too long, and forgets those that ended a day ago. Tokens of an account that nobody has confirmed are
 * revoked.
 */
import type { OAuthContext } from './context.ts';
import { openFlow } from './flow-secrets.ts';
import { endFlow } from './flows.store.ts';
import { placeOf, recordState } from './flows.ts';
import { deleteEnded, listOverdue } from './flows.worker.store.ts';
import { recordLeftover } from './leftovers.ts';

const keptMs = 24 * 3_600_000;
const atATime = 100;

export function createSignInHousekeeping(ctx: OAuthContext): () => Promise<void> {
  return async () => {
    for (;;) {
      const overdue = await listOverdue(ctx.store.db, atATime);
      for (const flow of overdue) {
        await ctx.store.transaction(async (tx) => {
          // A customer may have gone on in this very moment: then the state is another one.
          const outcome = { state: 'failed', failure: 'expired' } as const;
          const ended = await endFlow(tx, flow.organization_id, flow.id, flow.state, outcome);
          if (!ended) return;
          await recordState(ctx, tx, ended, flow.state);
          const { given } = openFlow(ctx.sealer, flow);
          if (given) await recordLeftover(ctx, tx, { ...given, ...placeOf(flow) });
        });
      }
      if (overdue.length < atATime) break;
    }
    await deleteEnded(ctx.store.db, keptMs);
  };
}
