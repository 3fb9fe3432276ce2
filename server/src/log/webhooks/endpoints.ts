/**
 * Webhook endpoints: where an organization, or a customer for its own workspace, has events sent. This file keeps their
 * settings and keys; delivery.worker.ts sends.
 *
 * What always holds: every change has its entry in the log. Secrets and values of headers are stored sealed; a secret is
 * shown in the answer that makes it and nowhere else. The headers of one address are never sent to another.
 */
import type { Fault } from '@inlay/contract/errors';
import type {
  CreateWebhookEndpointRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookKeySet,
} from '@inlay/contract/log/webhook-endpoints';
import { databaseTime } from '@inlay/database/open-database';
import { publicKeyOf } from 'inlay-webhooks/signatures';
import type { WebhookEndpointRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { WebhooksContext } from './context.ts';
import type { Owner } from './endpoints.store.ts';
import * as endpoints from './endpoints.store.ts';
import * as keys from './keys.ts';
import type { EndpointFilter } from './matching.ts';
import { plainHttpWords } from './sending.ts';

export type { Owner } from './endpoints.store.ts';

const mask = '*'.repeat(10);
const maxOfOrganization = 50;
const maxOfWorkspace = 5;
/** Headers that the service or HTTP itself sets. */
const ownHeaders =
  /^(webhook-.*|host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|user-agent|accept-encoding|traceparent|proxy-.*)$/i;

export async function listEndpoints(ctx: WebhooksContext, owner: Owner): Promise<WebhookEndpoint[]> {
  const rows = await endpoints.listEndpoints(ctx.store.db, owner);
  const now = await ctx.store.now();
  return rows.map((row) => present(ctx, row, now));
}

export async function getEndpoint(ctx: WebhooksContext, owner: Owner, id: string): Promise<WebhookEndpoint> {
  return present(ctx, await getRow(ctx, owner, id), await ctx.store.now());
}

export async function getRow(ctx: WebhooksContext, owner: Owner, id: string): Promise<WebhookEndpointRow> {
  return found(await endpoints.findEndpoint(ctx.store.db, owner, id));
}

/** For receivers, who have no token. */
export async function getKeySet(ctx: WebhooksContext, id: string): Promise<WebhookKeySet> {
  const row = found(await endpoints.findEndpointById(ctx.store.db, id));
  return keys.keySetOf(keys.keysAt(keys.openKeys(ctx.sealer, row), await ctx.store.now()));
}

export async function createEndpoint(
  ctx: WebhooksContext,
  owner: Owner,
  request: CreateWebhookEndpointRequest,
): Promise<WebhookEndpointWithSecret> {
  const { organizationId, workspaceId } = owner;
  const { signing = 'hmac', secret, headers = {} } = request;
  refuse([...urlFaults(ctx, request.url), ...headerFaults(headers), ...secretFaults(secret, signing)]);
  const id = ctx.runtime.newId();
  return await ctx.store.transaction(async (tx) => {
    await assertRoom(await endpoints.countEndpoints(tx, organizationId), workspaceId);
    const now = await databaseTime(tx);
    const made = keys.makeKeys(signing, secret, now);
    const isEnabled = request.enabled ?? true;
    const row = await endpoints.insertEndpoint(tx, organizationId, {
      id,
      workspace_id: workspaceId ?? null,
      url: new URL(request.url).href,
      description: request.description ?? null,
      types: JSON.stringify(request.types ?? ['*']),
      workspace_ids: listOrNull(request.workspace_ids),
      tags: listOrNull(request.tags),
      sealed_headers: keys.sealHeaders(ctx.sealer, id, headers),
      signing,
      sealed_keys: keys.sealKeys(ctx.sealer, id, made),
      rate: request.rate_per_second ?? null,
      ordered: Number(request.ordered ?? false),
      enabled: Number(isEnabled),
      disabled_reason: isEnabled ? null : 'requested',
    });
    await ctx.journal.record(tx, organizationId, {
      type: 'webhook_endpoint.created',
      ...entryOf(row),
      change: { before: undefined, after: settingsOf(ctx, row) },
    });
    return { ...present(ctx, row, now), secret: made.find(keys.isSecret)?.key ?? null };
  });
}

export async function updateEndpoint(
  ctx: WebhooksContext,
  owner: Owner,
  id: string,
  request: UpdateWebhookEndpointRequest,
): Promise<WebhookEndpoint> {
  const { organizationId } = owner;
  const { url, headers, enabled } = request;
  refuse([...(url === undefined ? [] : urlFaults(ctx, url)), ...headerFaults(headers ?? {})]);
  const updated = await ctx.store.transaction(async (tx) => {
    const before = found(await endpoints.lockEndpoint(tx, owner, id));
    const kept = keys.openHeaders(ctx.sealer, before);
    refuse(redirectedSecretFaults(before.url, url, kept, headers));
    const changes = {
      ...(url !== undefined && { url: new URL(url).href }),
      ...(request.description !== undefined && { description: request.description }),
      ...(request.types !== undefined && { types: JSON.stringify(request.types) }),
      ...(request.workspace_ids !== undefined && { workspace_ids: listOrNull(request.workspace_ids) }),
      ...(request.tags !== undefined && { tags: listOrNull(request.tags) }),
      ...(headers !== undefined && { sealed_headers: keys.sealHeaders(ctx.sealer, id, unmasked(headers, kept)) }),
      ...(request.rate_per_second !== undefined && { rate: request.rate_per_second }),
      ...(request.ordered !== undefined && { ordered: Number(request.ordered) }),
    };
    await endpoints.updateEndpoint(tx, organizationId, id, changes);
    const isSwitched = enabled !== undefined && enabled !== (before.enabled === 1);
    if (isSwitched && enabled) await endpoints.enableEndpoint(tx, organizationId, id);
    if (isSwitched && !enabled) await endpoints.disableEndpoint(tx, organizationId, id, 'requested');
    const row = found(await endpoints.findEndpoint(tx, owner, id));
    const changed = Object.keys(request).filter((name) => request[name as keyof typeof request] !== undefined);
    if (changed.length > 0) {
      await ctx.journal.record(tx, organizationId, {
        type: 'webhook_endpoint.updated',
        ...entryOf(row, { changed: changed.sort() }),
        change: { before: settingsOf(ctx, before), after: settingsOf(ctx, row) },
      });
    }
    return present(ctx, row, await databaseTime(tx));
  });
  ctx.wake();
  return updated;
}

export async function deleteEndpoint(
  ctx: WebhooksContext,
  owner: Owner,
  id: string,
): Promise<{ id: string; deletedAt: number }> {
  return await ctx.store.transaction(async (tx) => {
    const row = found(await endpoints.lockEndpoint(tx, owner, id));
    await endpoints.deleteEndpoint(tx, owner.organizationId, id);
    await ctx.journal.record(tx, owner.organizationId, {
      type: 'webhook_endpoint.deleted',
      ...entryOf(row),
      change: { before: settingsOf(ctx, row), after: undefined },
    });
    return { id, deletedAt: await databaseTime(tx) };
  });
}

export async function rotateSecret(
  ctx: WebhooksContext,
  owner: Owner,
  id: string,
  { overlap_seconds = 86_400, secret }: RotateWebhookSecretRequest,
): Promise<WebhookEndpointWithSecret> {
  return await ctx.store.transaction(async (tx) => {
    const row = found(await endpoints.lockEndpoint(tx, owner, id));
    refuse(secretFaults(secret, row.signing));
    const now = await databaseTime(tx);
    const made = keys.makeKeys(row.signing, secret, now);
    const old = keys.keysAt(keys.openKeys(ctx.sealer, row), now);
    const all = keys.rotateKeys(old, made, now + overlap_seconds * 1000);
    const rotated = await endpoints.updateEndpoint(tx, owner.organizationId, id, {
      sealed_keys: keys.sealKeys(ctx.sealer, id, all),
    });
    await ctx.journal.record(tx, owner.organizationId, {
      type: 'webhook_endpoint.updated',
      ...entryOf(rotated, { changed: ['secret'] }),
      change: { before: settingsOf(ctx, row), after: settingsOf(ctx, rotated) },
    });
    return { ...present(ctx, rotated, now), secret: made.find(keys.isSecret)?.key ?? null };
  });
}

/** The settings of an endpoint for the audit. Its keys, its headers and its address may be secret, so they are fingerprints. */
function settingsOf({ sealer }: WebhooksContext, row: WebhookEndpointRow) {
  const secret = (text: string) => `fingerprint:${sealer.fingerprint(text, row.id)}`;
  const listOf = (text: string | null) => (text === null ? null : JSON.parse(text));
  const headers = Object.entries(keys.openHeaders(sealer, row));
  return {
    origin: new URL(row.url).origin,
    url: secret(row.url),
    description: row.description,
    types: listOf(row.types),
    workspace_ids: listOf(row.workspace_ids),
    tags: listOf(row.tags),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, secret(value)])),
    rate_per_second: row.rate,
    ordered: row.ordered === 1,
    enabled: row.enabled === 1,
    keys: keys.openKeys(sealer, row).map(({ key }) => secret(key)),
  };
}

/** What the log says about an endpoint: never its headers, and of its address only where it leads to. */
export function entryOf<More extends object>(row: WebhookEndpointRow, more: More = {} as More) {
  return {
    ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
    data: { webhook_endpoint: { id: row.id, origin: new URL(row.url).origin, description: row.description }, ...more },
  };
}

export function filterOf(row: WebhookEndpointRow): EndpointFilter {
  return {
    types: JSON.parse(row.types),
    workspaceIds: row.workspace_ids === null ? null : JSON.parse(row.workspace_ids),
    tags: row.tags === null ? null : JSON.parse(row.tags),
    ownWorkspaceId: row.workspace_id,
  };
}

function found(row: WebhookEndpointRow | undefined): WebhookEndpointRow {
  if (!row) throw new AppError('webhook_endpoint_not_found');
  return row;
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidRequest(...faults);
}

async function assertRoom(
  all: readonly Pick<WebhookEndpointRow, 'workspace_id'>[],
  workspaceId: string | undefined,
): Promise<void> {
  const own = all.filter(({ workspace_id }) => workspace_id === (workspaceId ?? null));
  const most = workspaceId === undefined ? maxOfOrganization : maxOfWorkspace;
  if (own.length >= most) throw new AppError('webhook_endpoint_limit', { most });
}

function urlFaults({ network }: WebhooksContext, text: string): Fault[] {
  const fault = (msg: string): Fault[] => [{ loc: ['body', 'url'], msg, type: 'value_error.url' }];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return fault('the URL must start with https:// or http://');
  if (url.username !== '' || url.password !== '')
    return fault('the URL must not contain a user name; use a header instead');
  if (url.hash !== '') return fault('the URL must not contain a fragment');
  if (url.protocol === 'http:' && !network.allowPrivateNetworks) return fault(plainHttpWords);
  const hostFault = network.hostFault(url.hostname);
  return hostFault === undefined ? [] : fault(hostFault);
}

function headerFaults(headers: Record<string, string>): Fault[] {
  return Object.entries(headers).flatMap(([name, value]): Fault[] => {
    const loc = ['body', 'headers', name];
    if (ownHeaders.test(name)) return [{ loc, msg: 'this header is set by Inlay', type: 'value_error' }];
    if (/^[\t\x20-\x7e]*$/.test(value)) return [];
    return [{ loc, msg: 'header values must be visible ASCII characters on a single line', type: 'value_error' }];
  });
}

function secretFaults(secret: string | undefined, signing: WebhookEndpointRow['signing']): Fault[] {
  if (secret === undefined) return [];
  const msg =
    signing === 'ed25519' ? 'an endpoint that signs only with Ed25519 has no secret' : keys.secretFault(secret);
  return msg === undefined ? [] : [{ loc: ['body', 'secret'], msg, type: 'value_error' }];
}

/** A principal that may change an address must not be able to read the secrets stored for the old address. */
function redirectedSecretFaults(
  before: string,
  after: string | undefined,
  kept: keys.ExtraHeaders,
  given: Record<string, string> | undefined,
): Fault[] {
  if (after === undefined || new URL(after).origin === new URL(before).origin) return [];
  const names = Object.keys(kept).filter((name) => given === undefined || given[name] === mask);
  return names.map((name) => ({
    loc: ['body', 'headers', name],
    msg: 'enter this secret again because its address has changed',
    type: 'value_error.secret',
  }));
}

/** A masked value stands for the stored one. */
function unmasked(given: Record<string, string>, kept: keys.ExtraHeaders): keys.ExtraHeaders {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === mask && Object.hasOwn(kept, name) ? (kept[name] ?? value) : value,
    ]),
  );
}

const listOrNull = (list: readonly string[] | null | undefined) => (list ? JSON.stringify([...new Set(list)]) : null);
const timeOrNull = (at: number | null) => (at === null ? null : isoTime(at));

function present(ctx: WebhooksContext, row: WebhookEndpointRow, now: number): WebhookEndpoint {
  const current = keys.keysAt(keys.openKeys(ctx.sealer, row), now);
  const { types, workspaceIds, tags } = filterOf(row);
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    url: row.url,
    description: row.description,
    types: [...types],
    workspace_ids: workspaceIds && [...workspaceIds],
    tags: tags && [...tags],
    headers: Object.fromEntries(Object.keys(keys.openHeaders(ctx.sealer, row)).map((name) => [name, mask])),
    signing: row.signing,
    keys: current.map((key) => ({
      scheme: keys.isSecret(key) ? 'hmac' : 'ed25519',
      public_key: keys.isSecret(key) ? null : publicKeyOf(key.key),
      created_at: isoTime(key.createdAt),
      expires_at: timeOrNull(key.expiresAt),
    })),
    rate_per_second: row.rate,
    ordered: row.ordered === 1,
    enabled: row.enabled === 1,
    disabled_reason: row.disabled_reason,
    disabled_at: timeOrNull(row.disabled_at),
    failing_since: timeOrNull(row.failing_since),
    last_delivered_at: timeOrNull(row.last_delivered_at),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
