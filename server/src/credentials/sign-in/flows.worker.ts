/**
 * Ends flows that took too long. Tokens of an account that nobody has confirmed are revoked.
 */
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import type { OAuthContext } from '../context.ts';
import { recordLeftover } from '../tokens/credentials.ts';
import { type FlowSecrets, openFlow } from './flow-secrets.ts';
import { endFlow } from './flows.store.ts';
import { placeOf, recordState } from './flows.ts';
import { listOverdue } from './flows.worker.store.ts';

const atATime = 100;

/** A flow whose secrets nobody can read any more ends all the same, and keeps no other from ending. */
function givenIn({ sealer, log }: OAuthContext, flow: OAuthFlowRow): FlowSecrets['given'] {
  try {
    return openFlow(sealer, flow).given;
  } catch (err) {
    log.error({ err, flowId: flow.id }, 'Failed to revoke tokens of an expired sign-in flow');
    return undefined;
  }
}

export function createSignInHousekeeping(ctx: OAuthContext): () => Promise<void> {
  return async () => {
    for (;;) {
      const overdue = await listOverdue(ctx.store.db, atATime);
      for (const flow of overdue) {
        await ctx.store.transaction(async (tx) => {
          // A customer may have continued in this very moment: then the state is another one.
          const outcome = { state: 'failed', failure: 'expired' } as const;
          const ended = await endFlow(tx, flow.organization_id, flow.id, flow.state, outcome);
          if (!ended) return;
          await recordState(ctx, tx, ended, flow.state);
          const given = givenIn(ctx, flow);
          if (given) await recordLeftover(ctx, tx, { ...given, ...placeOf(flow) });
        });
      }
      if (overdue.length < atATime) return;
    }
  };
}
