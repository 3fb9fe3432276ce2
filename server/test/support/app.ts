/** The whole service in this process, without a port, on a fresh database and the real bundled platform. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pino } from 'pino';
import { type App, createApp, type Overrides } from '../../src/edge/app.ts';
import { readConfig } from '../../src/kernel/config/config.ts';
import { type Runtime, systemRuntime } from '../../src/kernel/runtime.ts';
import { createTestDatabase, type TestDatabase, type TestDatabaseKind } from './databases.ts';

/**
 * Pauses, most of them before a retry, are a tenth of what they are: nothing that a test looks at depends on their length.
 * Limits of time stay as long as they are: on a busy machine, what others do in a moment takes longer.
 */
const quickRuntime: Runtime = { ...systemRuntime, sleep: (ms, signal) => systemRuntime.sleep(ms / 10, signal) };

const endlessMs = 10 * 3_600_000;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  body: any;
}

export interface RequestOptions {
  token?: string | null;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  payload?: string | Buffer;
  headers?: Record<string, string>;
}

export interface TestApp {
  app: App;
  organizationId: string;
  operatorToken: string;
  dataDir: string;
  /** The environment for the command line on the same data. */
  env: Record<string, string>;
  /** With the operator token unless another token, or null for none, is given. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A scoped token for the workspace of that name, made if needed. */
  scopedToken(workspaceName: string): Promise<string>;
  /** The id of the workspace of that name, made if needed. */
  workspaceId(workspaceName: string): Promise<string>;
  /** Speaks to the bundled platform directly, as its own application. */
  platform(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Stops the service and starts it again on the same data. */
  restart(changes?: { env?: Record<string, string>; overrides?: Overrides }): Promise<void>;
  stop(): Promise<void>;
}

const isEndless = (url: string) => /^\/api\/v1\/events\/stream\b/.test(url);

/** The first part of a response that may never end. */
async function beginningOf(stream: Readable): Promise<string> {
  for await (const chunk of stream) return String(chunk);
  return '';
}

/**
 * Retries as `Retry-After` says. With many concurrent requests on a very busy machine, some wait for a connection to
 * PostgreSQL longer than the service allows.
 */
async function untilStoreAnswers(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask();
  for (let again = 0; again < 10 && answer.headers['x-inlay-error'] === 'storage_unavailable'; again++) {
    answer = await ask();
  }
  return answer;
}

export async function startTestApp(
  kind: TestDatabaseKind,
  {
    env = {},
    overrides = {},
    shared,
  }: {
    env?: Record<string, string>;
    overrides?: Overrides;
    /** A database that others use as well. They drop it. */
    shared?: TestDatabase;
  } = {},
): Promise<TestApp> {
  const database = shared ?? (await createTestDatabase(kind, { migrated: true }));
  const { dataDir } = database;
  const environment = {
    INLAY_DATA_DIR: dataDir,
    // No rate limits: how often a test must ask until something is done depends on the machine.
    INLAY_RATE_LIMIT_PER_MINUTE: '0',
    ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}),
    ...env,
  };
  let app: App;
  const start = async (changes: { env?: Record<string, string>; overrides?: Overrides } = {}) => {
    const { config, secrets } = readConfig({ ...environment, ...changes.env });
    app = await createApp(config, secrets, {
      log: pino({ level: 'silent' }),
      runtime: quickRuntime,
      // Tests look at the outcome of a sign-in, however slow the machine is.
      signInPatienceMs: endlessMs,
      ...overrides,
      ...changes.overrides,
    });
    await app.http.ready();
  };
  await start();
  // biome-ignore lint/style/noNonNullAssertion: assigned by start()
  const operatorToken = env.INLAY_OPERATOR_TOKEN ?? (await app!.makeFirstOperatorToken()) ?? '';

  async function send(method: string, url: string, token: string | null, options: RequestOptions): Promise<Answer> {
    const payload = options.payload ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await app.http.inject({
      method: method as 'GET',
      url,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(payload === undefined ? {} : { payload }),
      ...(isEndless(url) && { payloadAsStream: true }),
    });
    const text = response.body ?? (await beginningOf(response.stream()));
    const isJson = /^application\/json(;|$)/.test(String(response.headers['content-type']));
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  let platformToken: string | undefined;
  const test: TestApp = {
    get app() {
      return app;
    },
    get organizationId() {
      return app.organization.id;
    },
    operatorToken,
    dataDir,
    env: environment,
    request: (method, path, options = {}) =>
      send(method, path, options.token === undefined ? operatorToken : options.token, options),
    async scopedToken(workspaceName) {
      const body = { workspace_name: workspaceName };
      const answer = await untilStoreAnswers(() => test.request('POST', '/api/v1/embedded/scoped-token', { body }));
      if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.text}`);
      return answer.body.token;
    },
    async workspaceId(workspaceName) {
      const token = await test.scopedToken(workspaceName);
      const answer = await untilStoreAnswers(() =>
        test.request('GET', '/api/v1/embedded/scoped-token/info', { token }),
      );
      if (answer.status !== 200) throw new Error(`the token is refused: ${answer.status} ${answer.text}`);
      return answer.body['workspace ID'];
    },
    async platform(method, path, body) {
      if (platformToken === undefined) {
        const { clientId, clientSecret } = JSON.parse(readFileSync(join(dataDir, 'platform-credentials.json'), 'utf8'));
        const credentials = { client_id: clientId, client_secret: clientSecret };
        const answer = await send('POST', '/platform/v1/applications/token', null, { body: credentials });
        platformToken = String(answer.body.access_token);
      }
      return await send(method, `/platform/v1${path}`, platformToken, { body });
    },
    async restart(changes) {
      await app.close();
      await start(changes);
    },
    async stop() {
      await app.close();
      // A worker keeps what a test file has declared. What the file has stopped must not stay in memory with it.
      app = undefined as never;
      if (!shared) await database.drop();
    },
  };
  return test;
}
