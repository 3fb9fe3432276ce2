/**
 * Access to the tokens of credentials: what leaves this folder for a connector, refreshed where that is needed, and what a
 * connector or the platform hands back.
 */
import type { CredentialReason } from '@inlay/contract/credentials/credentials';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { openClient } from '../clients/clients.ts';
import type { CredentialsContext, OAuthContext } from '../context.ts';
import { longestLifeSeconds } from '../provider/token-answers.ts';
import * as credentials from './credentials.store.ts';
import { type CredentialRef, findOwner, type SeenCredential } from './credentials.store.ts';
import { openTokens, refOf, type StoredTokens, sealTokens } from './credentials.ts';
import { canBeRefreshed, isHandedOver, refresh } from './refresh.ts';
import { isGoodFor, marginMs } from './refreshes.ts';

export interface CredentialAccess {
  accessToken: string;
  /** Named if this very token was refused. */
  generation: number;
  /** Milliseconds since the epoch; null: the provider does not say. */
  expiresAt: number | null;
  /** Everything that a template can put into a configuration, by name. */
  values: Record<string, string>;
}

/** Who must act. Failures that the operator can fix are retried automatically. */
export const attentionBy = (reason: CredentialReason | 'gone' | null): 'operator' | 'customer' =>
  reason === 'client_refused' || reason === 'refused' ? 'operator' : 'customer';

/** Action needed: without a new sign-in, or a change by the operator, there will be no token. */
export class CredentialNeedsAttention extends Error {
  readonly reason: CredentialReason | 'gone';

  constructor(reason: CredentialReason | 'gone') {
    super(`the credential needs attention: ${reason}`);
    this.reason = reason;
  }

  /** Who has to do something. */
  get whose(): 'customer' | 'operator' {
    return attentionBy(this.reason);
  }
}

/** There is no token at the moment. Later there may be. */
export class CredentialUnavailable extends Error {}

/** Another replica is refreshing it: there will be a token, or a reason, in a moment. */
export class CredentialBusy extends CredentialUnavailable {}

export interface AccessWanted {
  /** How long the token has to be good for. By default, as long as tokens are kept ahead of their end. */
  forMs?: number;
  /** A generation whose token the provider's API has refused. */
  notGeneration?: number;
  /** How long to wait for a refresh of another replica. */
  patienceMs?: number;
}

/** Longer than the lease of a replica that was killed in the middle of a refresh. */
export const busyPatienceMs = 70_000;
const lookAgainMs = 250;
/** A token is still given out that much before its end, where no other can be had. */
const lastMomentMs = 5_000;
const usedEveryMs = 60 * 60_000;
/** How often someone refreshes in a row. Tokens that end before they come would keep the caller busy for ever. */
const mostRefreshes = 3;

/** An access token that works. Refreshes where that is needed, and waits where another replica does. */
export async function accessTo(
  ctx: OAuthContext,
  ref: CredentialRef,
  { forMs, notGeneration, patienceMs = busyPatienceMs }: AccessWanted = {},
): Promise<CredentialAccess> {
  const giveUpAt = ctx.runtime.elapsed() + patienceMs;
  for (let refreshes = 0; ; ) {
    const row = await credentials.findCredential(ctx.store.db, ref);
    if (!row || row.state === 'ended') throw new CredentialNeedsAttention('gone');
    const tokens = openTokens(ctx.sealer, row);
    if (!tokens) throw new CredentialUnavailable('the platform has the tokens');
    const known = { issuedAt: tokens.issuedAt, expiresAt: row.access_expires_at };
    // Its connector refreshes the tokens itself and gets everything it needs for that.
    if (row.state === 'connected' && (await isHandedOver(ctx.store.db, row))) return await giveOut(ctx, row, true);
    // A token without what the template requires is as good as refused.
    const isRefused = row.generation === notGeneration || row.reason === 'scopes_missing';
    const isOver = row.state === 'needs_attention' && attentionBy(row.reason) === 'customer';
    if (!isOver && !isRefused && isGoodFor(known, row.now, canBeRefreshed(ctx, row) ? forMs : 0))
      return await giveOut(ctx, row);

    const refreshed = isOver ? ({ kind: 'ended' } as const) : await refresh(ctx, row);
    if (refreshed.kind === 'fresh') {
      if (++refreshes <= mostRefreshes) continue;
      throw new CredentialUnavailable('The tokens expire before they can be used.');
    }
    if (refreshed.kind === 'busy' && ctx.runtime.elapsed() < giveUpAt) {
      await ctx.runtime.sleep(Math.min(refreshed.ms, lookAgainMs * (1 + ctx.runtime.random())));
      continue;
    }
    if (!isRefused && isGoodFor(known, row.now, lastMomentMs)) return await giveOut(ctx, row);
    const last = await credentials.findCredential(ctx.store.db, ref);
    if (!last || last.state === 'ended') throw new CredentialNeedsAttention('gone');
    if (last.generation !== row.generation) continue;
    if (last.reason !== null) throw new CredentialNeedsAttention(last.reason);
    if (refreshed.kind === 'later') throw new CredentialUnavailable(refreshed.reason);
    throw new CredentialBusy('another replica refreshes it');
  }
}

async function giveOut(ctx: OAuthContext, row: SeenCredential, withAll = false): Promise<CredentialAccess> {
  const isOperators = withAll || row.grant_kind !== 'authorization_code';
  const open = isOperators ? await ctx.users.openAddresses({ ...refOf(row), templateId: row.source_template_id }) : [];
  return await accessOf(ctx, row, { withAll, open });
}

/** `open`: the addresses that a customer enters, where something of the operator's would go. */
async function accessOf(
  ctx: CredentialsContext,
  row: SeenCredential,
  { withAll, open }: { withAll: boolean; open: readonly string[] },
): Promise<CredentialAccess> {
  const tokens = openTokens(ctx.sealer, row);
  if (!tokens) throw new CredentialUnavailable('the platform has the tokens');
  if (open.length > 0) {
    // What is the operator's goes only where the operator has said.
    const what = 'the client secret is not sent to a host that a customer enters; set the address in the template';
    ctx.log.error({ credentialId: row.id, templateId: row.source_template_id, open }, what);
    throw new CredentialNeedsAttention('client_refused');
  }
  const all = withAll ? await refreshValues(ctx, row, tokens) : undefined;
  await noteUse(ctx, row, tokens.issuedAt);
  return {
    accessToken: tokens.accessToken,
    generation: row.generation,
    expiresAt: row.access_expires_at,
    values: {
      ...JSON.parse(row.provider_values),
      ...(all?.taken ?? tokens.taken),
      access_token: tokens.accessToken,
      ...(row.access_expires_at !== null && { expires_at: isoTime(row.access_expires_at) }),
      ...all?.values,
    },
  };
}

/**
 * Whether the tokens are kept here, for a platform that asks for them. False: an earlier version of this service has handed
 * them over to the platform and has none any more.
 */
export async function makeServiceOwner({ store }: { store: Store }, ref: CredentialRef): Promise<boolean> {
  await credentials.putServiceAsOwner(store.db, ref);
  return (await credentials.findCredential(store.db, ref))?.owner !== 'platform';
}

/**
 * Makes a hosted platform the owner of a credential: this service no longer refreshes it, whether or not the
 * platform is reached. Undefined: the platform has it already. Throws CredentialNeedsAttention and CredentialBusy.
 */
export async function makePlatformOwner({ store }: { store: Store }, ref: CredentialRef) {
  const owned = await credentials.putPlatformAsOwner(store.db, ref);
  if (owned) return owned;
  const row = await credentials.findCredential(store.db, ref);
  if (!row || row.state === 'ended') throw new CredentialNeedsAttention('gone');
  if (row.lease_until > row.now) throw new CredentialBusy('the tokens are being refreshed');
  return undefined;
}

/** Everything of a credential that a hosted platform owns from now on, by the names that the fields of a sign-in use. */
export async function tokensToHandOver(
  ctx: CredentialsContext,
  owned: SeenCredential,
  openAddresses: readonly string[],
): Promise<Record<string, string>> {
  return (await accessOf(ctx, owned, { withAll: true, open: openAddresses })).values;
}

/** The platform has confirmed that it has the tokens of this generation: nobody else may use them any more. */
export async function recordHandedOver(
  { store }: { store: Store },
  ref: CredentialRef,
  generation: number,
): Promise<void> {
  await credentials.dropTokens(store.db, ref, generation);
}

/** What a connector refreshes with. The operator has agreed to it in the template. */
async function refreshValues(
  ctx: CredentialsContext,
  row: CredentialRow,
  { refreshToken, taken }: StoredTokens,
): Promise<{ values: Record<string, string>; taken: Record<string, string> }> {
  const client = await openClient(ctx, row.organization_id, row.oauth_client_id, {});
  if (!client) throw new CredentialNeedsAttention('client_refused');
  const [secret] = client.secrets;
  // A redirect comes through the browser of the customer, who could name a host in it. An id is no host.
  const isSafe = ([name, value]: [string, string]) =>
    client.provider.taken?.[name]?.from !== 'redirect' || /^[\w-]+$/.test(value);
  return {
    values: {
      ...(refreshToken !== null && { refresh_token: refreshToken }),
      client_id: client.clientId,
      ...(secret !== undefined && { client_secret: secret }),
    },
    taken: Object.fromEntries(Object.entries(taken).filter(isSafe)),
  };
}

/** An idle credential that is used again is refreshed ahead of its end again. */
async function noteUse({ store }: CredentialsContext, row: SeenCredential, issuedAt: number): Promise<void> {
  if (row.used_at !== null && row.used_at > row.now - usedEveryMs) return;
  const { access_expires_at: expiresAt, refresh_due_at: due } = row;
  const ahead = expiresAt === null ? null : Math.round(expiresAt - marginMs(expiresAt - issuedAt));
  const isSooner = due !== null && ahead !== null && ahead < due;
  await credentials.putUse(store.db, refOf(row), row.generation, isSooner ? ahead : null);
}

export interface HandedBack {
  /** Generation of the tokens that the connector was given. */
  generation: number;
  refreshToken?: string | undefined;
  accessToken?: string | undefined;
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

/**
 * Stores tokens that a connector has refreshed, and returns their generation. Undefined: the tokens that the connector
 * was given were replaced in the meantime, so its own are discarded.
 */
export async function handBack(
  ctx: CredentialsContext,
  ref: CredentialRef,
  given: HandedBack,
): Promise<number | undefined> {
  return await ctx.store.transaction(async (tx) => {
    const row = await credentials.lockCredential(tx, ref);
    const tokens = row && openTokens(ctx.sealer, row);
    if (!row || !tokens) return undefined;
    // Reported again, because the first answer was lost.
    if (row.generation === given.generation + 1 && isAlreadyKept(tokens, given)) return row.generation;
    if (row.generation !== given.generation) return undefined;
    // This service owns all other credentials: reports from connectors are ignored.
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
      access_expires_at: endIn(given, row.now) ?? (isNewAccess ? null : row.access_expires_at),
    });
    return after?.generation;
  });
}

/** A connector may say anything, as a provider may. */
function endIn({ expiresAt }: HandedBack, now: number): number | undefined {
  if (expiresAt === undefined || Number.isNaN(expiresAt)) return undefined;
  return Math.round(Math.min(Math.max(expiresAt, now), now + longestLifeSeconds * 1_000));
}

const isAlreadyKept = (kept: StoredTokens, { accessToken, refreshToken }: HandedBack) =>
  (accessToken ?? kept.accessToken) === kept.accessToken && (refreshToken ?? kept.refreshToken) === kept.refreshToken;

/**
 * What the platform may do with credentials: use those of the workspace that a connector belongs to. A workspace has the same
 * id here and there, and belongs to one organization.
 */
interface NamedByPlatform {
  workspaceId: string;
  credentialId: string;
}

export async function accessForPlatform(ctx: OAuthContext, named: NamedByPlatform, wanted: AccessWanted) {
  return await accessTo(ctx, await refForPlatform(ctx, named), wanted);
}

export async function handBackFromPlatform(ctx: OAuthContext, named: NamedByPlatform, tokens: HandedBack) {
  return await handBack(ctx, await refForPlatform(ctx, named), tokens);
}

async function refForPlatform({ store }: OAuthContext, { workspaceId, credentialId }: NamedByPlatform) {
  const found = await findOwner(store.db, { workspaceId, credentialId });
  if (found === undefined) throw new CredentialNeedsAttention('gone');
  const ref = { organizationId: found.organizationId, workspaceId, credentialId };
  // An earlier version meant to hand it over to this platform.
  if (found.owner === 'platform') await makeServiceOwner({ store }, ref);
  return ref;
}
