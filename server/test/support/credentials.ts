/** Credentials of one workspace in a store, without an app: what the rules of server/src/credentials need, and nothing else. */
import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createClient } from '../../src/credentials/clients/clients.ts';
import type { CredentialUsers, OAuthContext } from '../../src/credentials/context.ts';
import type { ProviderNetwork } from '../../src/credentials/provider/network.ts';
import type { CredentialRef } from '../../src/credentials/tokens/credentials.store.ts';
import { type GivenTokens, recordCredential } from '../../src/credentials/tokens/credentials.ts';
import { Refreshes } from '../../src/credentials/tokens/refreshes.ts';
import { byWorker } from '../../src/kernel/cause.ts';
import type { Store } from '../../src/kernel/db/open.ts';
import { type Runtime, systemRuntime } from '../../src/kernel/runtime.ts';
import { createSealer, type Sealer } from '../../src/kernel/sealing.ts';
import { createMetrics } from '../../src/kernel/telemetry/metrics.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import type { TestApp } from './app.ts';

export const providerUrl = 'https://provider.example';
export const endpoints = {
  authorization_url: `${providerUrl}/authorize`,
  token_url: `${providerUrl}/token`,
  revocation_url: `${providerUrl}/revoke`,
};

export interface Replica {
  runtime?: Runtime;
  sealer?: Sealer;
  network: ProviderNetwork;
}

export const metrics = createMetrics();
/** No sources use the credentials of these tests. */
export const noUsers: CredentialUsers = {
  hold: async () => {},
  openAddresses: async () => [],
  changed: async () => {},
  replaced: async () => {},
  connectByLink: async () => {},
};
const usualSealer = createSealer(randomBytes(32));

/** What one replica has. Replicas of one deployment share the store and the sealer. */
export function replicaOf(
  store: Store,
  { runtime = systemRuntime, sealer = usualSealer, network }: Replica,
): OAuthContext {
  return {
    store,
    runtime,
    sealer,
    network,
    log: pino({ level: 'silent' }),
    journal: createJournal({ runtime, cause: byWorker }),
    publicUrl: 'https://inlay.example',
    definitions: { list: async () => [] },
    refreshes: new Refreshes(runtime),
    metrics,
    users: noUsers,
    tokenOwner: { isService: async () => true, current: () => 'service' },
  };
}

export interface Place {
  organizationId: string;
  workspaceId: string;
  oauthClientId: string;
}

/** An organization with a workspace and a client. */
export async function makePlace(ctx: OAuthContext): Promise<Place> {
  const organizationId = randomUUID();
  const workspaceId = randomUUID();
  const { db } = ctx.store;
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'one', platform_organization_id: organizationId, created_at: 0 })
    .execute();
  await db
    .insertInto('workspaces')
    .values({
      ...{ id: workspaceId, organization_id: organizationId, name: 'acme', name_folded: 'acme', desired_name: null },
      ...{ status: 'active', lifecycle: 'live', gen: 1, name_gen: 1, name_settled_at: 0, token_gen: 1 },
      ...{ created_at: 0, updated_at: 0, deleted_at: null, held_since: null, sync_limit: null },
    })
    .execute();
  const { id } = await createClient(ctx, organizationId, {
    name: 'Provider',
    client_id: 'app',
    client_secret: 'very secret',
    endpoints,
  });
  return { organizationId, workspaceId, oauthClientId: id };
}

export async function connect(
  ctx: OAuthContext,
  { organizationId, workspaceId, oauthClientId }: Place,
  given: Partial<GivenTokens> & Pick<GivenTokens, 'accessToken'>,
): Promise<CredentialRef> {
  const row = await ctx.store.transaction((tx) =>
    recordCredential(ctx, tx, {
      ...{ organizationId, workspaceId, oauthClientId, sourceTemplateId: randomUUID() },
      ...{ grant: 'authorization_code', refreshToken: undefined, expiresInSeconds: undefined },
      ...{ scopes: ['read'], values: {}, taken: {}, accountId: null, accountLabel: null },
      ...given,
    }),
  );
  return { organizationId, workspaceId, credentialId: row.id };
}

/** A credential without tokens, where only its row matters. */
export async function insertCredential(
  { app, organizationId, workspaceId }: Pick<TestApp, 'app' | 'organizationId' | 'workspaceId'>,
  workspaceName: string,
  clientId: string,
): Promise<string> {
  const { id } = await app.store.db
    .insertInto('credentials')
    .values({
      ...{ id: randomUUID(), organization_id: organizationId, workspace_id: await workspaceId(workspaceName) },
      ...{ oauth_client_id: clientId, source_template_id: randomUUID(), grant_kind: 'authorization_code' },
      ...{ owner: 'platform', state: 'connected', reason: null, sealed_tokens: '', generation: 1, failures: 0 },
      ...{ access_expires_at: null, refresh_due_at: null, used_at: null, scopes: '[]', provider_values: '{}' },
      ...{ account_id: null, account_label: null, tried_generation: null, tries: 0, lease_id: null, lease_until: 0 },
      ...{ last_error: null, revoke_due_at: null, revoke_tries: 0, revocation: null },
      ...{ created_at: 1, updated_at: 1, signed_in_at: 1, ended_at: null },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
