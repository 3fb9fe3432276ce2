/** Derives a token's status from its revocation and expiry times. */
import type { OperatorToken } from '@inlay/contract/tenancy/tokens';

export type TokenState = 'active' | 'ending' | 'expired' | 'revoked';

const soonMs = 7 * 86_400_000;

export function tokenState(token: Pick<OperatorToken, 'revoked_at' | 'expires_at'>, now: number): TokenState {
  const revoked = token.revoked_at === null ? Number.POSITIVE_INFINITY : Date.parse(token.revoked_at);
  const expires = token.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(token.expires_at);
  if (revoked <= now) return 'revoked';
  if (expires <= now) return 'expired';
  return Math.min(revoked, expires) - now < soonMs ? 'ending' : 'active';
}
