/**
 * OAuth clients: what an operator has registered with a provider.
 *
 * Invariants: a client belongs to one organization, and its redirect URI to no other client. Its secret is stored
 * sealed, never returned, and sent only to the hosts it was entered for: a change of hosts requires entering the secret
 * again. Every change is recorded in the log.
 */
import { randomBytes } from 'node:crypto';
import type {
  CreateOAuthClientRequest,
  OAuthClient,
  RotateOAuthSecretRequest,
  UpdateOAuthClientRequest,
} from '@inlay/contract/credentials/oauth-clients';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import type { Fault } from '@inlay/contract/errors';
import { databaseTime } from '@inlay/database/open-database';
import { findDefinition } from '../../catalog/definitions/definitions.ts';
import type { SignInClients } from '../../catalog/forms/sign-in.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { OAuthClientRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { OAuthContext } from '../context.ts';
import { newAccountKey } from '../provider/account.ts';
import { accountHosts, addressesOf, type Provider, providerFaults, secretHosts } from '../provider/addresses.ts';
import { DiscoveryFailed, discoverProvider } from '../provider/discovery.ts';
import type { OpenClient } from '../provider/requests.ts';
import * as clients from './clients.store.ts';
import { NoConsent, providerInSpecification } from './consent.ts';
import { presets } from './presets.ts';

const mask = '*'.repeat(10);
const mostClients = 200;
const origins = ['provider', 'issuer', 'endpoints', 'definition_id'] as const;

export async function listClients(ctx: OAuthContext, organizationId: string): Promise<OAuthClient[]> {
  const rows = await clients.listClients(ctx.store.db, organizationId);
  const now = await ctx.store.now();
  return rows.map((row) => present(ctx, row, now));
}

export async function getClient(ctx: OAuthContext, organizationId: string, id: string): Promise<OAuthClient> {
  return present(ctx, found(await clients.findClient(ctx.store.db, organizationId, id)), await ctx.store.now());
}

export async function createClient(
  ctx: OAuthContext,
  organizationId: string,
  request: CreateOAuthClientRequest,
): Promise<OAuthClient> {
  const described = await describe(ctx, organizationId, request);
  if (!described) throw invalidRequest(originFault('one of provider, issuer, endpoints and definition_id is required'));
  refuse(secretFaults(described.provider, request.client_secret, false));
  const id = ctx.runtime.newId();
  return await ctx.store.transaction(async (tx) => {
    if ((await clients.countClients(tx, organizationId)) >= mostClients) {
      throw new AppError('oauth_client_limit', { most: mostClients });
    }
    const now = await databaseTime(tx);
    const secrets = request.client_secret === undefined ? [] : rotateSecrets([], request.client_secret, now, now);
    const row = await clients.insertClient(tx, organizationId, {
      id,
      // It is in an address that the provider knows, and must not be guessed by another organization's client.
      callback_key: randomBytes(16).toString('base64url'),
      name: request.name,
      client_id: request.client_id,
      sealed_secrets: sealSecrets(ctx.sealer, id, secrets),
      sealed_account_key: newAccountKey(ctx.sealer, id),
      secret_expires_at: timeOf(request.client_secret_expires_at),
      secret_warned_days: null,
      secret_hosts: JSON.stringify(secretHosts(described.provider)),
      ...described.columns,
      authorization_params: JSON.stringify(request.authorization_params ?? {}),
      token_params: JSON.stringify(request.token_params ?? {}),
    });
    await ctx.journal.record(tx, organizationId, {
      type: 'oauth_client.created',
      ...entryOf(row),
      change: { before: undefined, after: settingsOf(ctx, row) },
    });
    return present(ctx, row, now);
  });
}

export async function updateClient(
  ctx: OAuthContext,
  organizationId: string,
  id: string,
  request: UpdateOAuthClientRequest,
): Promise<OAuthClient> {
  found(await clients.findClient(ctx.store.db, organizationId, id));
  const described = await describe(ctx, organizationId, request);
  return await ctx.store.transaction(async (tx) => {
    const before = found(await clients.lockClient(tx, organizationId, id));
    const now = await databaseTime(tx);
    const provider = described?.provider ?? providerOf(before);
    const given = request.client_secret;
    const hosts = secretHosts(provider);
    // Tokens of customers stay with their hosts as the secret does.
    const told = [...confirmedHosts(before), ...accountHosts(providerOf(before))];
    const isRedirected = !isConfirmed(before, hosts) || !accountHosts(provider).every((host) => told.includes(host));
    const hasSecret = before.sealed_secrets !== '';
    refuse(
      secretFaults(
        provider,
        given ?? (isRedirected ? undefined : hasSecret ? mask : undefined),
        hasSecret && isRedirected,
      ),
    );
    const old = openSecrets(ctx.sealer, before);
    const row = await clients.updateClient(tx, organizationId, id, {
      ...(request.name !== undefined && { name: request.name }),
      ...(request.client_id !== undefined && { client_id: request.client_id }),
      ...(given !== undefined && { sealed_secrets: sealSecrets(ctx.sealer, id, rotateSecrets([], given, now, now)) }),
      ...(request.client_secret_expires_at !== undefined && {
        secret_expires_at: timeOf(request.client_secret_expires_at),
        ...(timeOf(request.client_secret_expires_at) !== before.secret_expires_at && { secret_warned_days: null }),
      }),
      // The hosts belong to the secret. A client without a secret has none to lose.
      ...((given !== undefined || old.length === 0) && { secret_hosts: JSON.stringify(hosts) }),
      ...described?.columns,
      ...(request.authorization_params && { authorization_params: JSON.stringify(request.authorization_params) }),
      ...(request.token_params && { token_params: JSON.stringify(request.token_params) }),
    });
    const changed = Object.keys(request).sort();
    if (changed.length > 0) {
      await clients.retryOfClient(tx, organizationId, id);
      await ctx.journal.record(tx, organizationId, {
        type: 'oauth_client.updated',
        ...entryOf(row, { changed }),
        change: { before: settingsOf(ctx, before), after: settingsOf(ctx, row) },
      });
    }
    return present(ctx, row, now);
  });
}

export async function rotateSecret(
  ctx: OAuthContext,
  organizationId: string,
  id: string,
  { client_secret, client_secret_expires_at = null, overlap_seconds = 86_400 }: RotateOAuthSecretRequest,
): Promise<OAuthClient> {
  return await ctx.store.transaction(async (tx) => {
    const before = found(await clients.lockClient(tx, organizationId, id));
    const provider = providerOf(before);
    refuse(secretFaults(provider, client_secret, false));
    const now = await databaseTime(tx);
    const hosts = secretHosts(provider);
    // An old secret is not sent to hosts that it was not given for.
    const old = isConfirmed(before, hosts) ? openSecrets(ctx.sealer, before) : [];
    const row = await clients.updateClient(tx, organizationId, id, {
      sealed_secrets: sealSecrets(ctx.sealer, id, rotateSecrets(old, client_secret, now, now + overlap_seconds * 1000)),
      secret_expires_at: timeOf(client_secret_expires_at),
      secret_warned_days: null,
      secret_hosts: JSON.stringify(hosts),
    });
    await clients.retryOfClient(tx, organizationId, id);
    await ctx.journal.record(tx, organizationId, {
      type: 'oauth_client.updated',
      ...entryOf(row, { changed: ['client_secret'] }),
      change: { before: settingsOf(ctx, before), after: settingsOf(ctx, row) },
    });
    return present(ctx, row, now);
  });
}

export async function deleteClient(
  ctx: OAuthContext,
  organizationId: string,
  id: string,
): Promise<{ id: string; deletedAt: number }> {
  return await ctx.store.transaction(async (tx) => {
    const row = found(await clients.lockClient(tx, organizationId, id));
    if (await clients.isClientUsed(tx, organizationId, id)) throw new AppError('oauth_client_in_use');
    await clients.deleteClient(tx, organizationId, id);
    await ctx.journal.record(tx, organizationId, {
      type: 'oauth_client.deleted',
      ...entryOf(row),
      change: { before: settingsOf(ctx, row), after: undefined },
    });
    return { id, deletedAt: await databaseTime(tx) };
  });
}

/** What an operator has to know of each client without its secrets: where its provider sends customers back to. */
export async function listRedirects({ store, publicUrl }: { store: Store; publicUrl: string }, organizationId: string) {
  const rows = await clients.listClients(store.db, organizationId);
  return rows.map((row) => ({
    name: row.name,
    redirectUrl: redirectUrl(publicUrl, row),
    secretExpiresAt: row.secret_expires_at,
  }));
}

export const redirectUrl = (publicUrl: string, { callback_key }: Pick<OAuthClientRow, 'callback_key'>) =>
  `${publicUrl}/oauth/callback/${callback_key}`;

export const signInClients: SignInClients = {
  async find(db, organizationId, id) {
    const row = await clients.findClient(db, organizationId, id);
    return row && { providerName: providerNameOf(row), provider: providerOf(row) };
  },
};

/** As the provider writes it, or as the operator calls a provider that nobody else knows. */
export function providerNameOf(row: Pick<OAuthClientRow, 'preset' | 'name'>): string {
  return (row.preset === null ? undefined : presets[row.preset]?.name) ?? row.name;
}

/** How the provider of a client does OAuth. A preset is looked up, so that a corrected preset reaches every client. */
export function providerOf(row: Pick<OAuthClientRow, 'preset' | 'provider'>): Provider {
  if (row.preset === null) return JSON.parse(row.provider ?? '{}');
  const preset = presets[row.preset];
  if (!preset) throw new Error(`The preset ${row.preset} is missing. Presets must not be removed.`);
  const { name, documentation, tried, notes, ...provider } = preset;
  return provider;
}

/**
 * A client with its secrets, to ask its provider with. Undefined: it is deleted, its secret was not given for the hosts that
 * it would go to now, or a value of a customer would decide whose host that is.
 */
export async function openClient(
  ctx: { store: Store; sealer: Sealer },
  organizationId: string,
  id: string,
  values: Record<string, string>,
): Promise<OpenClient | undefined> {
  const row = await clients.findClient(ctx.store.db, organizationId, id);
  if (!row) return undefined;
  const provider = providerOf(row);
  const secrets = secretsAt(openSecrets(ctx.sealer, row), await ctx.store.now());
  if (secrets.length > 0 && !isConfirmed(row, secretHosts(provider))) return undefined;
  if ((await providerFaults(provider)).length > 0) return undefined;
  return {
    clientId: row.client_id,
    secrets: secrets.map(({ secret }) => secret),
    provider,
    issuer: row.issuer ?? provider.issuer ?? null,
    authorizationParams: JSON.parse(row.authorization_params),
    tokenParams: JSON.parse(row.token_params),
    values,
  };
}
const nowhere = { preset: null, issuer: null, provider: null, definition_id: null };

interface Described {
  provider: Provider;
  columns: Pick<OAuthClientRow, 'preset' | 'issuer' | 'provider' | 'definition_id'>;
}

/** Undefined: the request says nothing about where the provider is. */
async function describe(
  ctx: OAuthContext,
  organizationId: string,
  request: Pick<UpdateOAuthClientRequest, (typeof origins)[number]>,
): Promise<Described | undefined> {
  const given = origins.filter((name) => request[name] !== undefined);
  if (given.length > 1)
    throw invalidRequest(originFault('send only one of provider, issuer, endpoints and definition_id'));
  if (request.provider !== undefined) {
    if (!Object.hasOwn(presets, request.provider)) {
      const known = Object.keys(presets).join(', ');
      throw invalidRequest({ loc: ['body', 'provider'], msg: `use one of ${known}`, type: 'value_error' });
    }
    const columns = { ...nowhere, preset: request.provider };
    return { provider: providerOf(columns), columns };
  }
  if (request.issuer !== undefined) {
    const provider = await discover(ctx, request.issuer);
    refuse(await endpointFaults(ctx, provider, () => ['body', 'issuer']));
    return { provider, columns: { ...nowhere, issuer: request.issuer, provider: JSON.stringify(provider) } };
  }
  if (request.definition_id !== undefined) {
    const provider = await readSpecification(ctx, organizationId, request.definition_id);
    refuse(await endpointFaults(ctx, provider, () => ['body', 'definition_id']));
    const columns = { ...nowhere, definition_id: request.definition_id, provider: JSON.stringify(provider) };
    return { provider, columns };
  }
  if (request.endpoints === undefined) return undefined;
  const provider = request.endpoints;
  refuse(await endpointFaults(ctx, provider, (field) => ['body', 'endpoints', ...field.split('.')]));
  return { provider, columns: { ...nowhere, provider: JSON.stringify(provider) } };
}

/** A copy: a later version of the connector changes nothing until the operator names the connector again. */
async function readSpecification(ctx: OAuthContext, organizationId: string, id: string): Promise<OAuthProvider> {
  const fault = (msg: string) =>
    invalidRequest({ loc: ['body', 'definition_id'], msg, type: 'value_error.definition' });
  const definition = await findDefinition(ctx, { organizationId, kind: 'source', id });
  if (!definition) throw fault('no source definition has this id');
  try {
    return providerInSpecification(definition.specification);
  } catch (error) {
    if (!(error instanceof NoConsent)) throw error;
    throw fault(error.message);
  }
}

async function discover({ network }: OAuthContext, issuer: string): Promise<OAuthProvider> {
  try {
    return await discoverProvider(network, issuer);
  } catch (error) {
    if (!(error instanceof DiscoveryFailed)) throw error;
    throw invalidRequest({ loc: ['body', 'issuer'], msg: error.message, type: 'value_error.url' });
  }
}

async function endpointFaults(
  { network }: OAuthContext,
  provider: OAuthProvider,
  placeOf: (field: string) => string[],
): Promise<Fault[]> {
  const faults = await providerFaults(provider);
  if (faults.length === 0) {
    for (const [field, address] of addressesOf(provider)) {
      const message = network.addressFault(new URL(address.replace(/\{[a-z_]+\}/g, 'x')));
      if (message) faults.push({ field, message });
    }
  }
  return faults.map(({ field, message }) => ({ loc: placeOf(field), msg: message, type: 'value_error.url' }));
}

/** Whether the secret was given for all of these hosts. */
function isConfirmed(row: OAuthClientRow, hosts: readonly string[]): boolean {
  const confirmed = confirmedHosts(row);
  return hosts.every((host) => confirmed.includes(host));
}

/** A secret entered for a preset is entered for the provider, whatever its address in a later release. */
function confirmedHosts(row: OAuthClientRow): string[] {
  return row.preset === null ? JSON.parse(row.secret_hosts) : secretHosts(providerOf(row));
}

function secretFaults(provider: OAuthProvider, secret: string | undefined, isRedirected: boolean): Fault[] {
  const fault = (msg: string, type: Fault['type'] = 'value_error'): Fault[] => [
    { loc: ['body', 'client_secret'], msg, type },
  ];
  if (isRedirected && secret === undefined) {
    return fault('enter this secret again because its address has changed', 'value_error.secret');
  }
  const authentication = provider.client_authentication ?? 'post';
  if (authentication === 'none') return secret === undefined ? [] : fault('this provider does not use a secret');
  if (secret === undefined) return fault('this provider requires a secret');
  if (authentication !== 'private_key_jwt' || secret === mask) return [];
  return isPrivateJwk(secret) ? [] : fault('use a private key in JSON Web Key format');
}

function isPrivateJwk(text: string): boolean {
  try {
    const key: unknown = JSON.parse(text);
    return typeof key === 'object' && key !== null && 'kty' in key && 'd' in key;
  } catch {
    return false;
  }
}

const originFault = (msg: string): Fault => ({ loc: ['body', 'provider'], msg, type: 'value_error' });
const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : null);

function found(row: OAuthClientRow | undefined): OAuthClientRow {
  if (!row) throw new AppError('oauth_client_not_found');
  return row;
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidRequest(...faults);
}

/** What entries of the log say of a client. */
export function entryOf<More extends object>(row: OAuthClientRow, more: More = {} as More) {
  return { data: { oauth_client: { id: row.id, name: row.name, provider: row.preset }, ...more } };
}

/** The settings of a client for the audit. Secrets are fingerprints. */
function settingsOf({ sealer }: OAuthContext, row: OAuthClientRow) {
  return {
    name: row.name,
    provider: row.preset,
    issuer: row.issuer,
    definition_id: row.definition_id,
    endpoints: row.preset === null ? providerOf(row) : null,
    client_id: row.client_id,
    client_secrets: openSecrets(sealer, row).map(({ secret }) => `fingerprint:${sealer.fingerprint(secret, row.id)}`),
    client_secret_expires_at: row.secret_expires_at === null ? null : isoTime(row.secret_expires_at),
    secret_hosts: confirmedHosts(row),
    authorization_params: JSON.parse(row.authorization_params),
    // Some providers want a key among them.
    token_params: Object.fromEntries(
      Object.entries(JSON.parse(row.token_params) as Record<string, string>).map(([name, value]) => [
        name,
        `fingerprint:${sealer.fingerprint(value, row.id)}`,
      ]),
    ),
  };
}

function present({ sealer, publicUrl }: OAuthContext, row: OAuthClientRow, now: number): OAuthClient {
  const { own_suffixes: _, ...provider } = providerOf(row);
  const secrets = secretsAt(openSecrets(sealer, row), now);
  return {
    id: row.id,
    name: row.name,
    redirect_url: redirectUrl(publicUrl, row),
    provider: row.preset,
    issuer: row.issuer,
    definition_id: row.definition_id,
    endpoints: provider,
    authorization_params: JSON.parse(row.authorization_params),
    token_params: JSON.parse(row.token_params),
    client_id: row.client_id,
    client_secret: secrets.length === 0 ? null : mask,
    client_secret_expires_at: row.secret_expires_at === null ? null : isoTime(row.secret_expires_at),
    client_secrets: secrets.map((secret) => presentSecret(sealer.fingerprint(secret.secret, row.id), secret)),
    secret_hosts: confirmedHosts(row),
    needs_secret: secrets.length > 0 && !isConfirmed(row, secretHosts(provider)),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

function presentSecret(fingerprint: string, { createdAt, usedUntil }: ClientSecret) {
  return { fingerprint, created_at: isoTime(createdAt), used_until: usedUntil === null ? null : isoTime(usedUntil) };
}

/** A secret of a client: the one that is used, and during a rotation the one before. They are stored sealed. */
interface ClientSecret {
  secret: string;
  createdAt: number;
  /** Null: until it is replaced. */
  usedUntil: number | null;
}

const secretContextOf = (clientId: string) => `oauth client ${clientId}`;

/** No secrets give an empty text. */
function sealSecrets(sealer: Sealer, clientId: string, secrets: readonly ClientSecret[]): string {
  return secrets.length === 0 ? '' : sealer.seal(Buffer.from(JSON.stringify(secrets)), secretContextOf(clientId));
}

function openSecrets(sealer: Sealer, row: { id: string; sealed_secrets: string }): ClientSecret[] {
  return row.sealed_secrets === ''
    ? []
    : JSON.parse(sealer.open(row.sealed_secrets, secretContextOf(row.id)).toString());
}

const secretsAt = (secrets: readonly ClientSecret[], now: number) =>
  secrets.filter(({ usedUntil }) => usedUntil === null || usedUntil > now);

/** The new one first. Only the last of the old ones is tried, until `end`. */
function rotateSecrets(old: readonly ClientSecret[], secret: string, now: number, end: number): ClientSecret[] {
  const made = { secret, createdAt: now, usedUntil: null };
  const [last] = secretsAt(old, now);
  return last && end > now ? [made, { ...last, usedUntil: Math.min(last.usedUntil ?? end, end) }] : [made];
}
