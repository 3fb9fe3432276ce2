/**
 * Credentials: the tokens that a provider has given for a workspace.
 *
 * What always holds: a credential belongs to one workspace, and every look-up names it. Its tokens are stored sealed, and
 * leave this folder only for a connector of that workspace. Its id stays when the customer signs in again; its generation
 * grows with every new token. Refreshing is in refresh.ts.
 */
import type { CredentialGrant, CredentialOwner, CredentialReason } from '@inlay/contract/credentials';
import type { Db } from '../db/open.ts';
import { databaseTime } from '../db/open.ts';
import type { CredentialRow } from '../db/tables.ts';
import { isoTime } from '../iso-time.ts';
import { openClient } from './clients.ts';
import type { OAuthContext } from './context.ts';
import { recordConnected } from './credential-entries.ts';
import type { CredentialRef, SeenCredential } from './credentials.store.ts';
import * as credentials from './credentials.store.ts';
import type { Tokens } from './grants.ts';
import { type Leftover, recordLeftover } from './leftovers.ts';
import { canBeRefreshed, expiryOf, isHandedOver, refOf, refresh } from './refresh.ts';
import { isGoodFor, marginMs, nextLook } from './refresh-times.ts';
import { openTokens, type StoredTokens, sealTokens } from './sealed-tokens.ts';

export type { CredentialRef } from './credentials.store.ts';

/** What a sign-in has brought. */
export interface GivenTokens extends Pick<Tokens, 'accessToken' | 'refreshToken' | 'expiresInSeconds'> {
  /** What was granted. */
  scopes: readonly string[];
  /** As checkValues gives them. */
  values: Record<string, string>;
  /** What the provider told beside the tokens. */
  taken: Record<string, string>;
  /** As accountIdOf gives it. */
  accountId: string | null;
  accountLabel: string | null;
}

export interface NewCredential extends GivenTokens {
  organizationId: string;
  workspaceId: string;
  oauthClientId: string;
  sourceTemplateId: string;
  grant: CredentialGrant;
  owner: CredentialOwner;
}

/** In the transaction of the caller. */
export async function recordCredential(ctx: OAuthContext, tx: Db, given: NewCredential): Promise<CredentialRow> {
  const id = ctx.runtime.newId();
  const row = await credentials.insertCredential(tx, given.organizationId, {
    id,
    workspace_id: given.workspaceId,
    oauth_client_id: given.oauthClientId,
    source_template_id: given.sourceTemplateId,
    grant_kind: given.grant,
    owner: given.owner,
    ...(await columnsOf(ctx, tx, id, given, { grant: given.grant, oldRefreshToken: null })),
  });
  await recordConnected(ctx.journal, tx, { before: undefined, after: row });
  return row;
}

/**
 * New tokens for a credential after its customer has signed in again. Whatever was wrong with it is over; what a refresh
 * of the old tokens brings from now on is thrown away.
 */
export async function renewCredential(
  ctx: OAuthContext,
  tx: Db,
  ref: CredentialRef,
  given: GivenTokens,
): Promise<CredentialRow> {
  await ctx.users.hold(tx, ref.workspaceId);
  const before = await credentials.lockCredential(tx, ref);
  if (!before) throw new Error(`there is no credential ${ref.credentialId}`);
  const isSameAccount = before.account_id !== null && before.account_id === given.accountId;
  // A provider that gives a refresh token only the first time means the same grant.
  const old = openTokens(ctx.sealer, before);
  const oldRefreshToken = isSameAccount ? (old?.refreshToken ?? null) : null;
  // The account of before is not connected any more, so its provider is told.
  if (old && !isSameAccount && before.state === 'connected') await recordLeftover(ctx, tx, formerTokens(before, old));
  const columns = await columnsOf(ctx, tx, ref.credentialId, given, { grant: before.grant_kind, oldRefreshToken });
  const after = await credentials.replaceTokens(tx, ref, columns);
  await recordConnected(ctx.journal, tx, { before, after });
  await ctx.users.changed(ctx.journal, tx, ref);
  return after;
}

function formerTokens(row: CredentialRow, { accessToken, refreshToken }: StoredTokens): Leftover {
  return {
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    oauthClientId: row.oauth_client_id,
    sourceTemplateId: row.source_template_id,
    accessToken,
    refreshToken: refreshToken ?? undefined,
    scopes: JSON.parse(row.scopes),
    values: JSON.parse(row.provider_values),
    accountId: row.account_id,
    accountLabel: row.account_label,
  };
}

export interface HandedBack {
  /** Of the tokens that the connector was given. */
  generation: number;
  refreshToken?: string | undefined;
  accessToken?: string | undefined;
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

/**
 * Takes tokens that a connector has refreshed by itself, and gives their generation. Undefined: others have taken the place
 * of those that the connector was given, so its own are thrown away.
 */
export async function handBack(ctx: OAuthContext, ref: CredentialRef, given: HandedBack): Promise<number | undefined> {
  return await ctx.store.transaction(async (tx) => {
    const row = await credentials.lockCredential(tx, ref);
    const tokens = row && openTokens(ctx.sealer, row);
    if (!row || !tokens || row.generation !== given.generation) return undefined;
    // Of other credentials this service is the owner: what a connector says of them counts nothing.
    if (!(await isHandedOver(tx, row))) return undefined;
    const accessToken = given.accessToken ?? tokens.accessToken;
    const refreshToken = given.refreshToken ?? tokens.refreshToken;
    const isSame = accessToken === tokens.accessToken && refreshToken === tokens.refreshToken;
    if (isSame) return row.generation;
    const isNewAccess = accessToken !== tokens.accessToken;
    const after = await credentials.putHandedBack(tx, ref, row.generation, {
      sealed_tokens: sealTokens(ctx.sealer, row.id, {
        ...tokens,
        accessToken,
        refreshToken,
        issuedAt: isNewAccess ? row.now : tokens.issuedAt,
      }),
      access_expires_at: given.expiresAt ?? (isNewAccess ? null : row.access_expires_at),
    });
    return after?.generation;
  });
}

async function columnsOf(
  { sealer, runtime }: OAuthContext,
  tx: Db,
  id: string,
  given: GivenTokens,
  { grant, oldRefreshToken }: { grant: CredentialGrant; oldRefreshToken: string | null },
) {
  const now = await databaseTime(tx);
  const { accessToken, taken } = given;
  const refreshToken = given.refreshToken ?? oldRefreshToken;
  const expiresAt = expiryOf(given, now);
  const canRefresh = refreshToken !== null || grant !== 'authorization_code';
  return {
    sealed_tokens: sealTokens(sealer, id, { accessToken, refreshToken, issuedAt: now, taken }),
    access_expires_at: expiresAt,
    // It was made to be used.
    refresh_due_at: nextLook({ now, expiresAt, canRefresh, usedAt: now, chance: runtime.random() }),
    scopes: JSON.stringify(given.scopes),
    provider_values: JSON.stringify(given.values),
    account_id: given.accountId,
    account_label: given.accountLabel,
  };
}

export interface CredentialAccess {
  accessToken: string;
  /** To be named when this very token was refused. */
  generation: number;
  /** Milliseconds since the epoch; null: the provider does not say. */
  expiresAt: number | null;
  /** Everything that a template can put into a configuration, by name. */
  values: Record<string, string>;
}

/** Somebody has to do something: without a new sign-in, or a change by the operator, there will be no token. */
export class CredentialNeedsAttention extends Error {
  readonly reason: CredentialReason | 'gone';

  constructor(reason: CredentialReason | 'gone') {
    super(`the credential needs attention: ${reason}`);
    this.reason = reason;
  }
}

/** There is no token at the moment. Later there may be. */
export class CredentialUnavailable extends Error {}

export interface AccessWanted {
  /** How long the token has to be good for. By default, as long as tokens are kept ahead of their end. */
  forMs?: number;
  /** A generation whose token the provider's API has refused. */
  notGeneration?: number;
}

/** How long somebody waits for a refresh of another replica. */
const patienceMs = 70_000;
const lookAgainMs = 250;
/** A token is still given out that much before its end, where no other can be had. */
const lastMomentMs = 5_000;
const usedEveryMs = 60 * 60_000;

/** An access token that works. Refreshes where that is needed, and waits where another replica does. */
export async function accessTo(
  ctx: OAuthContext,
  ref: CredentialRef,
  { forMs, notGeneration }: AccessWanted = {},
): Promise<CredentialAccess> {
  const giveUpAt = ctx.runtime.elapsed() + patienceMs;
  for (;;) {
    const row = await credentials.findCredential(ctx.store.db, ref);
    if (!row || row.state === 'ended') throw new CredentialNeedsAttention('gone');
    const tokens = openTokens(ctx.sealer, row);
    if (!tokens) throw new CredentialUnavailable('the platform has the tokens');
    const known = { issuedAt: tokens.issuedAt, expiresAt: row.access_expires_at };
    // Its connector refreshes by itself, and gets all that it needs for that.
    if (row.state === 'connected' && (await isHandedOver(ctx.store.db, row))) return await giveOut(ctx, row, true);
    const isRefused = row.generation === notGeneration;
    const isMendable = row.reason === 'client_refused' || row.reason === 'refused';
    const isOver = row.state === 'needs_attention' && !isMendable;
    if (!isOver && !isRefused && isGoodFor(known, row.now, canBeRefreshed(ctx, row) ? forMs : 0))
      return await giveOut(ctx, row);

    const refreshed = isOver ? ({ kind: 'ended' } as const) : await refresh(ctx, row);
    if (refreshed.kind === 'fresh') continue;
    if (refreshed.kind === 'busy' && ctx.runtime.elapsed() < giveUpAt) {
      await ctx.runtime.sleep(Math.min(refreshed.ms, lookAgainMs * (1 + ctx.runtime.random())));
      continue;
    }
    if (!isRefused && isGoodFor(known, row.now, lastMomentMs)) return await giveOut(ctx, row);
    const last = await credentials.findCredential(ctx.store.db, ref);
    if (!last || last.state === 'ended') throw new CredentialNeedsAttention('gone');
    if (last.generation !== row.generation) continue;
    if (last.reason !== null) throw new CredentialNeedsAttention(last.reason);
    throw new CredentialUnavailable(refreshed.kind === 'later' ? refreshed.reason : 'another replica refreshes it');
  }
}

async function giveOut(ctx: OAuthContext, row: SeenCredential, withAll = false): Promise<CredentialAccess> {
  const tokens = openTokens(ctx.sealer, row);
  if (!tokens) throw new CredentialUnavailable('the platform has the tokens');
  await noteUse(ctx, row, tokens.issuedAt);
  return {
    accessToken: tokens.accessToken,
    generation: row.generation,
    expiresAt: row.access_expires_at,
    values: {
      ...JSON.parse(row.provider_values),
      ...tokens.taken,
      access_token: tokens.accessToken,
      ...(row.access_expires_at !== null && { expires_at: isoTime(row.access_expires_at) }),
      ...(withAll && (await refreshValues(ctx, row, tokens.refreshToken))),
    },
  };
}

export interface TokensToHandOver {
  values: Record<string, string>;
  generation: number;
}

/**
 * Everything of a credential that a hosted platform is to own from now on. Undefined: the platform has it already. Throws
 * CredentialNeedsAttention.
 */
export async function tokensToHandOver(ctx: OAuthContext, ref: CredentialRef): Promise<TokensToHandOver | undefined> {
  const row = await credentials.findCredential(ctx.store.db, ref);
  if (!row || row.state === 'ended') throw new CredentialNeedsAttention('gone');
  if (row.owner !== 'platform' || row.sealed_tokens === '') return undefined;
  const { values, generation } = await giveOut(ctx, row, true);
  return { values, generation };
}

/** The platform has confirmed that it has the tokens of this generation: nobody else may use them any more. */
export async function recordHandedOver({ store }: OAuthContext, ref: CredentialRef, generation: number): Promise<void> {
  await credentials.dropTokens(store.db, ref, generation);
}

/** What a connector refreshes with. The operator has agreed to it in the template. */
async function refreshValues(
  ctx: OAuthContext,
  row: CredentialRow,
  refreshToken: string | null,
): Promise<Record<string, string>> {
  const client = await openClient(ctx, row.organization_id, row.oauth_client_id, {});
  if (!client) throw new CredentialNeedsAttention('client_refused');
  const [secret] = client.secrets;
  return {
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    client_id: client.clientId,
    ...(secret !== undefined && { client_secret: secret }),
  };
}

/** An idle credential that is used again is refreshed ahead of its end again. */
async function noteUse(ctx: OAuthContext, row: SeenCredential, issuedAt: number): Promise<void> {
  if (row.used_at !== null && row.used_at > row.now - usedEveryMs) return;
  const { access_expires_at: expiresAt, refresh_due_at: due } = row;
  const ahead = expiresAt === null ? null : Math.round(expiresAt - marginMs(expiresAt - issuedAt));
  const isSooner = due !== null && ahead !== null && ahead < due;
  await credentials.putUse(ctx.store.db, refOf(row), row.generation, isSooner ? ahead : null);
}
