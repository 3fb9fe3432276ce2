/** Everything the process prints, counts and refuses with, searched for every secret that was in play. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import { type Service, startService } from '../support/service.ts';
import { exchange, openProxy } from './support.ts';

const secret = (name: string) => `${name}-${randomBytes(24).toString('hex')}`;
const configured = {
  operatorToken: secret('operator'),
  clientSecret: secret('client'),
  databasePassword: secret('password'),
  encryptionKey: randomBytes(32).toString('base64'),
};
/** A busy machine takes its time. */
const patience = { timeout: 300_000 };
const hostileName = 'Initech\u001b[31m\nFAKE {"level":"error"}';

let database: TestDatabase;
let proxy: Awaited<ReturnType<typeof openProxy>>;
let dataDir: string;
let service: Service;
let metrics: string;
const issued: string[] = [];
const errorBodies: string[] = [];
const ids: string[] = [];

interface Call {
  token?: string;
  body?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
async function call(method: string, path: string, { token, body, headers }: Call = {}): Promise<any> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (response.status >= 400) errorBodies.push(`${text} ${JSON.stringify([...response.headers])}`);
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function issueTokens(): Promise<void> {
  const token = configured.operatorToken;
  const post = async (path: string, body: object) =>
    (await call('POST', path, { token, body: JSON.stringify(body) })).body;
  const scoped = await post('/api/v1/embedded/scoped-token', { workspace_name: 'Umbrella Corp' });
  const widget = await post('/api/v1/embedded/widget-token', {
    workspace_name: 'Umbrella Corp',
    allowed_origin: 'https://umbrella.example',
  });
  const { token: inner } = JSON.parse(Buffer.from(widget.token, 'base64').toString());
  const operator = await post('/api/v1/operator-tokens', { name: 'Umbrella backend' });
  const rotated = await post(`/api/v1/operator-tokens/${operator.id}/rotate`, {});
  const platform = await call('POST', '/platform/v1/applications/token', {
    body: JSON.stringify({ client_id: 'the-client', client_secret: configured.clientSecret }),
  });
  issued.push(scoped.token, widget.token, inner, operator.token, rotated.token, platform.body.access_token);
  const info = await call('GET', '/api/v1/embedded/scoped-token/info', { token: scoped.token });
  ids.push(info.body['workspace ID'], info.body.organization_id, operator.id);
  await call('GET', '/platform/v1/workspaces', { token: platform.body.access_token });
}

/** Puts each secret everywhere it does not belong. */
async function misuse(text: string): Promise<void> {
  const own = configured.operatorToken;
  const quoted = encodeURIComponent(text);
  for (const path of [
    '/api/v1/workspaces',
    '/api/v1/embedded/scoped-token/info',
    '/widget',
    '/platform/v1/workspaces',
    '/nowhere',
  ]) {
    await call('GET', `${path}?token=${quoted}&cursor=${quoted}&limit=${quoted}&status=${quoted}&sig=${quoted}`);
    await call('GET', `${path}?cursor=${quoted}&limit=${quoted}&offset=${quoted}`, { token: own });
    await call('GET', path, { headers: { cookie: `token=${text}`, 'x-api-key': text, 'x-organization-id': text } });
    await call('GET', path, { token: text });
    await call('GET', path, { headers: { authorization: `Basic ${text}` } });
    await call('DELETE', path, { token: text });
  }
  for (const path of [
    `/api/v1/workspaces/${quoted}`,
    `/${quoted}`,
    `/${quoted}%zz`,
    `/platform/v1/workspaces/${quoted}`,
    `/platform/v1/${quoted}`,
  ]) {
    await call('GET', path);
    await call('GET', path, { token: own });
    await call('PUT', path, { token: own, body: '{}' });
  }
  const bodies = [
    text,
    `"${text}`,
    `{"token":"${text}"`,
    `{"token":${text}}`,
    JSON.stringify({ token: text }),
    JSON.stringify(text),
  ];
  bodies.push(
    JSON.stringify({ workspace_name: `${text}\n`, allowed_origin: text, region_id: text, client_secret: text }),
  );
  bodies.push(JSON.stringify({ [text]: 1, client_id: text, name: 5, permission: text, expires_at: text }));
  const posts = [
    '/api/v1/embedded/scoped-token',
    '/api/v1/embedded/widget-token',
    '/api/v1/operator-tokens',
    '/platform/v1/applications/token',
  ];
  for (const path of posts) {
    for (const body of bodies) {
      await call('POST', path, { body });
      await call('POST', path, { token: own, body });
    }
  }
  await exchange(service.port, `GET /${quoted} HTTP/9.9\r\nAuthorization: Bearer ${text}\r\n\r\n`);
  await exchange(service.port, `${text}\r\n\r\n`);
}

async function causeFailures(): Promise<void> {
  const token = configured.operatorToken;
  const search = `/api/v1/workspaces?name_contains=${encodeURIComponent(issued[0] ?? '')}`;
  // A token that no request has used yet: the service may still remember the store's answers about the others.
  const body = JSON.stringify({ workspace_name: 'Umbrella Corp' });
  const unused: string = (await call('POST', '/api/v1/embedded/scoped-token', { token, body })).body.token;
  issued.push(unused);
  await administer('alter table workspaces rename to mislaid');
  expect((await call('GET', search, { token })).status).toBe(500);
  expect((await call('GET', '/api/v1/embedded/scoped-token/info', { token: unused })).status).toBe(500);
  await administer('alter table mislaid rename to workspaces');

  proxy.set('cut');
  await vi.waitFor(() => expect(service.output()).toMatch(/Database (not responding|connection lost)/), patience);
  expect((await call('GET', search, { token })).status).toBe(503);
  expect((await call('GET', '/health/ready')).status).toBe(503);
  proxy.set('open');
  await vi.waitFor(async () => expect((await call('GET', '/health/ready')).status).toBe(200), patience);
}

beforeAll(async () => {
  database = await createTestDatabase('postgres', { migrated: true });
  const target = new URL(database.url ?? '');
  target.password = configured.databasePassword;
  proxy = await openProxy(target);
  dataDir = await mkdtemp(join(tmpdir(), 'inlay-test-'));
  service = await startService({
    dataDir,
    env: {
      LOG_LEVEL: 'trace',
      INLAY_DATABASE_URL: proxy.url,
      INLAY_OPERATOR_TOKEN: configured.operatorToken,
      INLAY_ENCRYPTION_KEY: configured.encryptionKey,
      INLAY_PLATFORM_CLIENT_ID: 'the-client',
      INLAY_PLATFORM_CLIENT_SECRET: configured.clientSecret,
    },
  });
  await issueTokens();
  await Promise.all([...Object.values(configured), ...issued].map(misuse));
  const token = configured.operatorToken;
  await call('GET', `/api/v1/workspaces?name_contains=${encodeURIComponent(hostileName)}`, { token });
  await call('POST', '/api/v1/embedded/scoped-token', { token, body: JSON.stringify({ workspace_name: hostileName }) });
  await call('GET', `/api/v1/${encodeURIComponent(hostileName)}`, { token });
  await call('POST', '/api/v1/workspaces/sync', { token });
  await causeFailures();
  metrics = (await call('GET', '/metrics')).body;
  await service.stop();
});
afterAll(async () => {
  await service.kill();
  await proxy.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** The parts that someone could use: the whole token, or its signature alone. */
const traces = () => {
  const signatures = issued.filter((token) => token.split('.').length === 3).map((token) => token.split('.')[2] ?? '');
  return [...Object.values(configured), ...issued, ...signatures];
};
const lines = () =>
  service
    .output()
    .split(/(?<=my-first-customer"}'\n\n)/)[1]
    ?.trimEnd()
    .split('\n') ?? [];

describe('No token and no secret', () => {
  it('is in anything the process printed', () => {
    expect(lines().length).toBeGreaterThan(500);
    for (const text of traces()) expect(service.output().includes(text), text.slice(0, 12)).toBe(false);
    expect(service.output()).not.toMatch(/inlay_op_|Bearer eyJ/);
  });

  it('is in the metrics', () => {
    expect(metrics).toContain('inlay_http_requests_total');
    for (const text of traces()) expect(metrics.includes(text), text.slice(0, 12)).toBe(false);
  });

  it('is in any answer that is an error', () => {
    expect(errorBodies.length).toBeGreaterThan(500);
    const all = errorBodies.join('\n');
    for (const text of traces()) expect(all.includes(text), text.slice(0, 12)).toBe(false);
    expect(all).not.toMatch(/select |insert into|node_modules|\.ts:\d|at \w+ \(/);
  });
});

describe('The log', () => {
  it('is JSON line by line, whatever names and searches contain', () => {
    for (const line of lines()) expect(() => JSON.parse(line), line).not.toThrow();
    expect(service.output()).not.toContain('\u001b');
    expect(lines().filter((line) => line.startsWith('FAKE'))).toEqual([]);
  });

  it('has a request id on every line about a request', () => {
    const entries = lines().map((line) => JSON.parse(line));
    const requests = entries.filter(
      ({ msg }) => msg === 'request' || msg === 'Request failed' || msg === 'Unexpected error',
    );
    expect(requests.length).toBeGreaterThan(500);
    for (const entry of requests) expect(entry.reqId, JSON.stringify(entry)).toMatch(/^[\w.:-]{1,64}$/);
    expect(new Set(entries.map(({ msg }) => msg))).toContain('Unexpected error');
  });

  it('names routes, not paths', () => {
    const routes = new Set(lines().map((line) => JSON.parse(line).route));
    expect(routes).toContain('/api/v1/workspaces/:workspace_id');
    expect(routes).toContain('unmatched');
    expect(service.output()).not.toContain('/nowhere');
  });
});

describe('The metrics', () => {
  it('name no tenant', () => {
    for (const text of ['Umbrella', 'Initech', 'umbrella.example', ...ids]) expect(metrics).not.toContain(text);
  });
});
