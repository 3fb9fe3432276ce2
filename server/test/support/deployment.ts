/**
 * The service as it is deployed with a hosted platform: processes, a proxy in between, and functions to look at both
 * sides.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';
import { createTestDatabase } from './databases.ts';
import { type PlatformProxy, startPlatformProxy } from './platform-proxy.ts';
import { type Service, startService } from './service.ts';

export const operatorToken = 'an-operator-token-for-the-fault-tests-001';
export const organizationId = '6d7f3c2e-3a5b-4c8e-9f10-2b3c4d5e6f70';
export const tokenPath = '/api/v1/embedded/scoped-token';

export interface Reply {
  status: number;
  /** The code in X-Inlay-Error, of replies to `call`. */
  code?: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  body: any;
}

export interface Listed {
  id: string;
  name: string;
}

export interface HostedPlatform {
  readonly proxy: PlatformProxy;
  /** The environment with which a service uses this platform, and is the same service each time it starts. */
  readonly env: Record<string, string>;
  /** Speaks to the platform directly, past the proxy. */
  request(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Everything live in the service's organization. */
  workspaces(): Promise<Listed[]>;
  /** Makes active connections in a workspace; gives their ids. */
  makeConnections(workspaceId: string, count: number): Promise<string[]>;
  stop(): Promise<void>;
}

/**
 * Without `runsJobs` every job waits for ever, as while another process of the platform runs the jobs: the connectors of a
 * sync take more CPU time than everything else that a test of set-up does.
 */
export async function startHostedPlatform({ runsJobs = true } = {}): Promise<HostedPlatform> {
  const database = await createTestDatabase('sqlite', { migrated: true });
  const { dataDir } = database;
  const process = await startService({ command: 'platform', dataDir, env: { LOG_LEVEL: 'error' } });
  if (!runsJobs) giveJobsToAnotherProcess(dataDir);
  const base = `${process.url}/platform/v1`;
  const proxy = await startPlatformProxy(base);
  const { clientId, clientSecret } = JSON.parse(await readFile(join(dataDir, 'platform-credentials.json'), 'utf8'));

  async function send(method: string, path: string, body?: unknown, accessToken?: string): Promise<Reply> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { ...outcomeOf(response), body: text === '' ? undefined : JSON.parse(text) };
  }

  const credentials = { client_id: clientId, client_secret: clientSecret };
  const newAccessToken = async () => (await send('POST', '/applications/token', credentials)).body.access_token;
  let accessToken = await newAccessToken();

  const platform: HostedPlatform = {
    proxy,
    env: {
      INLAY_PLATFORM_URL: proxy.url,
      INLAY_PLATFORM_CLIENT_ID: clientId,
      INLAY_PLATFORM_CLIENT_SECRET: clientSecret,
      INLAY_PLATFORM_SETTLE_SECONDS: '1',
      INLAY_OPERATOR_TOKEN: operatorToken,
      INLAY_ORGANIZATION_ID: organizationId,
      INLAY_PUBLIC_URL: 'https://inlay.example',
      INLAY_ENCRYPTION_KEY: 'b2Zm2nT8kVwQ4yJr6sXc1uLe9pHg3aDf5iKo7mNt0vE=',
      LOG_LEVEL: 'warn',
    },
    async request(method, path, body) {
      let reply = await send(method, path, body, accessToken);
      // An access token lives for some minutes only, and a long proof is longer.
      if (reply.status === 401) {
        accessToken = await newAccessToken();
        reply = await send(method, path, body, accessToken);
      }
      if (reply.status >= 300) throw new Error(`the platform answered ${reply.status} to ${method} ${path}`);
      return reply;
    },
    async workspaces() {
      const all: Listed[] = [];
      for (let offset = 0; ; offset += 100) {
        const path = `/workspaces?organizationId=${organizationId}&limit=100&offset=${offset}`;
        const { data } = (await platform.request('GET', path)).body;
        for (const { workspaceId, name } of data) all.push({ id: workspaceId, name });
        if (data.length < 100) return all;
      }
    },
    async makeConnections(workspaceId, count) {
      const source = { name: 's', workspaceId, configuration: { sourceType: 'sample-data', count: 1 } };
      const destination = { name: 'd', workspaceId, configuration: { destinationType: 'local-files', path: 'p' } };
      const { sourceId } = (await platform.request('POST', '/sources', source)).body;
      const { destinationId } = (await platform.request('POST', '/destinations', destination)).body;
      const ids: string[] = [];
      for (let i = 0; i < count; i++) {
        ids.push((await platform.request('POST', '/connections', { sourceId, destinationId })).body.connectionId);
      }
      return ids;
    },
    async stop() {
      await proxy.stop();
      await process.stop();
      await database.drop();
    },
  };
  return platform;
}

function giveJobsToAnotherProcess(dataDir: string): void {
  const file = new SqliteConnection(join(dataDir, 'platform.db'));
  file
    .prepare('insert or replace into runner_lease (id, holder, expires_at) values (1, ?, ?)')
    .run(['another-machine', Number.MAX_SAFE_INTEGER]);
  file.close();
}

const outcomeOf = ({ status, headers }: Response) => ({ status, code: headers.get('x-inlay-error') });

export async function call(service: Service, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { ...outcomeOf(response), body: await response.json() };
}

export function requestToken(service: Service, name: string): Promise<Reply> {
  return call(service, 'POST', tokenPath, { workspace_name: name });
}

export function workspaceOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
}

/** Every workspace the service lists. */
export async function listWorkspaces(service: Service): Promise<(Listed & { status: string })[]> {
  const all: (Listed & { status: string })[] = [];
  let next: string | null = '/api/v1/workspaces?limit=100';
  while (next) {
    const page: Reply = await call(service, 'GET', next);
    if (page.status !== 200) throw new Error(`no list: ${page.status} ${JSON.stringify(page.body)}`);
    all.push(...page.body.data);
    next = page.body.next?.slice(page.body.next.indexOf('/api/')) ?? null;
  }
  return all;
}

/** Asks until the answer is yes, less and less often: each question costs CPU time that the answer may be waiting for. */
export async function eventually(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  withinMs = 480_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 25; !(await isSo()); pauseMs = Math.min(pauseMs * 1.5, 300)) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(pauseMs);
  }
}

/**
 * What a client under load does between two requests while nothing is tested. Without it, the load takes all CPU time
 * for as long as a test waits, such as for the start of a service.
 */
export const pauseOfClient = (ms = 50) => delay(ms);

/** No open operation and no unbound claim is left, and everything in the log has its position. */
export async function untilNothingIsOpen(service: Service, withinMs?: number): Promise<void> {
  const isEmpty = async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const backlog = [...metrics.matchAll(/^inlay_(?:reconciler_backlog\{.*\}|log_pending_entries) (\d+)$/gm)];
    return backlog.length > 0 && backlog.every(([, count]) => count === '0');
  };
  await eventually('the reconciler has nothing left to do', isEmpty, withinMs);
}

/** Sorted pairs, to compare what two sides hold. */
export function byId(workspaces: Listed[]): string[] {
  return workspaces.map(({ id, name }) => `${id.toLowerCase()} ${name}`).sort();
}

/**
 * Moves the recorded times of open work back instead of waiting: then every lease and settle window has ended, as after
 * two minutes. Use it only while no service is at work, because leases that are still needed end as well.
 */
export async function letTwoMinutesPass(store: StoreLocation): Promise<void> {
  const ago = (...columns: string[]) => columns.map((column) => `${column} = ${column} - 120000`).join(', ');
  await writeToStore(
    store,
    `update name_claims set ${ago('lease_until', 'no_post_before', 'created_at')}`,
    `update operations set ${ago('lease_until', 'sending_until', 'unsettled_until', 'next_at', 'created_at')}`,
  );
}

/** The same for sources that are being set up; their windows are as long as a connector may take. */
export async function letSixMinutesPass(store: StoreLocation): Promise<void> {
  const ago = (...columns: string[]) => columns.map((column) => `${column} = ${column} - 360000`).join(', ');
  await letTwoMinutesPass(store);
  await writeToStore(
    store,
    `update sources set ${ago('lease_until', 'no_post_before', 'due_at')}`,
    `update destinations set ${ago('lease_until', 'no_post_before')}`,
    `update connections set ${ago('no_post_before')}`,
    `update rollouts set ${ago('lease_until')}`,
  );
}

export interface StoreLocation {
  url?: string;
  dataDir: string;
}

/** Done directly on the platform, without the service. */
export async function writeToStore({ url, dataDir }: StoreLocation, ...statements: string[]): Promise<void> {
  if (url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  } else {
    const file = new SqliteConnection(join(dataDir, 'inlay.db'));
    for (const statement of statements) file.prepare(statement).run();
    file.close();
  }
}
