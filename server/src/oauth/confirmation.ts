/** A customer has signed in with another account than before, and wants to use it. */
import type { SignIn } from '@inlay/contract/oauth-flows';
import type { OAuthFlowRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import type { ScopedPrincipal } from '../principals.ts';
import { openFlow } from './flow-secrets.ts';
import { findFlow } from './flows.store.ts';
import { type FlowsContext, presentFlow } from './flows.ts';
import { connect, EndedMeanwhile } from './sign-in.ts';

export async function confirmFlow(
  ctx: FlowsContext,
  { organizationId, workspaceId }: ScopedPrincipal,
  id: string,
): Promise<SignIn> {
  const flow = await findFlow(ctx.store.db, organizationId, workspaceId, id);
  if (!flow) throw new AppError('sign_in_not_found');
  return await presentFlow(ctx, await useOtherAccount(ctx, flow));
}

/** The caller has made sure that the customer may confirm this sign-in. */
export async function useOtherAccount(ctx: FlowsContext, flow: OAuthFlowRow): Promise<OAuthFlowRow> {
  const now = await ctx.store.now();
  const { given, receivedAt = now } = openFlow(ctx.sealer, flow);
  if (flow.state !== 'unconfirmed' || flow.expires_at <= now || !given) throw new AppError('sign_in_not_unconfirmed');
  const { expiresInSeconds } = given;
  const waitedSeconds = Math.ceil((now - receivedAt) / 1000);
  try {
    return await connect(ctx, flow, 'unconfirmed', {
      ...given,
      // The token has become older while the customer thought about it.
      expiresInSeconds: expiresInSeconds === undefined ? undefined : Math.max(1, expiresInSeconds - waitedSeconds),
    });
  } catch (error) {
    if (error instanceof EndedMeanwhile) throw new AppError('sign_in_not_unconfirmed');
    throw error;
  }
}
