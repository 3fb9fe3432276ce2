/**
 * Refreshing the tokens of a credential, by one process of all replicas at a time.
 *
 * What always holds: a refresh token is sent only by the holder of the credential's lease, and only while the generation
 * that it belongs to is the present one. Before it is sent, the row says so (`tried_generation`, `tries`). A token whose
 * answer was lost is sent once more, and never a third time. New tokens replace only the generation that they were asked
 * with. Lease and times are the database's; whether the lease still holds is measured with a clock that never jumps, so a
 * process that was paused does not send. The answer of a provider that says that the grant has ended is believed only
 * while nobody else has changed the row.
 */
import type { CredentialReason } from '@inlay/contract/credentials';
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import { byWorker } from '../cause.ts';
import type { Db } from '../db/open.ts';
import type { CredentialRow } from '../db/tables.ts';
import { fillAddress } from './addresses.ts';
import { openClient } from './clients.ts';
import type { OAuthContext, ProviderNetwork, RefreshOutcome } from './context.ts';
import { recordEnd } from './credential-entries.ts';
import type { CredentialRef, SeenCredential } from './credentials.store.ts';
import * as credentials from './credentials.store.ts';
import {
  clientCredentials,
  type Grant,
  type GrantClient,
  jwtBearer,
  NotSent,
  refreshTokens,
  type Tokens,
} from './grants.ts';
import { backoffMs, nextLook } from './refresh-times.ts';
import type { Refreshed } from './refreshes.ts';
import { openTokens, type StoredTokens, sealTokens } from './sealed-tokens.ts';
import type { HostOutcome } from './token-hosts.ts';

/** Longer than two requests, because a client may have two secrets, and the time to write what they brought. */
const leaseMs = 60_000;
/** What a request may take (oauth-network.ts). */
const requestMs = 20_000;
/** After this much of the lease nothing is sent any more: an answer would come too late. */
const sendWithinMs = leaseMs - requestMs - 5_000;
const mostTries = 2;
/** The database may be away for a moment while a provider's answer waits to be stored. */
const storePausesMs = [100, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
const mendableRetryMs = 15 * 60_000;

export const refOf = (row: CredentialRow): CredentialRef => ({
  organizationId: row.organization_id,
  workspaceId: row.workspace_id,
  credentialId: row.id,
});

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
    return { kind: 'later', reason: 'Its connector refreshes it.', isAsked: false };
  if (!canBeRefreshed(ctx, row)) return await atItsEnd(ctx, row);
  const values: Record<string, string> = JSON.parse(row.provider_values);
  const client = await openClient(ctx, row.organization_id, row.oauth_client_id, values);
  if (!client) return await noClient(ctx, row);
  const isSecondTime = row.tried_generation === row.generation && row.tries > 0;
  const leave = await ctx.refreshes.hosts.enter(tokenHostOf(client), { isSecondTime });
  if (!leave) return { kind: 'later', reason: 'The provider does not work at the moment.', isAsked: false };
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
    const grant = await askFor(network, client, taken, tokens, ctx.runtime.now());
    outcome = outcomeOf(grant);
    const work = () => settle(ctx, taken, lease.leaseId, { tokens, client, grant, sentAt });
    const refreshed = await persistently(ctx, taken.id, work);
    ctx.countRefresh(countedAs(grant, refreshed));
    return refreshed;
  } finally {
    leave(outcome);
  }
}

function countedAs(grant: Grant, { kind }: Refreshed): RefreshOutcome {
  if (grant.kind === 'tokens') return 'refreshed';
  if (kind !== 'ended') return 'failed';
  return grant.kind === 'refused' && grant.code === 'invalid_grant' ? 'ended' : 'refused';
}

/** Whether the connector refreshes by itself. Then nobody else does: a refresh token has one owner. */
export async function isHandedOver(db: Db, row: CredentialRow): Promise<boolean> {
  const { organization_id, source_template_id } = row;
  const oauth = await credentials.findTemplateOAuth(db, organization_id, source_template_id);
  if (oauth === null || oauth === undefined) return false;
  return (JSON.parse(oauth) as TemplateOAuth).hand_over === 'refresh_token';
}

export function tokenHostOf({ provider, values }: Pick<GrantClient, 'provider' | 'values'>): string {
  return new URL(fillAddress(provider.refresh_url ?? provider.token_url, values)).host;
}

/** Whether asking again does no harm, whatever became of the last time: nothing is spent. */
const isRepeatable = (row: CredentialRow) => row.grant_kind !== 'authorization_code';

/** A process that was paused must not send: somebody else may have the lease by then. */
function whileLeased({ network, runtime }: OAuthContext, until: number): ProviderNetwork {
  return {
    ...network,
    async request(url, request) {
      if (runtime.elapsed() > until) throw new NotSent('It took too long to begin.');
      return await network.request(url, request);
    },
  };
}

async function askFor(
  network: ProviderNetwork,
  client: GrantClient,
  row: CredentialRow,
  { refreshToken }: StoredTokens,
  now: number,
): Promise<Grant> {
  const scopes: string[] = JSON.parse(row.scopes);
  if (row.grant_kind === 'client_credentials') return await clientCredentials(network, client, scopes);
  if (row.grant_kind === 'jwt_bearer') return await jwtBearer(network, client, scopes, now);
  if (refreshToken === null) return { kind: 'not_sent', reason: 'There is no refresh token.' };
  return await refreshTokens(network, client, refreshToken);
}

function outcomeOf(grant: Grant): HostOutcome {
  if (grant.kind === 'not_sent') return 'not_sent';
  if (grant.kind === 'unknown') return grant.answered ? 'failed' : 'lost';
  return 'definite';
}

/** Whether new tokens can be had without the customer. */
export function canBeRefreshed({ sealer }: Pick<OAuthContext, 'sealer'>, row: CredentialRow): boolean {
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
  if (now.owner !== 'service') return { kind: 'later', reason: 'The platform refreshes it.', isAsked: false };
  const isUsedUp = now.tried_generation === now.generation && now.tries >= mostTries;
  if (now.state === 'connected' && isUsedUp) return await usedUp(ctx, now);
  return now.state === 'connected' ? { kind: 'busy', ms: 1_000 } : { kind: 'ended' };
}

/** Its refresh token was sent as often as it may be, without an answer. The access token may still be good. */
async function usedUp(ctx: OAuthContext, row: SeenCredential): Promise<Refreshed> {
  if (row.access_expires_at !== null && row.access_expires_at > row.now) {
    await credentials.putDue(ctx.store.db, refOf(row), row.generation, row.access_expires_at);
    return { kind: 'later', reason: 'The answers of the provider were lost.', isAsked: true };
  }
  const free = { generation: row.generation, leaseId: null };
  return await needsAttention(ctx, row, free, { reason: 'uncertain', error: row.last_error, dueAt: null });
}

/** The operator has deleted the client, or moved it to hosts that its secret was not given for. */
async function noClient(ctx: OAuthContext, row: CredentialRow): Promise<Refreshed> {
  const dueAt = (await ctx.store.now()) + mendableRetryMs;
  const error = 'The OAuth client cannot be used: it needs its secret anew, or is deleted.';
  const free = { generation: row.generation, leaseId: null };
  return await needsAttention(ctx, row, free, { reason: 'client_refused', error, dueAt });
}

interface Asked {
  tokens: StoredTokens;
  client: GrantClient;
  grant: Grant;
  sentAt: number;
}

async function settle(ctx: OAuthContext, row: SeenCredential, leaseId: string, asked: Asked): Promise<Refreshed> {
  const { grant, tokens } = asked;
  const lease = { generation: row.generation, leaseId };
  if (grant.kind === 'tokens') return await keepTokens(ctx, row, lease, { ...asked, grant });
  const error = withoutSecrets(wordsFor(grant), tokens, asked.client);
  if (grant.kind === 'refused') {
    const reason = reasonOf(row, grant.code);
    const hasEnded = row.access_expires_at !== null && row.access_expires_at <= row.now;
    if (reason === 'revoked' || reason === 'uncertain') {
      return await needsAttention(ctx, row, lease, { reason, error, dueAt: null });
    }
    if (reason === 'client_refused' || hasEnded) {
      await fail(ctx, row, lease, { wasNotSpent: true, error });
      const dueAt = (await ctx.store.now()) + mendableRetryMs;
      return await needsAttention(ctx, row, { ...lease, leaseId: null }, { reason, error, dueAt });
    }
  }
  await fail(ctx, row, lease, { wasNotSpent: grant.kind !== 'unknown', error });
  return { kind: 'later', reason: error, isAsked: true };
}

/** Whether the end of the grant is certain: after a lost answer nobody knows which of the two times ended it. */
function reasonOf(row: CredentialRow, code: string): CredentialReason {
  if (code === 'invalid_client' || code === 'unauthorized_client') return 'client_refused';
  if (code !== 'invalid_grant') return 'refused';
  // The operator's own tokens: no customer has given them.
  if (isRepeatable(row)) return 'client_refused';
  return row.tries > 1 ? 'uncertain' : 'revoked';
}

async function keepTokens(
  ctx: OAuthContext,
  row: SeenCredential,
  lease: { generation: number; leaseId: string },
  { tokens, grant, sentAt }: Asked & { grant: Tokens },
): Promise<Refreshed> {
  const { runtime, sealer, store } = ctx;
  return await store.transaction(async (tx) => {
    if (row.state === 'needs_attention') await ctx.users.hold(tx, row.workspace_id);
    const now = (await credentials.findCredential(tx, refOf(row)))?.now ?? row.now;
    const issuedAt = Math.round(now - (runtime.elapsed() - sentAt));
    const refreshToken = grant.refreshToken ?? tokens.refreshToken;
    const expiresAt = expiryOf(grant, issuedAt);
    const canRefresh = refreshToken !== null || isRepeatable(row);
    const kept = await credentials.putTokens(tx, refOf(row), lease, {
      sealed_tokens: sealTokens(sealer, row.id, {
        accessToken: grant.accessToken,
        refreshToken,
        issuedAt,
        taken: tokens.taken,
      }),
      access_expires_at: expiresAt,
      refresh_due_at: nextLook({ now, expiresAt, canRefresh, usedAt: row.used_at, chance: runtime.random() }),
      // A refresh may narrow what was granted, and mostly says nothing.
      scopes: JSON.stringify(grant.scopes ?? JSON.parse(row.scopes)),
    });
    if (!kept) return { kind: 'fresh' };
    if (row.state === 'needs_attention') await tellUsers(ctx, tx, kept);
    return { kind: kept.state === 'ended' ? 'ended' : 'fresh' };
  });
}

export function expiryOf({ expiresInSeconds }: Pick<Tokens, 'expiresInSeconds'>, issuedAt: number): number | null {
  return expiresInSeconds === undefined ? null : issuedAt + expiresInSeconds * 1_000;
}

async function fail(
  ctx: OAuthContext,
  row: CredentialRow,
  lease: { generation: number; leaseId: string },
  { wasNotSpent, error }: { wasNotSpent: boolean; error: string },
): Promise<void> {
  const pauseMs = backoffMs(row.failures + 1, ctx.runtime.random());
  await credentials.putFailure(ctx.store.db, refOf(row), lease, { wasNotSpent, error, pauseMs });
}

async function needsAttention(
  ctx: OAuthContext,
  row: CredentialRow,
  lease: { generation: number; leaseId: string | null },
  attention: { reason: CredentialReason; error: string | null; dueAt: number | null },
): Promise<Refreshed> {
  return await ctx.store.transaction(async (tx) => {
    await ctx.users.hold(tx, row.workspace_id);
    const noted = await credentials.putNeedsAttention(tx, refOf(row), lease, attention);
    // Somebody else was quicker: what is there now counts.
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
      log.warn({ err, credentialId }, 'what a provider answered could not be stored; it will be tried again');
      await runtime.sleep(pauseMs);
    }
  }
  return await work();
}

function wordsFor(grant: Exclude<Grant, Tokens>): string {
  if (grant.kind !== 'refused') return grant.reason;
  return grant.description === undefined ? grant.code : `${grant.code}: ${grant.description}`;
}

const maxError = 500;

/** Some providers repeat what they were sent. */
function withoutSecrets(text: string, { accessToken, refreshToken }: StoredTokens, { secrets }: GrantClient): string {
  return [accessToken, refreshToken ?? '', ...secrets]
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    .slice(0, maxError);
}
