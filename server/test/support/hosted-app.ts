/**
 * The service in front of a hosted platform. The platform is the bundled one on a separate port, changed where a hosted
 * one differs: endpoints that a hosted platform lacks are removed, and different answers are given in its form.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Overrides } from '../../src/edge/app.ts';
import type { PlatformAnswer, PlatformRequest, Transport } from '../../src/kernel/platform/transport.ts';
import { platformCredentials } from '../security/support.ts';
import { startTestApp, type TestApp } from './app.ts';
import { createTestDatabase, type TestDatabaseKind } from './databases.ts';
import { type FaultyPlatform, faultyPlatform } from './faults.ts';

export interface HostedApp {
  test: TestApp;
  /** For faults on the way to the platform. */
  faulty: FaultyPlatform;
  /** Whose platform it is; ask it directly with `platform`. */
  host: TestApp;
  /** One more process of the same service, on the same database. It ends with the app. */
  startReplica(): Promise<TestApp>;
  /** Acts as if every settle window had passed and all work that was put off were due. */
  letSettle(): Promise<void>;
  stop(): Promise<void>;
}

/** Whose platform it is. Tests may share it: each app has its own organization there. */
export async function startHost(): Promise<TestApp> {
  const host = await startTestApp('sqlite');
  await host.app.http.listen({ host: '127.0.0.1', port: 0 });
  writeFileSync(registryFileOf(host), JSON.stringify(await registryOf(host)));
  return host;
}

const registryFileOf = (host: TestApp) => join(host.dataDir, 'registry.json');

/** Without a host that tests share, the app has one to itself, which ends with it. */
export async function startHostedApp(
  kind: TestDatabaseKind,
  sharedHost?: TestApp,
  env: Record<string, string> = {},
  overrides: Overrides = {},
): Promise<HostedApp> {
  const host = sharedHost ?? (await startHost());
  const { port } = host.app.http.server.address() as AddressInfo;
  const { clientId, clientSecret } = platformCredentials(host);
  const faulty = faultyPlatform();
  const shared = await createTestDatabase(kind, { migrated: true });
  const organizationId = sharedHost ? randomUUID() : host.organizationId;
  const start = () =>
    startTestApp(kind, {
      env: {
        INLAY_PLATFORM_URL: `http://127.0.0.1:${port}/platform/v1`,
        INLAY_PLATFORM_CLIENT_ID: clientId,
        INLAY_PLATFORM_CLIENT_SECRET: clientSecret,
        INLAY_PLATFORM_ORGANIZATION_ID: organizationId,
        INLAY_PLATFORM_SETTLE_SECONDS: '1',
        INLAY_CONNECTOR_REGISTRY: registryFileOf(host),
        ...env,
      },
      overrides: { ...overrides, wrapTransport: (transport) => faulty.wrapTransport(asHosted(transport)) },
      shared,
    });
  const test = await start();
  const replicas: TestApp[] = [];
  return {
    test,
    faulty,
    host,
    async startReplica() {
      const replica = await start();
      replicas.push(replica);
      return replica;
    },
    async letSettle() {
      const { db } = test.app.store;
      for (const table of ['sources', 'destinations', 'connections', 'definition_copies'] as const) {
        // Not 0, which would say that nothing was ever sent.
        await db.updateTable(table).set({ no_post_before: 1 }).where('no_post_before', '>', 1).execute();
      }
      await db.updateTable('sources').set({ due_at: 0 }).where('due_at', 'is not', null).execute();
      await db.updateTable('source_checks').set({ expires_at: 0 }).execute();
    },
    async stop() {
      for (const replica of replicas) await replica.stop();
      await test.stop();
      await shared.drop();
      if (!sharedHost) await host.stop();
    },
  };
}

/** The document in which the maker of a hosted platform describes its connectors. */
async function registryOf(host: TestApp) {
  const entries = async (kind: 'source' | 'destination') => {
    const { data } = (await host.platform('GET', `/connector_definitions?type=${kind}`)).body;
    return data.map(({ id, name, specification }: Item) => ({
      [`${kind}DefinitionId`]: id,
      name,
      spec: specification,
    }));
  };
  return { sources: await entries('source'), destinations: await entries('destination') };
}

type Item = Record<string, unknown>;

const forbidden = JSON.stringify({ status: 403, title: 'forbidden', data: { message: 'You may not do this.' } });
const tryAgainLater = JSON.stringify({ status: 409, title: 'try-again-later', data: { message: 'Not now.' } });

function asHosted(transport: Transport): Transport {
  return {
    close: () => transport.close(),
    async send(request) {
      const [path = ''] = request.path.split('?');
      // Limits, checks and credentials are no part of its public API.
      if (/^.workspaces.[^/]+.limits$/.test(path)) return { status: 403, headers: {}, text: forbidden };
      if (path === '/credentials') return { status: 404, headers: {}, text: '{}' };
      if (/^.(source|destination)s.check_connection/.test(path)) return { status: 405, headers: {}, text: '{}' };
      const answer = await transport.send(withDeleted(request, path));
      if (answer.status === 404) return refusalOf(answer, request, path);
      return answer.status < 300 && answer.text !== '' ? { ...answer, text: inItsWords(path, answer.text) } : answer;
    },
  };
}

/** Deleted connections may be shown, as deprecated. */
function withDeleted(request: PlatformRequest, path: string): PlatformRequest {
  const isList = request.method === 'GET' && path === '/connections';
  return isList ? { ...request, path: `${request.path}&includeDeleted=true` } : request;
}

/** For a deleted thing the platform says that it is someone else's, or busy. */
function refusalOf(answer: PlatformAnswer, { method }: PlatformRequest, path: string): PlatformAnswer {
  if (/^\/(sources|destinations|connections)\/./.test(path)) return { ...answer, status: 403, text: forbidden };
  if (method === 'POST' && path === '/jobs') return { ...answer, status: 409, text: tryAgainLater };
  return answer;
}

function inItsWords(path: string, text: string): string {
  const body = JSON.parse(text);
  if (!Array.isArray(body.data)) return JSON.stringify(Array.isArray(body) ? body : sayItem(path, body));
  const items = body.data.map((item: Item) => sayItem(path, item));
  // Only jobs come in an order, and links to next pages do not work.
  if (path !== '/jobs') items.reverse();
  return JSON.stringify({ ...body, data: items, next: 'http://127.0.0.1:9/v1/next', previous: '' });
}

let masks = 0;

function sayItem(path: string, item: Item): Item {
  if (path === '/connector_definitions') {
    const { id, name, connectorDefinitionType, version } = item;
    return { id, name, connectorDefinitionType, version };
  }
  if (path.startsWith('/jobs')) {
    const { attempts: _attempts, failureReason: _reason, streams: _streams, moreStreams: _more, ...job } = item;
    return job.status === 'pending' ? { ...job, status: 'queued' } : job;
  }
  if (path.startsWith('/connections')) {
    const { lastJob: _job, nextRunAt: _next, ...connection } = item;
    return connection;
  }
  const shown = JSON.stringify(item).replaceAll(/"\*+"/g, () => `"${'*'.repeat(6 + (masks++ % 8))}"`);
  return JSON.parse(shown);
}
