/**
 * Refreshing the tokens of a credential, by one process of all replicas at a time.
 *
 * What always holds: a refresh token is sent only by the holder of the credential's lease, and only while the generation
 * that it belongs to is the present one. Before it is sent, the row says so (`tried_generation`, `tries`). A token whose
 * answer was lost is sent once more, and never a third time. What was answered does not count, unless it brought tokens: a
 * provider that is unavailable gets the same token for as long as that lasts, and no customer is asked. New tokens replace only the generation that they were asked
 * with. Lease and times are the database's; whether the lease still holds is measured with a clock that never jumps, so a
 * process that was paused does not send. The answer of a provider that says that the grant has ended is believed only
 * while nobody else has changed the row.
 */

import type { TemplateOAuth } from '@inlay/contract/catalog/template-oauth';
import type { CredentialReason } from '@inlay/contract/credentials/credentials';
import { byWorker } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Metrics } from '../../kernel/telemetry/metrics.ts';
import { openClient } from '../clients/clients.ts';
import type { OAuthContext } from '../context.ts';
import { hostToAsk } from '../provider/addresses.ts';
import type { ProviderNetwork } from '../provider/network.ts';
import {
  clientCredentials,
  jwtBearer,
  NotSent,
  type OpenClient,
  refreshTokens,
  type TokenResult,
} from '../provider/requests.ts';
import { coveredScopes, longestDescription, type Tokens, textIn } from '../provider/token-answers.ts';
import type { SeenCredential } from './credentials.store.ts';
import * as credentials from './credentials.store.ts';
import { expiryOf, openTokens, recordEnd, refOf, type StoredTokens, sealTokens } from './credentials.ts';
import { backoffMs, type HostOutcome, hostPauseMs, nextLook, type Refreshed } from './refreshes.ts';

/** Longer than two requests, because a client may have two secrets, and the time to write what they brought. */
const leaseMs = 60_000;
/** What a request may take (provider/network.ts). */
const requestMs = 20_000;
/** After this much of the lease nothing is sent any more: an answer would come too late. */
const sendWithinMs = leaseMs - requestMs - 5_000;
const mostTries = 2;
/** The database may be away for a moment while a provider's answer waits to be stored. */
const storePausesMs = [100, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
const mendableRetryMs = 15 * 60_000;

/** Everybody in this process who wants the same tokens shares one request. */
export function refresh(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  const { flights } = ctx.refreshes;
  const key = `${row.id} ${row.generation}`;
  const running = flights.get(key);
  if (running) return running;
  const flight = refreshOnce(ctx, row).finally(() => flights.delete(key));
  flights.set(key, flight);
  return flight;
}

async function refreshOnce(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  if (await isHandedOver(ctx.store.db, row))
    return { kind: 'later', reason: 'The connector refreshes the tokens itself.', isAsked: false };
  if (!canBeRefreshed(ctx, row)) return await atItsEnd(ctx, row);
  const values: Record<string, string> = JSON.parse(row.provider_values);
  const client = await openClient(ctx, row.organization_id, row.oauth_client_id, values);
  if (!client) return await noClient(ctx, row);
  const leave = await ctx.refreshes.hosts.enter(`${row.organization_id} ${tokenHostOf(client)}`);
  if (!leave) return { kind: 'later', reason: 'The provider is unavailable.', isAsked: false };
  let outcome: HostOutcome | undefined;
  try {
    const leasedAt = ctx.runtime.elapsed();
    const lease = { generation: row.generation, leaseId: ctx.runtime.newId() };
    const most = isRepeatable(row) ? 1_000_000_000 : mostTries;
    const taken = await credentials.takeLease(ctx.store.db, refOf(row), { ...lease, leaseMs, mostTries: most });
    if (!taken) return await whyNotTaken(ctx, row);
    const tokens = openTokens(ctx.sealer, taken);
    if (!tokens) throw new Error(`the credential ${row.id} has no tokens`);
    const network = whileLeased(ctx, leasedAt + sendWithinMs);
    const sentAt = ctx.runtime.elapsed();
    const result = await askFor(network, client, taken, tokens, ctx.runtime.now());
    outcome = outcomeOf(result);
    const work = () => settle(ctx, taken, lease.leaseId, { tokens, client, result, sentAt });
    const refreshed = await persistently(ctx, taken.id, work);
    ctx.metrics.oauthRefresh(countedAs(result, refreshed));
    return refreshed;
  } finally {
    leave(outcome);
  }
}

/** `ended`: the customer must sign in again. `refused`: the operator must fix something. */
function countedAs(result: TokenResult, { kind }: Refreshed): Parameters<Metrics['oauthRefresh']>[0] {
  if (result.kind === 'tokens') return 'refreshed';
  if (kind !== 'ended') return 'failed';
  return result.kind === 'refused' && asksCustomer.has(result.code) ? 'ended' : 'refused';
}

/** Whether the connector refreshes the tokens itself. Then nobody else does: a refresh token has one owner. */
export async function isHandedOver(db: Db, row: CredentialRow): Promise<boolean> {
  const { organization_id, source_template_id } = row;
  const oauth = await credentials.findTemplateOAuth(db, organization_id, source_template_id);
  if (oauth === null || oauth === undefined) return false;
  return (JSON.parse(oauth) as TemplateOAuth).hand_over === 'refresh_token';
}

function tokenHostOf({ provider, values }: Pick<OpenClient, 'provider' | 'values'>): string {
  return hostToAsk(provider, provider.refresh_url ?? provider.token_url, values);
}

/** Whether asking again does no harm, whatever became of the last time: nothing is spent. */
const isRepeatable = (row: CredentialRow) => row.grant_kind !== 'authorization_code';

/** A process that was paused must not send: someone else may have the lease by then. */
function whileLeased({ network, runtime }: OAuthContext, until: number): ProviderNetwork {
  return {
    ...network,
    async request(url, request) {
      if (runtime.elapsed() > until) throw new NotSent('The refresh could not start in time.');
      return await network.request(url, request);
    },
  };
}

async function askFor(
  network: ProviderNetwork,
  client: OpenClient,
  row: CredentialRow,
  { refreshToken }: StoredTokens,
  now: number,
): Promise<TokenResult> {
  const scopes: string[] = JSON.parse(row.scopes);
  if (row.grant_kind === 'client_credentials') return await clientCredentials(network, client, scopes);
  if (row.grant_kind === 'jwt_bearer') return await jwtBearer(network, client, scopes, now);
  if (refreshToken === null) return { kind: 'not_sent', reason: 'There is no refresh token.', isUnreachable: false };
  return await refreshTokens(network, client, refreshToken);
}

/** Undefined: the host had no part in it. */
function outcomeOf(result: TokenResult): HostOutcome | undefined {
  if (result.kind === 'unavailable') return { retryAfterMs: result.retryAfterMs };
  if (result.kind === 'not_sent') return result.isUnreachable ? {} : undefined;
  return result.kind === 'lost' ? {} : 'works';
}

/** Whether new tokens can be had without the customer. */
export function canBeRefreshed({ sealer }: { sealer: Sealer }, row: CredentialRow): boolean {
  return isRepeatable(row) || typeof openTokens(sealer, row)?.refreshToken === 'string';
}

/** There is no refresh token: when the access token ends, the customer has to sign in again. */
async function atItsEnd(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  const { access_expires_at: end, generation } = row;
  if (end === null || end > (await ctx.store.now()))
    return { kind: 'later', reason: 'There is no refresh token.', isAsked: false };
  const attention = { reason: 'expired', error: null, dueAt: null } as const;
  return await needsAttention(ctx, row, { generation, leaseId: null }, attention);
}

/** Nobody got the lease here. The row says why. */
async function whyNotTaken(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  const now = await credentials.findCredential(ctx.store.db, refOf(row));
  if (!now || now.state === 'ended') return { kind: 'ended' };
  if (now.generation !== row.generation) return { kind: 'fresh' };
  if (now.lease_until > now.now) return { kind: 'busy', ms: now.lease_until - now.now };
  if (now.owner !== 'service') return { kind: 'later', reason: 'The platform refreshes the tokens.', isAsked: false };
  const isUsedUp = now.tried_generation === now.generation && now.tries >= mostTries;
  if (now.state === 'connected' && isUsedUp) return await usedUp(ctx, now);
  return now.state === 'connected' ? { kind: 'busy', ms: 1_000 } : { kind: 'ended' };
}

/** Its refresh token was sent as often as it may be, without an answer. The access token may still be good. */
async function usedUp(ctx: OAuthContext, row: SeenCredential): Promise<Refreshed> {
  if (row.access_expires_at !== null && row.access_expires_at > row.now) {
    await credentials.putDue(ctx.store.db, refOf(row), row.generation, row.access_expires_at);
    return { kind: 'later', reason: "The provider's responses were lost.", isAsked: true };
  }
  // A process that was paused may say meanwhile that it has not sent: then the token is not used up.
  const free = { generation: row.generation, leaseId: null, leastTries: mostTries };
  return await needsAttention(ctx, row, free, { reason: 'uncertain', error: row.last_error, dueAt: null });
}

/** The operator has deleted the client, or moved it to hosts that its secret was not given for. */
async function noClient(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  const dueAt = (await ctx.store.now()) + mendableRetryMs;
  const error = 'The OAuth client cannot be used: enter its secret again, or replace it if it was deleted.';
  const free = { generation: row.generation, leaseId: null };
  return await needsAttention(ctx, row, free, { reason: 'client_refused', error, dueAt });
}

interface Asked {
  tokens: StoredTokens;
  client: OpenClient;
  result: TokenResult;
  sentAt: number;
}

async function settle(ctx: OAuthContext, row: SeenCredential, leaseId: string, asked: Asked): Promise<Refreshed> {
  const { result, tokens } = asked;
  const lease = { generation: row.generation, leaseId };
  if (result.kind === 'tokens') return await storeTokens(ctx, row, lease, { ...asked, result });
  const error = withoutSecrets(wordsFor(result), tokens, asked.client);
  if (result.kind === 'refused') {
    const reason = reasonOf(row, result.code);
    const hasEnded = row.access_expires_at !== null && row.access_expires_at <= row.now;
    if (reason === 'revoked' || reason === 'uncertain') {
      return await needsAttention(ctx, row, lease, { reason, error, dueAt: null });
    }
    if (reason === 'client_refused' || hasEnded) {
      await fail(ctx, row, lease, { isSettled: true, error });
      const dueAt = (await ctx.store.now()) + mendableRetryMs;
      return await needsAttention(ctx, row, { ...lease, leaseId: null }, { reason, error, dueAt });
    }
  }
  const retryAfterMs = result.kind === 'unavailable' ? result.retryAfterMs : undefined;
  await fail(ctx, row, lease, { isSettled: result.kind !== 'lost', error, retryAfterMs });
  return { kind: 'later', reason: error, isAsked: true };
}

/** With these the provider wants to see the customer (OpenID Connect Core, 3.1.2.6; some send them to a refresh). */
const asksCustomer = new Set([
  'invalid_grant',
  'interaction_required',
  'consent_required',
  'login_required',
  'account_selection_required',
]);

/** Whether the end of the grant is certain: after a lost answer nobody knows which of the two times ended it. */
function reasonOf(row: CredentialRow, code: string): CredentialReason {
  if (code === 'invalid_client' || code === 'unauthorized_client') return 'client_refused';
  if (!asksCustomer.has(code)) return 'refused';
  // The operator's own tokens: no customer has given them.
  if (isRepeatable(row)) return 'client_refused';
  return row.tries > 1 ? 'uncertain' : 'revoked';
}

async function storeTokens(
  ctx: OAuthContext,
  row: SeenCredential,
  lease: { generation: number; leaseId: string },
  { tokens, client, result, sentAt }: Asked & { result: Tokens },
): Promise<Refreshed> {
  const { runtime, sealer, store } = ctx;
  const missing = await scopesDropped(ctx, row, client, result);
  return await store.transaction(async (tx) => {
    const isNews = row.state === 'needs_attention' || missing.length > 0;
    if (isNews) await ctx.users.hold(tx, row.workspace_id);
    const now = (await credentials.findCredential(tx, refOf(row)))?.now ?? row.now;
    const issuedAt = Math.round(now - (runtime.elapsed() - sentAt));
    const refreshToken = result.refreshToken ?? tokens.refreshToken;
    const expiresAt = expiryOf(result, issuedAt);
    const isOwn = isRepeatable(row);
    const canRefresh = refreshToken !== null || isOwn;
    // The operator's own are requested again: the operator may be granted more meanwhile.
    const attention = missing.length === 0 ? undefined : isOwn ? ('refused' as const) : ('scopes_missing' as const);
    const due = nextLook({ now, expiresAt, canRefresh, usedAt: row.used_at, chance: runtime.random() });
    const kept = await credentials.putTokens(tx, refOf(row), lease, {
      sealed_tokens: sealTokens(sealer, row.id, {
        accessToken: result.accessToken,
        refreshToken,
        issuedAt,
        taken: tokens.taken,
      }),
      access_expires_at: expiresAt,
      refresh_due_at: attention === undefined ? due : isOwn ? now + mendableRetryMs : null,
      // A refresh may narrow what was granted, and mostly says nothing. The operator's own are requested.
      scopes: isOwn || result.scopes === undefined ? row.scopes : JSON.stringify(result.scopes),
      reason: attention ?? null,
      last_error: attention === undefined ? null : `No longer granted: ${missing.join(' ')}`,
    });
    if (!kept) return { kind: 'fresh' };
    if (isNews) await tellUsers(ctx, tx, kept);
    if (attention === 'scopes_missing' && kept.state !== 'ended') {
      await recordEnd(ctx.journal.by(byWorker), tx, { before: row, after: kept }, attention);
    }
    return { kind: kept.state === 'connected' ? 'fresh' : 'ended' };
  });
}

/** What the template requires, was granted before, and is no longer. Signing in brings nobody in without it, either. */
async function scopesDropped(
  { store }: OAuthContext,
  row: CredentialRow,
  { provider }: OpenClient,
  { scopes }: Tokens,
): Promise<string[]> {
  if (scopes === undefined) return [];
  const oauth = await credentials.findTemplateOAuth(store.db, row.organization_id, row.source_template_id);
  const { scopes: required = [] }: TemplateOAuth = JSON.parse(oauth ?? '{}');
  const [before, after] = [JSON.parse(row.scopes) as string[], scopes].map((some) => coveredScopes(provider, some));
  return required.filter((scope) => before?.includes(scope) && !after?.includes(scope));
}

async function fail(
  ctx: OAuthContext,
  row: CredentialRow,
  lease: { generation: number; leaseId: string },
  { isSettled, error, retryAfterMs }: { isSettled: boolean; error: string; retryAfterMs?: number | undefined },
): Promise<void> {
  const pauseMs = Math.max(backoffMs(row.failures + 1, ctx.runtime.random()), hostPauseMs(retryAfterMs));
  const ref = refOf(row);
  const failed = await credentials.putFailure(ctx.store.db, ref, lease, { isSettled, error, pauseMs });
  if (failed || !isSettled) return;
  // The lease went to someone else meanwhile. That this token was not spent counts all the same.
  await ctx.store.transaction(async (tx) => {
    await ctx.users.hold(tx, row.workspace_id);
    const before = await credentials.lockCredential(tx, ref);
    const after = await credentials.returnTry(tx, ref, row.generation);
    if (after && after.state !== before?.state) await tellUsers(ctx, tx, after);
  });
}

async function needsAttention(
  ctx: OAuthContext,
  row: CredentialRow,
  lease: { generation: number; leaseId: string | null; leastTries?: number },
  attention: { reason: CredentialReason; error: string | null; dueAt: number | null },
): Promise<Refreshed> {
  return await ctx.store.transaction(async (tx) => {
    await ctx.users.hold(tx, row.workspace_id);
    const noted = await credentials.putNeedsAttention(tx, refOf(row), lease, attention);
    // Lost the race: the stored tokens count.
    if (!noted) return { kind: 'fresh' };
    await tellUsers(ctx, tx, noted);
    const { reason } = attention;
    if (reason !== 'client_refused' && reason !== 'refused') {
      await recordEnd(ctx.journal.by(byWorker), tx, { before: row, after: noted }, reason);
    }
    return { kind: 'ended' };
  });
}

async function tellUsers({ users, journal }: OAuthContext, tx: Db, row: CredentialRow): Promise<void> {
  await users.changed(journal.by(byWorker), tx, { workspaceId: row.workspace_id, credentialId: row.id });
}

/** An answer of a provider may be the only copy of a token: it is not given up at the first trouble with the database. */
async function persistently<T>(
  { runtime, log }: OAuthContext,
  credentialId: string,
  work: () => Promise<T>,
): Promise<T> {
  for (const pauseMs of storePausesMs) {
    try {
      return await work();
    } catch (err) {
      log.warn({ err, credentialId }, 'Failed to store token response; will retry');
      await runtime.sleep(pauseMs);
    }
  }
  return await work();
}

function wordsFor(result: Exclude<TokenResult, Tokens>): string {
  if (result.kind !== 'refused') return result.reason;
  return result.description === undefined ? result.code : `${result.code}: ${result.description}`;
}

/** Some providers repeat what they were sent. */
function withoutSecrets(text: string, { accessToken, refreshToken }: StoredTokens, { secrets }: OpenClient): string {
  const hidden = [accessToken, refreshToken ?? '', ...secrets]
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return textIn(hidden, longestDescription) ?? '';
}
