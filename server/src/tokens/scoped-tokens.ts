/**
 * Scoped tokens: signed statements that the bearer acts inside one workspace. Nothing is stored when one is issued. The
 * `jti` begins with the workspace's token generation, so that raising the generation revokes all tokens issued so far;
 * single tokens are revoked by `jti`. Verification accepts exactly what `issue` makes and nothing a library might tolerate
 * besides.
 */
import { randomBytes } from 'node:crypto';
import { formats } from '@inlay/contract/formats';
import type { Store } from '../db/open.ts';
import { AppError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import { createJwtReader, signJwt } from './jwt.ts';
import type { ScopedPrincipal, TemplateFilters } from './principals.ts';
import { RecentAnswers } from './recent-answers.ts';
import { findStanding, insertRevocation, purgeExpiredRevocations } from './revocations.store.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface ScopedTokensOptions {
  store: Store;
  keys: SigningKeys;
  runtime: Runtime;
  issuer: string;
  vendor: string;
  ttlSeconds: number | undefined;
}

export interface TokenSubject {
  organizationId: string;
  workspaceId: string;
  tokenGeneration: number;
  /** For a widget token. */
  allowedOrigin?: string;
  templateFilters?: TemplateFilters;
}

export interface ScopedTokens {
  issue(subject: TokenSubject): string;
  /** Throws `unauthenticated` for anything but a valid token of a live workspace. */
  verify(token: string): Promise<ScopedPrincipal>;
  /** False when the token is not one of the organization. */
  revoke(organizationId: string, token: string): Promise<boolean>;
  /** To be called whenever tokens of a workspace have stopped working in another way. */
  forget(): void;
}

const audience = 'inlay';
const clockToleranceSeconds = 30;
const jtiShape = /^(\d{1,9})\.[A-Za-z0-9_-]{22}$/;

interface Verified extends ScopedPrincipal {
  tokenGeneration: number;
  expiresAt: number | null;
}

export function createScopedTokens(options: ScopedTokensOptions): ScopedTokens {
  const { store, keys, runtime, issuer, ttlSeconds } = options;
  const readJwt = createJwtReader(keys);
  const recent = new RecentAnswers<true>(runtime.elapsed);
  const scopeClaim = `io.${options.vendor}.auth.workspace_scope`;

  function issue(subject: TokenSubject): string {
    const { organizationId, workspaceId, allowedOrigin, templateFilters } = subject;
    const issuedAt = Math.floor(runtime.now() / 1000);
    return signJwt(keys.current(), {
      iss: issuer,
      aud: audience,
      sub: workspaceId,
      jti: `${subject.tokenGeneration}.${randomBytes(16).toString('base64url')}`,
      iat: issuedAt,
      ...(ttlSeconds === undefined ? {} : { exp: issuedAt + ttlSeconds }),
      org: organizationId,
      [scopeClaim]: { workspaceId, organizationId },
      ...(allowedOrigin === undefined ? {} : { allowed_origin: allowedOrigin }),
      ...(templateFilters === undefined ? {} : { template_filters: templateFilters }),
    });
  }

  async function verify(token: string): Promise<ScopedPrincipal> {
    const { tokenGeneration, expiresAt: _, ...principal } = checkToken(token);
    const { organizationId, workspaceId, jti } = principal;
    const counts = await recent.get(`${organizationId} ${workspaceId} ${jti}`, async () => {
      const standing = await findStanding(store.db, organizationId, workspaceId, jti);
      return (
        (standing?.lifecycle === 'live' && !standing.revoked && tokenGeneration >= standing.token_gen) || undefined
      );
    });
    if (!counts) throw new AppError('unauthenticated');
    return principal;
  }

  /** Everything that can be told from the token alone. */
  function checkToken(token: string): Verified {
    const claims = readJwt(token);
    if (!claims) throw new AppError('unauthenticated');
    return readClaims(claims);
  }

  function readClaims(claims: Record<string, unknown>): Verified {
    const { iss, sub, org, aud, iat, nbf, exp, jti, allowed_origin, template_filters } = claims;
    const nowSeconds = runtime.now() / 1000;
    const scope = claims[scopeClaim] as { workspaceId?: unknown; organizationId?: unknown } | undefined;
    const generation = typeof jti === 'string' ? jtiShape.exec(jti)?.[1] : undefined;
    const valid =
      isUuid(sub) &&
      isUuid(org) &&
      typeof jti === 'string' &&
      iss === issuer &&
      aud === audience &&
      isSeconds(iat) &&
      iat <= nowSeconds + clockToleranceSeconds &&
      (nbf === undefined || (isSeconds(nbf) && nbf <= nowSeconds)) &&
      (exp === undefined || (isSeconds(exp) && exp > nowSeconds)) &&
      scope?.workspaceId === sub &&
      scope.organizationId === org &&
      generation !== undefined;
    if (!valid) throw new AppError('unauthenticated');
    return {
      kind: 'scoped',
      jti,
      organizationId: org,
      workspaceId: sub,
      tokenGeneration: Number(generation),
      expiresAt: exp === undefined ? null : exp * 1000,
      ...(typeof allowed_origin === 'string' ? { allowedOrigin: allowed_origin } : {}),
      ...(template_filters ? { templateFilters: template_filters as TemplateFilters } : {}),
    };
  }

  async function revoke(organizationId: string, token: string): Promise<boolean> {
    let verified: Verified;
    try {
      verified = checkToken(token);
    } catch (error) {
      // Expired, forged or from elsewhere: there is nothing of ours to revoke.
      if (error instanceof AppError && error.code === 'unauthenticated') return false;
      throw error;
    }
    if (verified.organizationId !== organizationId) return false;
    const { workspaceId, jti, expiresAt } = verified;
    const known = await findStanding(store.db, organizationId, workspaceId, jti);
    if (!known) return false;
    await insertRevocation(store.db, workspaceId, jti, expiresAt);
    recent.forget();
    return true;
  }

  return { issue, verify, revoke, forget: () => recent.forget() };
}

/** Forgets revocations of tokens that have expired since. */
export function createRevocationHousekeeping(store: Store): () => Promise<void> {
  return () => purgeExpiredRevocations(store.db);
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && formats.uuid?.fault(value) === undefined;
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 1e11;
}
