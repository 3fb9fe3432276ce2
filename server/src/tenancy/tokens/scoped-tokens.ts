/**
 * Scoped tokens: signed statements that the bearer acts inside one workspace. Issuing a token stores nothing. The `jti`
 * begins with the workspace's token generation, so that raising the generation revokes all tokens issued so far; single
 * tokens are revoked by `jti`. Verification accepts exactly the tokens that `issue` makes, although a library might
 * accept more.
 */
import { formats } from '@inlay/contract/text/formats';
import type { Cause } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { type NowOrLater, whenThere } from '../../kernel/now-or-later.ts';
import type { ScopedPrincipal, TemplateFilters, Viewer } from '../../kernel/principals.ts';
import { randomText } from '../../kernel/random-bytes.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Journal } from '../../log/events/journal.ts';
import { type Claims, createJwtReader, type ReadToken, signJwt } from './jwt.ts';
import { RecentAnswers } from './recent-answers.ts';
import { findStanding, insertRevocation } from './revocations.store.ts';
import type { SigningKeys } from './signing-keys.ts';

interface ScopedTokensOptions {
  store: Store;
  keys: SigningKeys;
  runtime: Runtime;
  journal: Journal;
  issuer: string;
  vendor: string;
  ttlSeconds: number | undefined;
  /** Whether a view token still works. */
  viewerWorks(organizationId: string, viewer: Viewer): Promise<boolean>;
}

export interface TokenSubject {
  organizationId: string;
  workspaceId: string;
  tokenGeneration: number;
  /** Set for a widget token only. */
  allowedOrigin?: string;
  templateFilters?: TemplateFilters;
  customerLabel?: string | undefined;
  /** Set for a view token only. */
  viewer?: Viewer;
}

export interface IssuedToken {
  token: string;
  /** Its `jti`. */
  tokenId: string;
  /** Milliseconds since the epoch. Undefined: it works until it is revoked. */
  expiresAt: number | undefined;
}

export interface ScopedTokens {
  /** `lifetimeSeconds`: as `lifetimeOf` gives it. */
  issue(subject: TokenSubject, lifetimeSeconds?: number): IssuedToken;
  /** Lifetime of a requested token. Throws if the setting does not allow it. */
  lifetimeOf(expiresInSeconds: number | undefined): number | undefined;
  /** Throws `unauthenticated` for anything but a valid token of a live workspace. */
  verify(token: string): NowOrLater<ScopedPrincipal>;
  /** False when the token is not a token of the organization. */
  revoke(organizationId: string, token: string, cause: Cause): Promise<boolean>;
  /** Must be called when tokens of a workspace stop working for another reason. */
  forget(): void;
}

const audience = 'inlay';
/** Another one, so that a replica that knows nothing of view tokens refuses them instead of letting them write. */
const viewAudience = 'inlay-view';
const clockToleranceSeconds = 30;
const jtiShape = /^(\d{1,9})\.[A-Za-z0-9_-]{22}$/;

/** What a token says of itself. */
interface Statement {
  principal: ScopedPrincipal;
  tokenGeneration: number;
  /** In seconds since the epoch, as in the token. */
  issuedAt: number;
  notBefore: number | undefined;
  expiresAt: number | undefined;
}

export function createScopedTokens(options: ScopedTokensOptions): ScopedTokens {
  const { store, keys, runtime, journal, issuer, ttlSeconds } = options;
  const recent = new RecentAnswers<true>(runtime.elapsed);
  const scopeClaim = `io.${options.vendor}.auth.workspace_scope`;
  const readJwt = createJwtReader(keys, understand);

  function lifetimeOf(expiresInSeconds: number | undefined): number | undefined {
    if (expiresInSeconds !== undefined && ttlSeconds !== undefined && expiresInSeconds > ttlSeconds) {
      throw invalidRequest({
        loc: ['body', 'expires_in_seconds'],
        msg: `ensure this value is less than or equal to ${ttlSeconds}`,
        type: 'value_error.number.not_le',
      });
    }
    return expiresInSeconds ?? ttlSeconds;
  }

  function issue(subject: TokenSubject, lifetimeSeconds = ttlSeconds): IssuedToken {
    const { organizationId, workspaceId, allowedOrigin, templateFilters, customerLabel, viewer } = subject;
    const issuedAt = Math.floor(runtime.now() / 1000);
    const expiresAt = lifetimeSeconds === undefined ? undefined : issuedAt + lifetimeSeconds;
    const tokenId = `${subject.tokenGeneration}.${randomText(16, 'base64url')}`;
    const token = signJwt(keys.current(), {
      iss: issuer,
      aud: viewer ? viewAudience : audience,
      sub: workspaceId,
      jti: tokenId,
      iat: issuedAt,
      ...(expiresAt === undefined ? {} : { exp: expiresAt }),
      org: organizationId,
      [scopeClaim]: { workspaceId, organizationId },
      ...(allowedOrigin === undefined ? {} : { allowed_origin: allowedOrigin }),
      ...(templateFilters === undefined ? {} : { template_filters: templateFilters }),
      ...(customerLabel === undefined ? {} : { customer_label: customerLabel }),
      ...(viewer === undefined ? {} : { viewer }),
    });
    return { token, tokenId, expiresAt: expiresAt && expiresAt * 1000 };
  }

  function verify(token: string): NowOrLater<ScopedPrincipal> {
    const { digest, meaning } = checkToken(token);
    return whenThere(
      recent.get(digest, () => countsNow(meaning)),
      (counts) => {
        if (!counts) throw new AppError('unauthenticated');
        const { viewer } = meaning.principal;
        return viewer === undefined ? meaning.principal : verifyViewer(meaning.principal, viewer);
      },
    );
  }

  async function verifyViewer(principal: ScopedPrincipal, viewer: Viewer): Promise<ScopedPrincipal> {
    if (!(await options.viewerWorks(principal.organizationId, viewer))) throw new AppError('unauthenticated');
    return principal;
  }

  async function countsNow({ principal, tokenGeneration }: Statement): Promise<true | undefined> {
    const { organizationId, workspaceId, jti } = principal;
    const standing = await findStanding(store.db, organizationId, workspaceId, jti);
    return (standing?.lifecycle === 'live' && !standing.revoked && tokenGeneration >= standing.token_gen) || undefined;
  }

  /** Checks everything that needs no look into the store. */
  function checkToken(token: string): ReadToken<Statement> {
    const read = readJwt(token);
    if (!read || !isCurrent(read.meaning)) throw new AppError('unauthenticated');
    return read;
  }

  function isCurrent({ issuedAt, notBefore, expiresAt }: Statement): boolean {
    const nowSeconds = runtime.now() / 1000;
    return (
      issuedAt <= nowSeconds + clockToleranceSeconds &&
      (notBefore === undefined || notBefore <= nowSeconds) &&
      (expiresAt === undefined || expiresAt > nowSeconds)
    );
  }

  function understand(claims: Claims): Statement | undefined {
    const { iss, sub, org, aud, iat, nbf, exp, jti, allowed_origin, template_filters, customer_label } = claims;
    const scope = claims[scopeClaim] as { workspaceId?: unknown; organizationId?: unknown } | undefined;
    const generation = typeof jti === 'string' ? jtiShape.exec(jti)?.[1] : undefined;
    const viewer = aud === viewAudience && exp !== undefined ? viewerOf(claims.viewer) : undefined;
    const valid =
      isUuid(sub) &&
      isUuid(org) &&
      typeof jti === 'string' &&
      iss === issuer &&
      (aud === audience || viewer !== undefined) &&
      isSeconds(iat) &&
      (nbf === undefined || isSeconds(nbf)) &&
      (exp === undefined || isSeconds(exp)) &&
      scope?.workspaceId === sub &&
      scope.organizationId === org &&
      generation !== undefined;
    if (!valid) return undefined;
    return {
      principal: {
        kind: 'scoped',
        jti,
        organizationId: org,
        workspaceId: sub,
        ...(typeof allowed_origin === 'string' ? { allowedOrigin: allowed_origin } : {}),
        ...(template_filters ? { templateFilters: template_filters as TemplateFilters } : {}),
        ...(typeof customer_label === 'string' ? { customerLabel: customer_label } : {}),
        ...(viewer === undefined ? {} : { viewer }),
      },
      tokenGeneration: Number(generation),
      issuedAt: iat,
      notBefore: nbf,
      expiresAt: exp,
    };
  }

  async function revoke(organizationId: string, token: string, cause: Cause): Promise<boolean> {
    let statement: Statement;
    try {
      statement = checkToken(token).meaning;
    } catch (error) {
      // Expired, forged or from elsewhere: there is nothing of ours to revoke.
      if (error instanceof AppError && error.code === 'unauthenticated') return false;
      throw error;
    }
    const { principal, expiresAt } = statement;
    if (principal.organizationId !== organizationId) return false;
    const { workspaceId, jti } = principal;
    const known = await findStanding(store.db, organizationId, workspaceId, jti);
    if (!known) return false;
    const endsAt = expiresAt === undefined ? null : expiresAt * 1000;
    await record({ store, journal: journal.by(cause) }, { organizationId, workspaceId, jti }, endsAt);
    recent.forget();
    return true;
  }

  return { issue, lifetimeOf, verify, revoke, forget: () => recent.forget() };
}

interface TokenRef {
  organizationId: string;
  workspaceId: string;
  jti: string;
}

/** Revokes a token of which only the `jti` is known. False if it was revoked, or there is no such workspace. */
export async function revokeTokenById(ctx: { store: Store; journal: Journal }, ref: TokenRef): Promise<boolean> {
  const known = await findStanding(ctx.store.db, ref.organizationId, ref.workspaceId, ref.jti);
  return known !== undefined && (await record(ctx, ref, null));
}

async function record(
  { store, journal }: { store: Store; journal: Journal },
  { organizationId, workspaceId, jti }: TokenRef,
  endsAt: number | null,
): Promise<boolean> {
  return await store.transaction(async (tx) => {
    if (!(await insertRevocation(tx, workspaceId, jti, endsAt))) return false;
    const data = { all: false, token_id: jti };
    const change = { before: { revoked: false }, after: { revoked: true } };
    await journal.record(tx, organizationId, { type: 'token.revoked', workspaceId, data, change });
    return true;
  });
}

function viewerOf(claim: unknown): Viewer | undefined {
  const { session, operatorToken } = (claim ?? {}) as { session?: unknown; operatorToken?: unknown };
  if (isUuid(session)) return { session };
  return isUuid(operatorToken) ? { operatorToken } : undefined;
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && formats.uuid?.fault(value) === undefined;
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e11;
}
