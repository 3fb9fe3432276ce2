/* A platform on its own database file in a temporary folder, called over its API like a client would. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify';
import { it, onTestFinished } from 'vitest';
import { isLongRun } from '../../scripts/long-run.ts';
import { createTestDatabase, databaseKinds, type TestDatabaseKind } from '../../server/test/support/databases.ts';
import type { Sealer } from '../src/actors/sealed-configuration.ts';
import { platformApi } from '../src/api.ts';
import { bundledDefinitions } from '../src/definitions/bundled-definitions.ts';
import type { Definition } from '../src/definitions/definitions.ts';
import { type OpenPlatform, openPlatform, type PlatformOptions } from '../src/open-platform.ts';
import { systemRuntime } from '../src/runtime.ts';

export const credentials = { clientId: 'the-client', clientSecret: 'the-secret-of-the-client' };
export const publicUrl = 'http://platform.test/platform/v1';
/** Made by the build that runs before the tests. */
export const connectorsProgram = fileURLToPath(new URL('../../server/dist/connectors/main.js', import.meta.url));

/** Opens what any of the keys has sealed, and seals with the first. */
export function testSealer(...keys: string[]): Sealer {
  const keyOf = (text: string) => createHash('sha256').update(text).digest();
  return {
    seal(text, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyOf(keys[0] ?? ''), nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },
    open(text, context) {
      const sealed = Buffer.from(text, 'base64url');
      for (const key of keys) {
        const decipher = createDecipheriv('aes-256-gcm', keyOf(key), sealed.subarray(0, 12));
        decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-16));
        const opened = decipher.update(sealed.subarray(12, -16));
        try {
          return Buffer.concat([opened, decipher.final()]).toString();
        } catch {
          // It was sealed with another key.
        }
      }
      throw new Error('sealed with another key');
    },
  };
}

/** What opening a platform on a file takes, in every test. */
export function platformOptions(file: string): PlatformOptions {
  const dataDir = file === ':memory:' ? dirname(temporaryFile()) : dirname(file);
  return { file, dataDir, ...credentials, sealer: testSealer('a key'), publicUrl, connectorsProgram };
}

export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-platform-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'platform.db');
}

/** The kind of database that new platforms of the current test get. */
let storeKind: TestDatabaseKind = 'sqlite';
/** The databases of platforms by their files, for tests that open one again. */
const urls = new Map<string, string>();

/**
 * Like `test` of Vitest, for suites that run SQL: every second test runs on PostgreSQL. The long run has all tests on both
 * databases.
 */
export function testOnStores(name: string, run: () => Promise<void>): void {
  for (const kind of kindsInTurn()) it(`${name} [${kind}]`, () => onStore(kind, run));
}

let turn = 0;
const kindsInTurn = (): readonly TestDatabaseKind[] =>
  isLongRun ? databaseKinds : [databaseKinds[turn++ % databaseKinds.length] as TestDatabaseKind];

async function onStore(kind: TestDatabaseKind, run: () => Promise<void>): Promise<void> {
  storeKind = kind;
  try {
    await run();
  } finally {
    storeKind = 'sqlite';
  }
}

async function databaseOf(file: string, isNew: boolean): Promise<string | undefined> {
  if (!isNew || storeKind === 'sqlite') return urls.get(file);
  const { url = '', drop } = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  urls.set(file, url);
  onTestFinished(async () => {
    urls.delete(file);
    await drop();
  });
  return url;
}

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came back
  body: any;
}

const firstMoment = Date.UTC(2030, 0, 1);

/** Generations are numbered from the time at which a connection begins its first one. */
export const nthGeneration = (nth: number) => (firstMoment - Date.UTC(2026, 0)) / 1_000 + nth;

export interface RunningPlatform {
  platform: OpenPlatform;
  app: FastifyInstance;
  file: string;
  clock: { time: number };
  /** With a valid token; `path` is relative to the API. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Reply>;
  inject(options: InjectOptions): Promise<Reply>;
  stop(): Promise<void>;
}

export interface StartOptions extends Partial<PlatformOptions> {
  /** Connectors in addition to the bundled ones. */
  moreDefinitions?: Definition[];
  /** Data directory of another platform, to move both. */
  clock?: RunningPlatform['clock'];
}

export async function startPlatform({
  moreDefinitions = [],
  clock = { time: firstMoment },
  ...options
}: StartOptions = {}): Promise<RunningPlatform> {
  const file = options.file ?? temporaryFile();
  const { clientId, clientSecret } = { ...credentials, ...options };
  const databaseUrl = await databaseOf(file, options.file === undefined);
  const platform = await openPlatform({
    ...platformOptions(file),
    databaseUrl,
    runtime: { ...systemRuntime, now: () => clock.time },
    bundledDefinitions: [...bundledDefinitions, ...moreDefinitions],
    ...options,
  });
  const app = Fastify();
  await app.register(platformApi(platform), { prefix: '/platform/v1' });

  let running = true;
  const stop = async () => {
    if (!running) return;
    running = false;
    await app.close();
    await platform.close();
  };
  onTestFinished(stop);

  const inject = async (request: InjectOptions): Promise<Reply> => {
    const reply = await app.inject(request);
    return { status: reply.statusCode, body: reply.body === '' ? undefined : reply.json() };
  };
  const call: RunningPlatform['call'] = async (method, path, body) => {
    // Each time, since a test may have moved the clock past the life of a token.
    const { token } = await platform.tokens.issue(clientId, clientSecret);
    const headers = { authorization: `Bearer ${token}` };
    return inject({ method, url: `/platform/v1${path}`, headers, ...(body && { payload: body }) });
  };

  return { platform, app, file, clock, call, inject, stop };
}

/** A workspace with a source, a destination and a connection between them; their ids. */
export async function fillWorkspace({ call }: RunningPlatform, name = 'filled') {
  const { workspaceId } = (await call('POST', '/workspaces', { name })).body;
  const source = { name: 'src', workspaceId, configuration: { sourceType: 'sample-data', count: 10 } };
  const destination = { name: 'dst', workspaceId, configuration: { destinationType: 'local-files', path: 'out' } };
  const { sourceId } = (await call('POST', '/sources', source)).body;
  const { destinationId } = (await call('POST', '/destinations', destination)).body;
  const { connectionId } = (await call('POST', '/connections', { sourceId, destinationId })).body;
  return { workspaceId, sourceId, destinationId, connectionId } as Record<
    'workspaceId' | 'sourceId' | 'destinationId' | 'connectionId',
    string
  >;
}
