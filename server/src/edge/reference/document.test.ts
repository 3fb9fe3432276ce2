import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCatalogue } from '@inlay/contract/error-catalogue';
import { operations } from '@inlay/contract/operations';
import type { Operation } from '@inlay/contract/operations/operation';
import { formats } from '@inlay/contract/text/formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, startTestApp, type TestApp } from '../../../test/support/app.ts';
import { crmId, registryDocument, registryEnvironment, warehouseId } from '../../../test/support/connector-registry.ts';
import { insertCredential } from '../../../test/support/credentials.ts';
import {
  answering,
  faultyPlatform,
  isCreate,
  isDelete,
  isList,
  isRename,
  unreachable,
} from '../../../test/support/faults.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate, sampleData } from '../../../test/support/pipelines.ts';
import { virtualRuntime } from '../../../test/support/virtual-time.ts';
import { quartzFormat } from '../../catalog/templates/cron.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { componentName, inlineComponents } from './components.ts';
import { type Endpoint, endpointsOf, firstExample, type Media, type OpenApiDocument } from './document.ts';

/**
 * How many good calls stand between two troubles. A request that fails is tried three times at most, so a breaker never sees
 * half of its last calls fail.
 */
const goodCalls = 8;

let test: TestApp;
let document: OpenApiDocument & { components: { securitySchemes: object; headers: object } };
let endpoints: Endpoint[];

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_CUSTOMER_WEBHOOKS: 'true' } });
  ({ body: document } = await test.request('GET', '/openapi.json', { token: null }));
  endpoints = endpointsOf(inlineComponents(document));
});
afterAll(() => test.stop());

const nameOf = ({ method, path }: Endpoint) => `${method.toUpperCase()} ${path}`;

const destinationChecks = '/api/v1/integrations/destinations/check';
const discovery = '/api/v1/integrations/sources/discover';

describe('The OpenAPI document', () => {
  it('holds every operation of the contract, which are all routes of the API, and nothing else', () => {
    const routes = test.app.routeTable.routes
      .filter(({ url, method }) => /^\/(api\/v1|\.well-known)\//.test(url) && method !== 'HEAD')
      .map(({ url, method }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
    expect(routes.length).toBeGreaterThan(15);
    expect(endpoints.map(nameOf).sort()).toEqual(routes.sort());
    const table = Object.values(operations).flatMap((group): Operation[] => Object.values(group));
    expect(table.map(({ route }) => route).sort()).toEqual(routes);
  });

  it('says everything that OpenAPI 3.1 asks for', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Inlay' },
      servers: [{ url: expect.any(String) }],
    });
    const schemes = Object.keys(document.components.securitySchemes);
    for (const endpoint of endpoints) {
      const { path, parameters = [], security = [], responses } = endpoint;
      const declared = parameters.filter((parameter) => parameter.in === 'path' && parameter.required);
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      expect(schemes).toEqual(expect.arrayContaining(security.flatMap(Object.keys)));
      for (const { description } of Object.values(responses)) expect(description).toMatch(/^(?!Default Response)./);
    }
  });

  it('names every operation, and no two alike', () => {
    const ids = Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .map(({ operationId }) => operationId);
    expect(ids).toContain('generateScopedToken');
    expect(ids).toContain('revokeAllTokensOfWorkspace');
    expect(new Set(ids).size).toBe(endpoints.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
  });

  it('says what every group of operations is for', () => {
    const described = (document.tags ?? []).filter(({ description }) => description).map(({ name }) => name);
    const used = endpoints.flatMap(({ tags = [] }) => tags);
    expect(used.length).toBeGreaterThan(15);
    expect(described).toEqual(expect.arrayContaining([...new Set(used)]));
  });

  it('says that a body may be left out when it has no required field', async () => {
    const bodies = Object.fromEntries(endpoints.map((one) => [one.operationId, one.requestBody?.required]));
    expect(bodies).toMatchObject({
      generateScopedToken: true,
      createSourceTemplate: true,
      updateWorkspace: false,
      listWorkspaces: undefined,
    });
    const id = await test.workspaceId('untouched');
    expect((await test.request('PUT', `/api/v1/workspaces/${id}`)).status).toBe(200);
  });

  it('names every object that is sent or answered once, as the contract does', async () => {
    const { schemas = {} } = document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Workspace', 'WorkspacePage', 'SyncResult', 'TokenResponse', 'ErrorBody', 'Fault']),
    );
    const contract = new URL('../../../../contract/src/catalog/', import.meta.url);
    const titled = new Set<string>();
    for (const file of readdirSync(contract, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^[\w/-]+\.ts$/.test(name),
    )) {
      const exported: Record<string, { title?: unknown }> = await import(new URL(file, contract).href);
      for (const [name, value] of Object.entries(exported)) {
        if (typeof value?.title !== 'string') continue;
        titled.add(name);
        expect(componentName(value.title), `${file}: ${name}`).toBe(name);
      }
    }
    expect(titled.size).toBeGreaterThan(40);
    // No object of a body or an answer is without a name, however deep it stands.
    const anonymous = /"type":"object","(?:required":\[[^\]]*\],")?properties"/;
    for (const { operationId, requestBody, responses } of endpointsOf(document)) {
      const used = JSON.stringify([requestBody?.content, responses], (key, value) =>
        key === 'example' || key === 'examples' ? undefined : value,
      );
      expect(used, operationId).not.toMatch(anonymous);
    }
  });

  it('describes the headers of its answers', () => {
    const { headers = {} } = document.components;
    const headersOf = (name: string, status: number) =>
      Object.keys(endpoints.find((one) => nameOf(one) === name)?.responses[status]?.headers ?? {});
    const list = 'GET /api/v1/workspaces';
    expect(headersOf(list, 200)).toEqual(
      expect.arrayContaining(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'X-Inlay-Unknown']),
    );
    expect(headersOf(list, 401)).toEqual(['X-Request-Id', 'X-Trace-Id', 'X-Inlay-Error', 'WWW-Authenticate']);
    expect(headersOf(list, 429)).toContain('Retry-After');
    expect(headersOf('GET /api/v1/embedded/scoped-token-info', 200)).toContain('Deprecation');
    expect(headersOf('GET /api/v1/embedded/scoped-token/info', 200)).not.toContain('Deprecation');
    for (const { responses } of endpoints) {
      for (const response of Object.values(responses)) {
        for (const [name, { $ref }] of Object.entries(response.headers ?? {})) {
          expect(headers).toHaveProperty([name]);
          expect($ref).toBe(`#/components/headers/${name}`);
        }
      }
    }
  });

  it('has only valid schemas, and examples that are valid by them', () => {
    const ajv = new Ajv2020({ allErrors: true, strict: false });
    for (const [name, { fault }] of Object.entries(formats)) {
      ajv.addFormat(name, (text: string) => fault(text) === undefined);
    }
    for (const name of ['cursor', 'list-cursor', 'place-cursor']) ajv.addFormat(name, true);
    ajv.addFormat('quartz', (text: string) => quartzFormat.fault(text) === undefined);
    // Most answers have one of a few schemas, and compiling one takes long.
    const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
    const compile = (schema: object | boolean) => {
      const text = JSON.stringify(schema);
      const validate = compiled.get(text) ?? ajv.compile(schema);
      compiled.set(text, validate);
      return validate;
    };
    const check = (where: string, media: Media) => {
      const validate = compile(media.schema ?? false);
      const examples = Object.values(media.examples ?? { only: { value: firstExample(media) } });
      for (const { value } of examples)
        expect({ where, faults: validate(value) ? [] : validate.errors }).toEqual({ where, faults: [] });
    };
    for (const endpoint of endpoints) {
      const { parameters = [], requestBody, responses } = endpoint;
      for (const parameter of parameters.filter(({ example }) => example !== undefined)) {
        check(`${nameOf(endpoint)} ${parameter.name}`, parameter);
      }
      const contents = { body: requestBody, ...responses };
      for (const [place, holder] of Object.entries(contents)) {
        for (const media of Object.values(holder?.content ?? {})) check(`${nameOf(endpoint)} ${place}`, media);
      }
    }
  });
});

/** The literal details that an endpoint may give with a status; digits may differ. */
function documentedDetails(endpoint: Endpoint, status: number): unknown[] {
  const examples = endpoint.responses[status]?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => withoutDigits((value as { detail: unknown }).detail));
}

const withoutDigits = (detail: unknown) => (typeof detail === 'string' ? detail.replace(/\d+/g, '0') : 'a list');

describe('The errors of an endpoint', () => {
  /** What the tests below have provoked, for the last of them. */
  const seen = new Map<string, Set<number>>();

  function find(name: string): Endpoint {
    const endpoint = endpoints.find((one) => nameOf(one) === name);
    if (!endpoint) throw new Error(`${name} is not documented`);
    return endpoint;
  }

  function expectDocumented(endpoint: Endpoint, status: number, answer: Answer): void {
    const name = nameOf(endpoint);
    expect({ name, status: answer.status }).toEqual({ name, status });
    expect(documentedDetails(endpoint, status)).toContain(withoutDigits(answer.body.detail));
    seen.set(name, (seen.get(name) ?? new Set()).add(status));
  }

  async function tokenFor(on: TestApp, { security = [] }: Endpoint): Promise<string> {
    return security.some((schemes) => 'scopedToken' in schemes) ? await on.scopedToken('acme') : on.operatorToken;
  }

  /** By the store, because a limited token has no request to spare for it. */
  async function workspaceOf(on: TestApp): Promise<string> {
    const row = await on.app.store.db
      .selectFrom('workspaces')
      .select('id')
      .where('name', '=', 'acme')
      .executeTakeFirst();
    return row?.id ?? (await on.workspaceId('acme'));
  }

  const bodyOf = ({ requestBody }: Endpoint) => requestBody?.content['application/json'] ?? {};

  /** A call that would be fine but for what `changes` says. */
  async function call(on: TestApp, endpoint: Endpoint, changes: { ids?: string; token?: string; headers?: object }) {
    const { path, method, requestBody } = endpoint;
    const token = changes.token ?? (await tokenFor(on, endpoint));
    const body = requestBody && firstExample(requestBody.content['application/json'] ?? {});
    const url = path
      .replace('{version}', '9')
      .replace(/\{\w+\}/g, changes.ids ?? '00000000-0000-4000-8000-000000000000');
    const isInWorkspace = endpoint.parameters?.some(
      ({ name }) => name === 'workspace_id' && !path.includes(`{${name}}`),
    );
    const query = isInWorkspace ? `?workspace_id=${await workspaceOf(on)}` : '';
    return await on.request(method.toUpperCase(), url + query, { token, body, headers: { ...changes.headers } });
  }

  it('are those of its token: 401, 403 and 429', async () => {
    const limits = { INLAY_RATE_LIMIT_PER_MINUTE: '1', INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: '1' };
    const limited = await startTestApp('sqlite', { env: limits });
    onTestFinished(() => limited.stop());
    const scoped = await limited.scopedToken('acme');
    await limited.request('GET', '/api/v1/embedded/scoped-token/info', { token: scoped });

    const { body } = await test.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'acme', allowed_origin: 'https://app.example.com' },
    });
    const widget = JSON.parse(Buffer.from(body.token, 'base64').toString()).token;
    for (const endpoint of endpoints.filter(({ security = [] }) => security.length > 0)) {
      const isScoped = endpoint.security?.some((schemes) => 'scopedToken' in schemes);
      expectDocumented(endpoint, 401, await call(test, endpoint, { token: 'none' }));
      const foreign = isScoped
        ? { token: widget, headers: { origin: 'https://elsewhere.example.com' } }
        : { headers: { 'x-organization-id': '00000000-0000-4000-8000-000000000000' } };
      expectDocumented(endpoint, 403, await call(test, endpoint, foreign));
      expectDocumented(endpoint, 429, await call(limited, endpoint, isScoped ? { token: scoped } : {}));
    }
  });

  it('are those of its path, query and body: 404 and 422', async () => {
    for (const endpoint of endpoints) {
      const { method, path, requestBody } = endpoint;
      const parameters = (endpoint.parameters ?? []).filter((parameter) => parameter.in !== 'header');
      const token = await tokenFor(test, endpoint);
      if (path.includes('{')) {
        expectDocumented(endpoint, 404, await call(test, endpoint, {}));
        // Neither an id nor a tag.
        expectDocumented(endpoint, 422, await call(test, endpoint, { ids: '%20' }));
      } else if (requestBody) {
        expectDocumented(endpoint, 422, await test.request(method.toUpperCase(), path, { token, payload: '[' }));
      } else if (parameters.length === 0) {
        const strict = { headers: { prefer: 'handling=strict' } };
        expectDocumented(
          endpoint,
          422,
          await test.request(method.toUpperCase(), `${path}?surprise=1`, { token, ...strict }),
        );
      } else {
        const query = 'limit=x&status=x&tags_mode=x&name=%00&workspace_id=x&source_template_id=x&after=x';
        expectDocumented(endpoint, 422, await test.request('GET', `${path}?${query}`, { token }));
      }
    }
  });

  it('are those of what can be read of a body: 413 and 415', async () => {
    const takesManifests = (path: string) => path.startsWith('/api/v1/integrations/definitions/');
    const tooLarge = (path: string) => ' '.repeat((takesManifests(path) ? 4 : 1) * 1_048_576 + 1);
    for (const endpoint of endpoints.filter(({ requestBody }) => requestBody)) {
      const { method, path } = endpoint;
      const token = await tokenFor(test, endpoint);
      const send = (payload: string, headers = {}) =>
        test.request(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'), { token, payload, headers });
      expectDocumented(endpoint, 413, await send(tooLarge(path)));
      expectDocumented(endpoint, 415, await send('x', { 'content-type': 'text/plain' }));
    }
  });

  it('are those of its Idempotency-Key: 409 while the first request is carried out', async () => {
    const stillRunning = { answered_at: null, lease_until: Date.now() + 3_600_000 };
    for (const endpoint of endpoints.filter(({ method }) => method === 'post')) {
      const headers = { 'idempotency-key': randomUUID() };
      const token = await tokenFor(test, endpoint);
      const first = await call(test, endpoint, { token, headers });
      expect(first.status, `${nameOf(endpoint)} ${first.text}`).toBeLessThan(422);
      await test.app.store.db.updateTable('idempotency_keys').set(stillRunning).execute();
      expectDocumented(endpoint, 409, await call(test, endpoint, { token, headers }));
    }
  });

  const token = (body: object) => (name: string, on: TestApp, path: string) =>
    on.request('POST', path, { body: { workspace_name: name, ...body } });
  const onWorkspace = (method: string, body?: object) => async (name: string, on: TestApp) => {
    const id = await on.workspaceId(name);
    return () => on.request(method, `/api/v1/workspaces/${id}`, { body });
  };

  it.each([
    ['POST /api/v1/embedded/scoped-token', isCreate, token({})],
    ['POST /api/v1/embedded/widget-token', isCreate, token({ allowed_origin: 'https://app.example.com' })],
    ['PUT /api/v1/workspaces/{workspace_id}', isRename, onWorkspace('PUT', { name: 'renamed' })],
    ['DELETE /api/v1/workspaces/{workspace_id}', isDelete, onWorkspace('DELETE')],
  ])('are those of the platform: 502, 503 and 504 of %s', async (name, match, prepare) => {
    const endpoint = find(name);
    const troubles = [
      [502, answering(match, 500)],
      [503, unreachable(match)],
      [504, answering(match, 504)],
    ] as const;
    for (const [status, rule] of troubles) {
      const faulty = faultyPlatform();
      const runtime = { ...systemRuntime, sleep: async () => {} };
      const on = await startTestApp('sqlite', { overrides: { runtime, wrapTransport: faulty.wrapTransport } });
      onTestFinished(() => on.stop());
      faulty.rule(rule);
      const prepared = await prepare('acme', on, endpoint.path);
      expectDocumented(endpoint, status, typeof prepared === 'function' ? await prepared() : prepared);
    }
  });

  it('are those of the workspace that is in the way: 409', async () => {
    const faulty = faultyPlatform();
    const runtime = { ...systemRuntime, sleep: async () => {} };
    const on = await startTestApp('sqlite', { overrides: { runtime, wrapTransport: faulty.wrapTransport } });
    onTestFinished(() => on.stop());
    const [id] = [await on.workspaceId('acme'), await on.workspaceId('taken')];
    const put = (name: string) => on.request('PUT', `/api/v1/workspaces/${id}`, { body: { name } });
    expectDocumented(find('PUT /api/v1/workspaces/{workspace_id}'), 409, await put('taken'));

    faulty.rule(unreachable(isDelete));
    await on.request('DELETE', `/api/v1/workspaces/${id}`);
    expectDocumented(find('PUT /api/v1/workspaces/{workspace_id}'), 409, await put('free'));
    for (const kind of ['scoped-token', 'widget-token']) {
      const path = `/api/v1/embedded/${kind}`;
      const body = { workspace_name: 'acme', allowed_origin: 'https://app.example.com' };
      expectDocumented(find(`POST ${path}`), 409, await on.request('POST', path, { body }));
    }
    faulty.rule(unreachable(isList));
    const sync = 'POST /api/v1/workspaces/sync';
    expectDocumented(find(sync), 502, await on.request('POST', '/api/v1/workspaces/sync'));
  });

  it('are those of an operator token that has ended: 409', async () => {
    const path = '/api/v1/operator-tokens';
    const { id } = (await test.request('POST', path, { body: { name: 'ended' } })).body;
    await test.request('DELETE', `${path}/${id}`);
    const rotate = find(`POST ${path}/{operator_token_id}/rotate`);
    expectDocumented(rotate, 409, await test.request('POST', `${path}/${id}/rotate`));
  });

  it('are those of templates: what they name is not there, taken, or of no use', async () => {
    const templates = '/api/v1/integrations/templates';
    const post = (on: TestApp, path: string, body: object) => on.request('POST', `${templates}/${path}`, { body });
    const clone = { original_source_template_id: '00000000-0000-4000-8000-000000000000' };
    for (const path of ['sources', 'sources/preview']) {
      expectDocumented(find(`POST ${templates}/${path}`), 404, await post(test, path, clone));
    }
    const unknown = { original_connection_template_id: clone.original_source_template_id };
    const preview = find(`POST ${templates}/connections/preview`);
    expectDocumented(preview, 404, await post(test, 'connections/preview', unknown));
    for (const name of ['taken', 'free']) expect((await post(test, 'tags', { name })).status).toBe(201);
    expectDocumented(find(`POST ${templates}/tags`), 409, await post(test, 'tags', { name: 'taken' }));
    const rename = await test.request('PUT', `${templates}/tags/free`, { body: { name: 'taken' } });
    expectDocumented(find(`PUT ${templates}/tags/{tag_name}`), 409, rename);

    const directory = mkdtempSync(join(tmpdir(), 'inlay-reference-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const spec = { connectionSpecification: { properties: { name: { type: 'no such type' } } } };
    const broken = {
      sources: registryDocument.sources.map((entry) => ({ ...entry, spec })),
      destinations: registryDocument.destinations.map((entry) => ({ ...entry, spec })),
    };
    const registry = join(directory, 'registry.json');
    writeFileSync(registry, JSON.stringify(registryDocument));
    const runtime = virtualRuntime(Date.now());
    const on = await startTestApp('sqlite', { env: registryEnvironment(registry), overrides: { runtime } });
    onTestFinished(() => on.stop());
    const source = { actor_definition_id: crmId, partial_default_config: {} };
    const connection = {
      destination_name: 'x',
      destination_definition_id: warehouseId,
      destination_config: { host: 'h', password: 'p' },
      skip_check: true,
    };
    const made = [await post(on, 'sources', source), await post(on, 'connections', connection)];
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    writeFileSync(registry, JSON.stringify(broken));
    runtime.advance(60_000);
    for (const path of ['sources', 'sources/preview']) {
      expectDocumented(find(`POST ${templates}/${path}`), 502, await post(on, path, source));
    }
    for (const path of ['connections', 'connections/preview']) {
      expectDocumented(find(`POST ${templates}/${path}`), 502, await post(on, path, connection));
    }
    expectDocumented(
      find(`POST ${destinationChecks}`),
      502,
      await on.request('POST', destinationChecks, { body: { ...connection, connection_template_id: undefined } }),
    );
    expectDocumented(
      find(`POST ${discovery}`),
      502,
      await on.request('POST', discovery, { body: { source_definition_id: crmId, source_config: { name: 'x' } } }),
    );
    const patch = (path: string, body: object) => on.request('PATCH', `${templates}/${path}`, { body });
    expectDocumented(
      find(`PATCH ${templates}/sources/{source_template_id}`),
      502,
      await patch(`sources/${made[0]?.body.id}`, source),
    );
    expectDocumented(
      find(`PATCH ${templates}/connections/{connection_template_id}`),
      502,
      await patch(`connections/${made[1]?.body.id}`, connection),
    );
    for (const [index, kind] of ['source', 'connection'].entries()) {
      const back = await post(on, `${kind}s/${made[index]?.body.id}/rollback`, { version: 1 });
      expectDocumented(find(`POST ${templates}/${kind}s/{${kind}_template_id}/rollback`), 502, back);
      const plan = await post(on, `${kind}s/${made[index]?.body.id}/plan`, index === 0 ? source : connection);
      expectDocumented(find(`POST ${templates}/${kind}s/{${kind}_template_id}/plan`), 502, plan);
    }
  });

  it('are those of causes that no connection has: 404', async () => {
    const retry = find('POST /api/v1/integrations/causes/retries');
    expectDocumented(retry, 404, await call(test, retry, {}));
  });

  it('are those of rollouts that have ended and plans that no longer hold: 409', async () => {
    const templates = '/api/v1/integrations/templates';
    for (const [kind, id] of [
      ['source', await makeSourceTemplate(test)],
      ['connection', await makeConnectionTemplate(test)],
    ]) {
      const path = `${templates}/${kind}s/${id}`;
      const { rollout_id } = (await test.request('PATCH', path, { body: { apply: 'all' } })).body;
      const { plan_id } = (await test.request('POST', `${path}/plan`, { body: { tags: ['planned'] } })).body;
      await test.request('PATCH', path, { body: { tags: ['other'] } });
      const outdated = await test.request('PATCH', path, { body: { plan_id } });
      expectDocumented(find(`PATCH ${templates}/${kind}s/{${kind}_template_id}`), 409, outdated);
      for (const command of ['pause', 'resume', 'stop']) {
        const endpoint = `POST ${templates}/${kind}s/{${kind}_template_id}/rollouts/{${kind}_rollout_id}/${command}`;
        expectDocumented(find(endpoint), 409, await test.request('POST', `${path}/rollouts/${rollout_id}/${command}`));
      }
    }
  });

  it('are those of a definition that templates use: 409', async () => {
    const path = '/api/v1/integrations/definitions/sources';
    const { id } = (await test.request('POST', path, { body: firstExample(bodyOf(find(`POST ${path}`))) })).body;
    for (const name of ['Books', 'Books for schools']) {
      await makeSourceTemplate(test, { actor_definition_id: id, name, partial_default_config: {} });
    }
    const answer = await test.request('DELETE', `${path}/${id}`);
    expectDocumented(find(`DELETE ${path}/{source_definition_id}`), 409, answer);
  });

  it('are those of readers of events that are behind or ahead of the log: 410', async () => {
    const on = await startTestApp('sqlite');
    onTestFinished(() => on.stop());
    await on.scopedToken('acme');
    await on.app.workers.sequencer.pass();
    const { db } = on.app.store;
    await db
      .insertInto('audit_checkpoints')
      .values({
        organization_id: on.organizationId,
        position: 2,
        hash: '',
        signed_at: 1,
        key_id: 'k',
        signature: '',
        cut: '{"position":2,"at":null,"retention_days":null}',
      })
      .execute();
    await db.updateTable('log_heads').set({ events_after: 2, cut_until: 2 }).execute();
    const paths = ['/api/v1/events', '/api/v1/events/stream', '/api/v1/embedded/events'];
    const ofAudit = ['/api/v1/audit-events', '/api/v1/audit-events/export', '/api/v1/embedded/audit-events'];
    for (const path of [...paths, ...ofAudit]) {
      const endpoint = find(`GET ${path}`);
      const token = await tokenFor(on, endpoint);
      for (const after of [1, 1_000]) {
        expectDocumented(endpoint, 410, await on.request('GET', `${path}?after=${after}`, { token }));
      }
    }
  });

  it('are those of too many OAuth clients: 409', async () => {
    const path = '/api/v1/integrations/oauth/clients';
    const endpoint = find(`POST ${path}`);
    const body = firstExample(bodyOf(endpoint));
    let answer = await test.request('POST', path, { body });
    while (answer.status === 201) answer = await test.request('POST', path, { body });
    expectDocumented(endpoint, 409, answer);
  });

  it('are those of an OAuth client that is used: 409', async () => {
    const path = '/api/v1/integrations/oauth/clients';
    const { body } = await test.request('GET', path);
    await insertCredential(test, 'acme', body.data[0].id);
    const kept = await test.request('DELETE', `${path}/${body.data[0].id}`);
    expectDocumented(find(`DELETE ${path}/{oauth_client_id}`), 409, kept);
  });

  it('are those of webhook endpoints', async () => {
    const body = { url: 'https://receiver.example/', enabled: false };
    for (const path of ['/api/v1/webhook-endpoints', '/api/v1/embedded/webhook-endpoints']) {
      const endpoint = find(`POST ${path}`);
      const token = await tokenFor(test, endpoint);
      const { id } = (await test.request('POST', path, { token, body })).body;
      const since = { since: '2026-01-01T00:00:00Z' };
      const recovered = await test.request('POST', `${path}/${id}/recover`, { token, body: since });
      expectDocumented(find(`POST ${path}/{webhook_endpoint_id}/recover`), 409, recovered);
      let answer = await test.request('POST', path, { token, body });
      while (answer.status === 201) answer = await test.request('POST', path, { token, body });
      expectDocumented(endpoint, 409, answer);
    }
    const off = await startTestApp('sqlite');
    onTestFinished(() => off.stop());
    for (const endpoint of endpoints.filter(({ path }) => path.startsWith('/api/v1/embedded/webhook-endpoints'))) {
      const path = endpoint.path.replace('{webhook_endpoint_id}', '00000000-0000-4000-8000-000000000000');
      const given: Record<string, object> = { recover: { since: '2026-01-01T00:00:00Z' }, 'webhook-endpoints': body };
      const sent = ['post', 'patch'].includes(endpoint.method)
        ? { body: given[path.split('/').at(-1) ?? ''] ?? {} }
        : {};
      const token = await off.scopedToken('acme');
      const answer = await off.request(endpoint.method.toUpperCase(), path, { token, ...sent });
      expectDocumented(endpoint, 403, answer);
      expect(answer.headers['x-inlay-error']).toBe('webhooks_not_offered');
    }
  });

  it('are those of checks of destinations', async () => {
    const faulty = faultyPlatform();
    const on = await startTestApp('sqlite', { overrides: { wrapTransport: faulty.wrapTransport } });
    onTestFinished(() => on.stop());
    const id = await makeConnectionTemplate(on);
    const check = (connection_template_id: string) =>
      on.request('POST', destinationChecks, { body: { connection_template_id } });
    const expectAnswer = async (status: number, templateId: string) =>
      expectDocumented(find(`POST ${destinationChecks}`), status, await check(templateId));
    await expectAnswer(404, '00000000-0000-4000-8000-000000000000');
    const discover = async (status: number, body: object) =>
      expectDocumented(find(`POST ${discovery}`), status, await on.request('POST', discovery, { body }));
    await discover(404, { source_template_id: '00000000-0000-4000-8000-000000000000', source_config: {} });
    faulty.rule(answering(({ path }) => path.startsWith('/destinations/check_connection'), 404, '{}'));
    await expectAnswer(501, id);
    await discover(501, { source_definition_id: sampleData, source_config: { count: 1 } });
  });

  it('are those of workers', async () => {
    const faulty = faultyPlatform();
    const on = await startTestApp('sqlite', { overrides: { wrapTransport: faulty.wrapTransport } });
    onTestFinished(() => on.stop());
    const path = '/api/v1/integrations/workers';
    const nobody = '/00000000-0000-4000-8000-000000000000';
    const requests = [
      [`GET ${path}`, path],
      [`POST ${path}`, path],
      [`POST ${path}/{worker_id}/drain`, `${path}${nobody}/drain`],
      [`DELETE ${path}/{worker_id}`, `${path}${nobody}`],
    ] as const;
    const ask = (name: string, where: string) => on.request(name.split(' ')[0] ?? '', where, { body: {} });
    for (const [name, where] of requests.slice(2)) expectDocumented(find(name), 404, await ask(name, where));
    const troubles = [
      [501, answering(({ path }) => path === '/workers', 404)],
      [502, answering(({ path }) => path === '/workers', 400)],
      [503, unreachable(({ path }) => path === '/workers')],
      [504, answering(({ path }) => path === '/workers', 504)],
    ] as const;
    for (const [status, rule] of troubles) {
      for (const [name, where] of requests) {
        const enough = faulty.sent.length + goodCalls;
        while (faulty.sent.length < enough) expect((await ask('GET', path)).status).toBe(200);
        const restore = faulty.rule(rule);
        expectDocumented(find(name), status, await ask(name, where));
        restore();
      }
    }
  });

  it.each(['embedded', 'integrations'])('are those of pipelines under /%s', async (audience) => {
    const faulty = faultyPlatform();
    const on = await startTestApp('sqlite', { overrides: { wrapTransport: faulty.wrapTransport } });
    onTestFinished(() => on.stop());
    const [template] = [
      await makeSourceTemplate(on),
      await makeConnectionTemplate(on, { customer_may_change: { streams: true } }),
    ];
    const acme = await customer(on, 'acme');
    const id = await acme.connect(template);
    await acme.settled(id);
    const [connection] = (await acme.request('GET', '/connections')).body.data;

    const path = `/api/v1/${audience}`;
    const isOperator = audience === 'integrations';
    const query = isOperator ? `?workspace_id=${acme.workspaceId}` : '';
    const ask = (method: string, rest: string, body?: object) =>
      on.request(method, `${path}${rest}${query}`, { token: isOperator ? on.operatorToken : acme.token, body });
    const expectAnswer = async (status: number, name: string, method: string, rest: string, body?: object) =>
      expectDocumented(find(`${method} ${path}${name}`), status, await ask(method, rest, body));

    const unknown = { source_template_id: '00000000-0000-4000-8000-000000000000' };
    await expectAnswer(404, '/sources', 'POST', '/sources', unknown);
    await expectAnswer(404, '/sources/check', 'POST', '/sources/check', unknown);
    if (isOperator) {
      const elsewhere = `${path}/sources?workspace_id=${unknown.source_template_id}`;
      expectDocumented(find(`GET ${path}/sources`), 404, await on.request('GET', elsewhere));
      const connections = elsewhere.replace('sources', 'connections');
      expectDocumented(find(`GET ${path}/connections`), 404, await on.request('GET', connections));
      const jobs = elsewhere.replace('sources', 'jobs');
      expectDocumented(find(`GET ${path}/jobs`), 404, await on.request('GET', jobs));
    }

    const quotas = `/api/v1/workspaces/${acme.workspaceId}/quotas`;
    expect((await on.request('PUT', quotas, { body: { sources: 0 } })).status).toBe(200);
    const second = { source_template_id: template, source_config: { count: 1 } };
    await expectAnswer(409, '/sources', 'POST', '/sources', second);
    await on.request('DELETE', quotas);

    const sync = '/connections/{connection_id}/sync';
    const syncNow = `/connections/${connection.id}/sync`;
    const cancel = '/connections/{connection_id}/cancel';
    const cancelNow = `/connections/${connection.id}/cancel`;
    await expectAnswer(409, cancel, 'POST', cancelNow);
    const started = await ask('POST', syncNow);
    expect(started.status).toBe(200);
    await expectAnswer(409, sync, 'POST', syncNow);
    const { db } = on.app.store;
    const one = '/connections/{connection_id}';
    const chosen = { streams: [{ name: 'users' }] };
    const forgetStreams = () => db.deleteFrom('connection_catalogs').execute();
    const whileItIs = async (row: object, before: object, work: () => Promise<void>) => {
      await db.updateTable('connections').set(row).where('id', '=', connection.id).execute();
      await work();
      await db.updateTable('connections').set(before).where('id', '=', connection.id).execute();
    };
    await forgetStreams();
    const made = await db.selectFrom('connections').select('platform_id').executeTakeFirstOrThrow();
    await whileItIs({ platform_id: null }, made, async () => {
      await expectAnswer(409, `${one}/streams`, 'GET', `/connections/${connection.id}/streams`);
      await expectAnswer(409, one, 'PATCH', `/connections/${connection.id}`, chosen);
    });
    await whileItIs({ platform_state: 'gone' }, { platform_state: null }, async () => {
      if (isOperator) await expectAnswer(502, `${one}/refresh`, 'POST', `/connections/${connection.id}/refresh`);
    });
    const readLog = async (status: number) => {
      const answer = await on.request('GET', `${path}/jobs/${started.body.id}/log`);
      expectDocumented(find(`GET ${path}/jobs/{job_id}/log`), status, answer);
    };
    if (isOperator) {
      const restore = faulty.rule(answering((request) => request.path.includes('/log?'), 404));
      await readLog(501);
      restore();
    }
    const troubles = [
      [502, answering(() => true, 400)],
      [503, unreachable()],
      [504, answering(() => true, 504)],
    ] as const;
    // A breaker judges the last calls: no route's answer may depend on how many routes were tried before it.
    const clearBreaker = async () => {
      const enough = faulty.sent.length + goodCalls;
      while (faulty.sent.length < enough) expect((await ask('GET', '/connections')).status).toBe(200);
    };
    for (const [status, rule] of troubles) {
      const doomed = await acme.connect(template);
      await acme.settled(doomed);
      const found = (await acme.request('GET', '/connections')).body.data;
      const ended = found.find(({ source_id }: { source_id: string }) => source_id === doomed);
      await forgetStreams();
      const requests = [
        ['/connections', 'GET', '/connections'],
        [`${one}/streams`, 'GET', `/connections/${connection.id}/streams`],
        [one, 'PATCH', `/connections/${connection.id}`, chosen],
        ...(isOperator ? [[one, 'DELETE', `/connections/${ended.id}`] as const] : []),
        [sync, 'POST', syncNow],
        [cancel, 'POST', cancelNow],
        ['/sources/{source_id}', 'DELETE', `/sources/${doomed}`],
      ] as const;
      for (const [name, method, rest, body] of requests) {
        await clearBreaker();
        const restore = faulty.rule(rule);
        await expectAnswer(status, name, method, rest, body);
        restore();
      }
      if (isOperator) {
        await clearBreaker();
        const restore = faulty.rule(rule);
        await readLog(status);
        restore();
      }
      await clearBreaker();
    }

    if (!isOperator) return;
    faulty.rule(unreachable(isDelete));
    await on.request('DELETE', `/api/v1/workspaces/${acme.workspaceId}`);
    const wanted = { source_template_id: template, source_config: { count: 1 } };
    await expectAnswer(409, '/sources', 'POST', '/sources', wanted);
    await expectAnswer(409, '/sources/{source_id}', 'PUT', `/sources/${id}`, { name: 'new' });
    await expectAnswer(409, one, 'DELETE', `/connections/${connection.id}`);
    await expectAnswer(409, `${one}/refresh`, 'POST', `/connections/${connection.id}/refresh`);
    const applied = await on.request('POST', `/api/v1/workspaces/${acme.workspaceId}/templates/apply`, { body: {} });
    expectDocumented(find('POST /api/v1/workspaces/{workspace_id}/templates/apply'), 409, applied);
  });

  it('are those of sign-ins: what they name is not there', async () => {
    const flows = '/api/v1/embedded/oauth/flows';
    const links = '/api/v1/integrations/oauth/links';
    const unknown = '00000000-0000-4000-8000-000000000000';
    const token = await test.scopedToken('acme');
    const begun = await test.request('POST', flows, { token, body: { source_template_id: unknown } });
    expectDocumented(find(`POST ${flows}`), 404, begun);
    const body = { workspace_id: unknown, source_template_id: unknown };
    expectDocumented(find(`POST ${links}`), 404, await test.request('POST', links, { body }));
    const tests = '/api/v1/integrations/oauth/tests';
    const tried = await test.request('POST', tests, { body: { source_template_id: unknown } });
    expectDocumented(find(`POST ${tests}`), 404, tried);
    expectDocumented(find(`GET ${tests}/{oauth_test_id}`), 404, await test.request('GET', `${tests}/${unknown}`));
  });

  it('are no others, but for a store that is away: 503 wherever a token is looked up', () => {
    for (const endpoint of endpoints) {
      const provoked = new Set(seen.get(nameOf(endpoint)));
      if ((endpoint.security ?? []).length > 0) {
        expect(documentedDetails(endpoint, 503)).toContain(errorCatalogue.storage_unavailable.detail);
        provoked.add(503);
      }
      const documented = Object.keys(endpoint.responses)
        .map(Number)
        .filter((status) => status >= 300);
      expect({ endpoint: nameOf(endpoint), statuses: documented.sort() }).toEqual({
        endpoint: nameOf(endpoint),
        statuses: [...provoked].sort(),
      });
    }
  });
});
