/** What the security tests share: the one refusal, requests byte by byte, forged tokens, further tenants. */
import { type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect } from 'vitest';
import { booksManifest } from '../../../manifests/test/books-manifest.ts';
import { byCommandLine } from '../../src/kernel/cause.ts';
import { readConfig } from '../../src/kernel/config/config.ts';
import { openDataDir } from '../../src/kernel/config/data-dir.ts';
import { openSealer } from '../../src/kernel/config/encryption-keys.ts';
import type { KnownRoute } from '../../src/kernel/http/route-table.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import type { Sealer } from '../../src/kernel/sealing.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import { createOrganization, listOrganizationIds } from '../../src/tenancy/organizations/organizations.ts';
import { openSigningKeys, type SigningKeys } from '../../src/tenancy/tokens/signing-keys.ts';
import type { Answer, RequestOptions, TestApp } from '../support/app.ts';
import { eventually } from '../support/deployment.ts';
import { httpApi } from '../support/pipelines.ts';

export const infoPath = '/api/v1/embedded/scoped-token/info';
export const unknownId = '00000000-0000-4000-8000-000000000000';

/** Everything in an answer that a caller could compare, without the parts that always differ. */
export function essence({ status, headers, text }: Answer) {
  const {
    date: _date,
    'x-request-id': _id,
    'x-trace-id': _trace,
    'ratelimit-remaining': _left,
    'ratelimit-reset': _reset,
    ...rest
  } = headers;
  return { status, headers: rest, text };
}

/** The same 401, to the byte, whatever was wrong with the token. */
export function expectSame401(answer: Answer, method = 'GET'): void {
  const { status, headers, text } = answer;
  expect({ status, challenge: headers['www-authenticate'], type: headers['content-type'], text }).toEqual({
    status: 401,
    challenge: 'Bearer',
    type: 'application/json; charset=utf-8',
    text: method === 'HEAD' ? '' : '{"detail":"Invalid authentication credentials"}',
  });
}

/** Whether an operator has to name the workspace on this route. */
export const isInWorkspace = (url: string) => /^\/api\/v1\/integrations\/(sources|connections)\b/.test(url);

/** A route's address with these values for its parameters, and for the workspace where one is to be named. */
export function fill(url: string, parameters: Record<string, string>): string {
  const value = (name: string) => parameters[name] ?? (name === 'version' ? '1' : unknownId);
  const path = url.replace(/:(\w+)/g, (_, name: string) => value(name));
  return isInWorkspace(url) ? `${path}?workspace_id=${value('workspace_id')}` : path;
}

export function routesWith(test: TestApp, access: KnownRoute['access']): KnownRoute[] {
  return test.app.routeTable.routes.filter((route) => route.access === access);
}

export interface Tenant {
  organizationId: string;
  token: string;
  request: TestApp['request'];
}

/** One more organization in the same deployment, with a token of its own. */
export async function addTenant(test: TestApp, name: string): Promise<Tenant> {
  const { id } = await createOrganization(test.app.store, systemRuntime, { name });
  const { token } = await test.app.operatorTokens.create(id, { name });
  const request = (method: string, path: string, options: RequestOptions = {}) =>
    test.request(method, path, { token, ...options });
  return { organizationId: id, token, request };
}

/** A template of each kind with a tag, and their definitions: values for the parameters of every route about them. */
export async function makeTemplates({ request }: Pick<Tenant, 'request'>): Promise<Record<string, string>> {
  const make = async (path: string, body: object) => {
    const answer = await request('POST', `/api/v1/integrations/templates/${path}`, { body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const definitions = '/api/v1/integrations/definitions';
  const { body: sources } = await request('GET', `${definitions}/sources?name=sample`);
  const manifest = booksManifest({ url: 'https://api.example.com' });
  const added = await request('POST', `${definitions}/sources`, { body: { manifest } });
  expect(added.status, added.text).toBe(201);
  const { body: destinations } = await request('GET', `${definitions}/destinations?name=files`);
  const sampleDefinitionId: string = sources.definitions[0].sourceDefinitionId;
  const destination_definition_id: string = destinations.destinations[0].id;
  const tags = ['walked'];
  const source = await make('sources', {
    actor_definition_id: sampleDefinitionId,
    partial_default_config: {},
    tags,
  });
  const connection = await make('connections', {
    destination_name: 'walked',
    destination_definition_id,
    destination_config: { path: 'walked' },
    // The sync that a test asks for would be refused while this one is under way.
    sync_on_create: false,
    skip_check: true,
    tags,
  });
  const check = await request('POST', '/api/v1/integrations/destinations/check', {
    body: { connection_template_id: connection.id },
  });
  expect(check.status, check.text).toBe(200);
  const roll = async (path: string) => {
    const answer = await request('PATCH', `/api/v1/integrations/templates/${path}`, { body: { apply: 'all' } });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.rollout_id;
  };
  const plan = async (path: string) => {
    const answer = await request('POST', `/api/v1/integrations/templates/${path}/plan`, { body: {} });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.plan_id;
  };
  return {
    destination_check_id: check.body.id,
    version: '1',
    source_rollout_id: await roll(`sources/${source.id}`),
    connection_rollout_id: await roll(`connections/${connection.id}`),
    source_plan_id: await plan(`sources/${source.id}`),
    connection_plan_id: await plan(`connections/${connection.id}`),
    source_definition_id: added.body.id,
    destination_definition_id,
    source_template_id: source.id,
    connection_template_id: connection.id,
    tag_name: 'walked',
  };
}

/** A source of the template, with its connection, a sync and a check: values for the parameters of their routes. */
/** An event of the tenant's, once the entries have their positions. */
export async function firstEvent({ app }: TestApp, { request }: Pick<Tenant, 'request'>): Promise<string> {
  await app.workers.sequencer.pass();
  return (await request('GET', '/api/v1/events?limit=1')).body.data[0].id;
}

/** A webhook endpoint of the customer, which the operator sees as well. Nothing is ever sent there. */
export async function makeWebhookEndpoint({ request }: Pick<Tenant, 'request'>, token: string): Promise<string> {
  const body = { url: 'https://receiver.example/', enabled: false };
  const answer = await request('POST', '/api/v1/embedded/webhook-endpoints', { token, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

export async function makeOAuthClient({ request }: Pick<Tenant, 'request'>): Promise<string> {
  const body = { name: 'HubSpot', provider: 'hubspot', client_id: 'app', client_secret: 'secret' };
  const answer = await request('POST', '/api/v1/integrations/oauth/clients', { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

/** A sign-in that the customer has begun. Nobody is ever sent to the provider. */
export async function makeSignIn(
  { request }: Pick<Tenant, 'request'>,
  token: string,
  clientId: string,
): Promise<string> {
  const template = {
    ...{ actor_definition_id: httpApi, name: 'Sign-in', partial_default_config: {} },
    oauth: { oauth_client_id: clientId, fields: { access_token: ['authentication', 'token'] } },
  };
  const made = await request('POST', '/api/v1/integrations/templates/sources', { body: template });
  expect(made.status, made.text).toBe(201);
  const body = { source_template_id: made.body.id };
  const answer = await request('POST', '/api/v1/embedded/oauth/flows', { token, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

/** A test of a sign-in. There has to be a workspace. */
export async function makeOAuthTest({ request }: Pick<Tenant, 'request'>, clientId: string): Promise<string> {
  const template = {
    ...{ actor_definition_id: httpApi, name: 'Tried out', partial_default_config: {} },
    oauth: { oauth_client_id: clientId, fields: { access_token: ['authentication', 'token'] } },
  };
  const made = await request('POST', '/api/v1/integrations/templates/sources', { body: template });
  expect(made.status, made.text).toBe(201);
  const body = { source_template_id: made.body.id };
  const answer = await request('POST', '/api/v1/integrations/oauth/tests', { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

export async function makePipeline(
  { request }: Pick<Tenant, 'request'>,
  workspaceId: string,
  templateId: string,
): Promise<Record<string, string>> {
  const within = `workspace_id=${workspaceId}`;
  const body = { source_template_id: templateId, source_config: { count: 1 } };
  const source = await request('POST', `/api/v1/integrations/sources?${within}`, { body });
  expect(source.status, source.text).toBe(201);
  const check = await request('POST', `/api/v1/integrations/sources/check?${within}`, { body });
  expect(check.status, check.text).toBe(200);
  const { body: connections } = await request('GET', `/api/v1/integrations/connections?${within}`);
  const connection_id: string = connections.data[0].id;
  let job_id = '';
  // The connection is set up in the background.
  await eventually('the sync of a new connection starts', async () => {
    const job = await request('POST', `/api/v1/integrations/connections/${connection_id}/sync?${within}`);
    job_id = job.body.id;
    return job.status === 200;
  });
  return { source_id: source.body.id, check_id: check.body.id, connection_id, job_id };
}

/** A retry of the cause of a pipeline's connection, which fails for a reason of its own. */
export async function makeCauseRetry(
  { app }: Pick<TestApp, 'app'>,
  { request }: Pick<Tenant, 'request'>,
  connectionId: string | undefined,
): Promise<string> {
  const cause = randomUUID().replaceAll('-', '');
  let id = '';
  // News of jobs may take away the cause that is set here.
  await eventually('a retry of the cause begins', async () => {
    const failing = app.store.db.updateTable('connections').set({ cause });
    await failing.where('id', '=', connectionId ?? '').execute();
    const answer = await request('POST', '/api/v1/integrations/causes/retries', { body: { cause } });
    id = answer.body.id;
    return answer.status === 200;
  });
  return id;
}

export async function widgetToken(
  test: Pick<TestApp, 'request'>,
  request: object,
): Promise<{ whole: string; inner: string; url: URL }> {
  const body = { workspace_name: 'acme', allowed_origin: 'https://app.example', ...request };
  const answer = await test.request('POST', '/api/v1/embedded/widget-token', { body });
  expect(answer.status, answer.text).toBe(200);
  const whole: string = answer.body.token;
  const { token, widgetUrl } = JSON.parse(Buffer.from(whole, 'base64').toString());
  return { whole, inner: token, url: new URL(widgetUrl) };
}

export function platformCredentials({ dataDir }: { dataDir: string }): { clientId: string; clientSecret: string } {
  return JSON.parse(readFileSync(join(dataDir, 'platform-credentials.json'), 'utf8'));
}

export function sealerOf(test: TestApp, env: Record<string, string> = {}): Sealer {
  return openSealer(readConfig(env).secrets, openDataDir(test.dataDir));
}

/** What changes of keys need to write log entries. */
export const logOfTest = {
  journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
  listOrganizationIds,
};

/** The service's own keys, opened the way it opens them. */
export async function keysOf(test: TestApp, env: Record<string, string> = {}): Promise<SigningKeys> {
  const log = pino({ level: 'silent' });
  const { store } = test.app;
  return await openSigningKeys({ store, sealer: sealerOf(test, env), runtime: systemRuntime, log, ...logOfTest });
}

export const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token with any header and any claims, really signed with the key. */
export function signToken(header: unknown, claims: unknown, key: KeyObject): string {
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

export function readToken(token: string): {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  parts: [string, string, string];
} {
  const parts = token.split('.') as [string, string, string];
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: read(parts[0]), claims: read(parts[1]), parts };
}

export interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

/** Sends exactly these bytes and gives what came back by the time the server ended the connection. */
export async function exchange(port: number, request: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  return readAnswer(await untilClosed(socket));
}

/** Everything that arrives until the other side ends the connection. */
export async function untilClosed(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  // A reset after the answer is an end as well; `once()` of events would take it for a failure.
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}

export function readAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end).toLowerCase();
  const body = text.slice(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]),
    head,
    body: head.includes('transfer-encoding: chunked') ? joinChunks(body) : body,
  };
}

function joinChunks(text: string): string {
  const start = text.indexOf('\r\n') + 2;
  const size = Number.parseInt(text, 16);
  return size > 0 ? text.slice(start, start + size) + joinChunks(text.slice(start + size + 2)) : '';
}

/** A connection to a database that can be cut, stalled and repaired. */
export async function openProxy(target: URL) {
  const sockets = new Set<Socket>();
  /** The number of connections made while the way was open. */
  const held = new Set<Socket>();
  let mode: 'open' | 'cut' | 'stalled' = 'open';
  let swallowed: (() => void) | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (mode === 'cut') return void client.destroy();
    if (mode === 'stalled') return;
    const upstream = connect(Number(target.port), target.hostname);
    keep(upstream);
    client.on('data', (chunk) => {
      if (held.has(client)) swallowed?.();
      else upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    /** cut: all connections end and new ones are refused. stalled: all connections end, and new ones get no answer. */
    set(next: typeof mode) {
      mode = next;
      if (mode !== 'open') end();
    },
    /** Open connections stay, but no data on them arrives any more. Resolves when something was sent. */
    async swallow(): Promise<void> {
      for (const socket of sockets) held.add(socket);
      await new Promise<void>((resolve) => {
        swallowed = resolve;
      });
    },
    async close() {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
