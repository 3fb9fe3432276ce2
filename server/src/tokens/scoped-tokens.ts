/**
 * Scoped tokens: signed statements that the bearer acts inside one workspace. Nothing is stored when one is issued. The
 * `jti` begins with the workspace's token generation, so that raising the generation revokes all tokens issued so far;
 * single tokens are revoked by `jti`. Verification accepts exactly what `issue` makes and nothing a library might tolerate
 * besides.
 */
import { randomBytes } from 'node:crypto';
import { formats } from '@inlay/contract/formats';
import { errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import type { Store } from '../db/open.ts';
import { AppError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { ScopedPrincipal, TemplateFilters } from './principals.ts';
import { findStanding, insertRevocation, purgeExpiredRevocations } from './revocations.store.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

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
  issue(subject: TokenSubject): Promise<string>;
  /** Throws `unauthenticated` for anything but a valid token of a live workspace. */
  verify(token: string): Promise<ScopedPrincipal>;
  /** False when the token is not one of the organization. */
  revoke(organizationId: string, token: string): Promise<boolean>;
}

const audience = 'inlay';
const clockToleranceSeconds = 30;
const maxTokenLength = 12_000;
const shape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/;
const jtiShape = /^(\d{1,9})\.[A-Za-z0-9_-]{22}$/;

interface Verified extends ScopedPrincipal {
  tokenGeneration: number;
  expiresAt: number | null;
}

export function createScopedTokens(options: ScopedTokensOptions): ScopedTokens {
  const { store, keys, runtime, issuer, ttlSeconds } = options;
  const scopeClaim = `io.${options.vendor}.auth.workspace_scope`;

  async function issue(subject: TokenSubject): Promise<string> {
    const { kid, privateKey } = keys.current();
    const { organizationId, workspaceId, allowedOrigin, templateFilters } = subject;
    const issuedAt = Math.floor(runtime.now() / 1000);
    return await new SignJWT({
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
    })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
      .sign(privateKey);
  }

  async function verify(token: string): Promise<ScopedPrincipal> {
    const { tokenGeneration, expiresAt: _, ...principal } = await checkSignature(token);
    const { organizationId, workspaceId, jti } = principal;
    const standing = await findStanding(store.db, organizationId, workspaceId, jti);
    if (standing?.lifecycle !== 'live' || standing.revoked || tokenGeneration < standing.token_gen) {
      throw new AppError('unauthenticated');
    }
    return principal;
  }

  /** Everything that can be told from the token alone. */
  async function checkSignature(token: string): Promise<Verified> {
    const key = keyOf(token);
    if (!key) throw new AppError('unauthenticated');
    try {
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        currentDate: new Date(runtime.now()),
      });
      return readClaims(payload);
    } catch (cause) {
      if (cause instanceof joseErrors.JOSEError) throw new AppError('unauthenticated', {}, { cause });
      throw cause;
    }
  }

  /** The key named by a header that is exactly ours; anything else is refused before any cryptography. */
  function keyOf(token: string): SigningKey | undefined {
    if (token.length > maxTokenLength || !shape.test(token)) return undefined;
    const [header = '', , signature = ''] = token.split('.');
    // A signature has spare bits in its last character; only one spelling is accepted.
    if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) return undefined;
    const fields = parseObject(Buffer.from(header, 'base64url').toString('utf8'));
    if (!fields || Object.keys(fields).length !== 3) return undefined;
    if (fields.alg !== 'EdDSA' || fields.typ !== 'JWT' || typeof fields.kid !== 'string') return undefined;
    return keys.find(fields.kid);
  }

  function readClaims(claims: Record<string, unknown>): Verified {
    const { sub, org, aud, iat, exp, jti, allowed_origin, template_filters } = claims;
    const scope = claims[scopeClaim] as { workspaceId?: unknown; organizationId?: unknown } | undefined;
    const generation = typeof jti === 'string' ? jtiShape.exec(jti)?.[1] : undefined;
    const valid =
      isUuid(sub) &&
      isUuid(org) &&
      typeof jti === 'string' &&
      aud === audience &&
      isSeconds(iat) &&
      iat <= runtime.now() / 1000 + clockToleranceSeconds &&
      (exp === undefined || isSeconds(exp)) &&
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
      verified = await checkSignature(token);
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
    return true;
  }

  return { issue, verify, revoke };
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

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // Not JSON: not a token of ours.
  }
}
