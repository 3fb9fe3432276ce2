/** Idempotency-Key: a repeated request is carried out once, whatever happens to its answer and at whichever replica. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inlineComponents } from '../src/edge/reference/components.ts';
import { endpointsOf, firstExample, mediaOf } from '../src/edge/reference/document.ts';
import { addTenant, fill, isInWorkspace } from './security/support.ts';
import { type Answer, type RequestOptions, startTestApp, type TestApp } from './support/app.ts';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from './support/databases.ts';
import { type FaultyPlatform, faultyPlatform, isCreate, unreachable } from './support/faults.ts';
import { sampleData } from './support/pipelines.ts';

const templates = '/api/v1/integrations/templates/sources';
const template = { actor_definition_id: sampleData, name: 'Once', partial_default_config: { seed: 7 } };
const keyed = (key: string, options: RequestOptions = {}) => ({
  ...options,
  headers: { ...options.headers, 'idempotency-key': key },
});
const codeOf = ({ status, headers }: Answer) => [status, headers['x-inlay-error']];

describe('Every POST of the API', () => {
  let test: TestApp;
  let scoped: string;
  let workspaceId: string;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
    scoped = await test.scopedToken('acme');
    workspaceId = await test.workspaceId('acme');
  });
  afterAll(() => test.stop());

  /** The example of the API reference as the body: what is refused is refused for its ids, which nobody knows. */
  async function listPosts() {
    const { body: document } = await test.request('GET', '/openapi.json', { token: null });
    const endpoints = endpointsOf(inlineComponents(document));
    return test.app.routeTable.routes
      .filter(({ method, url }) => method === 'POST' && url.startsWith('/api/'))
      .map(({ url, access }) => {
        const path = url.replace(/:(\w+)/g, '{$1}');
        const endpoint = endpoints.find((one) => one.method === 'post' && one.path === path);
        if (!endpoint) throw new Error(`POST ${url} is not in the API reference`);
        const media = mediaOf(endpoint.requestBody);
        const body = media ? (firstExample(media) as object) : {};
        return {
          url,
          endpoint,
          path: fill(url, isInWorkspace(url) ? { workspace_id: workspaceId } : {}),
          body,
          token: access === 'scoped' ? scoped : test.operatorToken,
        };
      });
  }

  it('gives the stored answer again, and refuses the key with another body or in a wrong form', async () => {
    const posts = await listPosts();
    expect(posts.length).toBeGreaterThan(30);
    for (const { url, path, body, token } of posts) {
      const key = randomUUID();
      const first = await test.request('POST', path, keyed(key, { token, body }));
      expect([first.headers['idempotency-replayed'], first.headers['retry-after']], url).toEqual([
        undefined,
        undefined,
      ]);
      expect([200, 201, 403, 404, 409], `${url} ${first.text}`).toContain(first.status);
      const again = await test.request('POST', path, keyed(`"${key}"`, { token, body }));
      expect([url, again.headers['idempotency-replayed'], again.status, again.text]).toEqual([
        url,
        'true',
        first.status,
        first.text,
      ]);
      for (const name of ['content-type', 'x-inlay-error', 'x-inlay-workspace-id', 'x-inlay-token-expires-at']) {
        expect([name, again.headers[name]]).toEqual([name, first.headers[name]]);
      }
      const other = await test.request('POST', path, keyed(key, { token, body: { ...body, another: 1 } }));
      expect([url, ...codeOf(other)]).toEqual([url, 422, 'idempotency_key_reused']);
      expect(other.body.detail).toMatchObject([
        { loc: ['header', 'Idempotency-Key'], type: 'value_error.idempotency_key' },
      ]);
      for (const bad of ['a b', '"', 'x'.repeat(256)]) {
        expect([url, ...codeOf(await test.request('POST', path, keyed(bad, { token, body })))]).toEqual([
          url,
          422,
          'invalid_request',
        ]);
      }
    }
  });

  it('says so in the API reference', async () => {
    for (const { url, endpoint } of await listPosts()) {
      const parameter = endpoint.parameters?.find(({ name }) => name.toLowerCase() === 'idempotency-key');
      expect(parameter, url).toMatchObject({ in: 'header', schema: { maxLength: 255 } });
      expect(parameter?.required ?? false).toBe(false);
      const codes = (status: number) => Object.keys(mediaOf(endpoint.responses[status])?.examples ?? {});
      expect(codes(409), url).toEqual(expect.arrayContaining(['idempotency_key_in_use', 'idempotency_answer_lost']));
      expect(codes(422), url).toEqual(expect.arrayContaining(['invalid_request', 'idempotency_key_reused']));
      const success = endpoint.responses[200] ?? endpoint.responses[201];
      expect(Object.keys(success?.headers ?? {})).toContain('Idempotency-Replayed');
    }
  });

  it('asks for its token before it looks at a key, and counts keys per token', async () => {
    const other = await addTenant(test, 'other');
    const key = randomUUID();
    const mine = await test.request('POST', templates, keyed(key, { body: template }));
    const theirs = await other.request('POST', templates, keyed(key, { body: { ...template, name: 'Theirs' } }));
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const second = (await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'second' } })).body.token;
    const asSecond = await test.request('POST', templates, keyed(key, { token: second, body: template }));
    expect([asSecond.status, asSecond.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect((await test.request('POST', templates, keyed(key, { token: null, body: template }))).status).toBe(401);
  });

  it('starts over after a request that was not as described', async () => {
    const key = randomUUID();
    const wrong = await test.request('POST', templates, keyed(key, { body: { ...template, actor_definition_id: 7 } }));
    expect(codeOf(wrong)).toEqual([422, 'invalid_request']);
    expect(codeOf(await test.request('POST', templates, keyed(key, { payload: '{' })))).toEqual([
      422,
      'invalid_request',
    ]);
    const right = await test.request('POST', templates, keyed(key, { body: template }));
    expect([right.status, right.headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  it('is the only method that keeps answers: others are idempotent already', async () => {
    const key = randomUUID();
    for (const name of ['one', 'two']) {
      const answer = await test.request('PUT', `/api/v1/workspaces/${workspaceId}`, keyed(key, { body: { name } }));
      expect([answer.status, answer.body.name]).toEqual([200, name]);
    }
  });
});

describeOnBothDatabases('Two replicas', (kind) => {
  let shared: TestDatabase;
  let faulty: FaultyPlatform;
  let replicas: [TestApp, TestApp];
  beforeAll(async () => {
    shared = await createTestDatabase(kind, { migrated: true });
    faulty = faultyPlatform();
    const env = { INLAY_OPERATOR_TOKEN: 'the-token-of-the-operator-of-two-replicas' };
    const start = () => startTestApp(kind, { shared, env, overrides: { wrapTransport: faulty.wrapTransport } });
    replicas = [await start(), await start()];
  });
  afterAll(async () => {
    for (const replica of replicas ?? []) await replica.stop();
    await shared?.drop();
  });

  const keysOf = () => replicas[0].app.store.db.selectFrom('idempotency_keys').selectAll().execute();
  const setKeys = (changes: object) => replicas[0].app.store.db.updateTable('idempotency_keys').set(changes).execute();
  const countTemplates = async (name: string) => {
    const { data } = (await replicas[0].request('GET', templates)).body;
    return data.filter((one: { name: string }) => one.name === name).length;
  };

  it('carry out a request that both get at the same time once, and both give its answer', async () => {
    const body = { ...template, name: 'At once' };
    const key = randomUUID();
    const send = (index: number) => (replicas[index % 2] as TestApp).request('POST', templates, keyed(key, { body }));
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => send(index)));
    const made = answers.filter(({ status }) => status === 201);
    const first = made.filter(({ headers }) => headers['idempotency-replayed'] === undefined);
    expect(first.length).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect([...codeOf(answer), answer.headers['retry-after']]).toEqual([409, 'idempotency_key_in_use', '2']);
    }
    const later = await Promise.all([send(0), send(1)]);
    for (const answer of [...made, ...later]) expect(answer.text).toBe(first[0]?.text);
    expect(await countTemplates('At once')).toBe(1);
  });

  it('store answers sealed: a token that an answer holds is in no row, and is given again', async () => {
    const key = randomUUID();
    const ask = (replica: TestApp) =>
      replica.request('POST', '/api/v1/operator-tokens', keyed(key, { body: { name: 'sealed' } }));
    const [first, again] = [await ask(replicas[0]), await ask(replicas[1])];
    expect([first.status, again.body.token]).toEqual([201, first.body.token]);
    const rows = JSON.stringify(await keysOf());
    expect(rows).toContain('sealed_record');
    for (const secret of [first.body.token, key]) expect(rows).not.toContain(secret);
  });

  it('do not store a failure: the same key tries again', async () => {
    const restore = faulty.rule(unreachable(isCreate));
    const key = randomUUID();
    const ask = () =>
      replicas[1].request('POST', '/api/v1/embedded/scoped-token', keyed(key, { body: { workspace_name: 'late' } }));
    expect((await ask()).status).toBe(503);
    restore();
    await replicas[1].app.store.db.updateTable('name_claims').set({ lease_until: 0, no_post_before: 0 }).execute();
    const answer = await expect
      .poll(async () => (await ask()).status, { timeout: 300_000, interval: 500 })
      .toBe(200)
      .then(ask);
    expect(answer.headers['idempotency-replayed']).toBe('true');
  });

  it('refuse a key while its work continues', async () => {
    const key = randomUUID();
    let goOn = () => {};
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const restore = faulty.rule(async () => {
      await released;
      return undefined;
    });
    const ask = (replica: TestApp) => replica.request('POST', '/api/v1/workspaces/sync', keyed(key));
    const running = ask(replicas[0]);
    const isRunning = async () => (await keysOf()).some(({ answered_at }) => answered_at === null);
    await expect.poll(isRunning).toBe(true);
    expect(codeOf(await ask(replicas[1]))).toEqual([409, 'idempotency_key_in_use']);
    expect(
      codeOf(await replicas[1].request('POST', '/api/v1/workspaces/sync', keyed(key, { body: { other: 1 } }))),
    ).toEqual([422, 'idempotency_key_reused']);
    restore();
    goOn();
    expect((await running).status).toBe(200);
    expect((await ask(replicas[1])).headers['idempotency-replayed']).toBe('true');
  });

  it('forget keys after a day', async () => {
    const key = randomUUID();
    const body = { ...template, name: 'Daily' };
    const ask = () => replicas[0].request('POST', templates, keyed(key, { body }));
    const first = await ask();
    await setKeys({ expires_at: Date.now() - 1 });
    const next = await ask();
    expect([next.status, next.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect(next.body.id).not.toBe(first.body.id);
    expect((await ask()).body.id).toBe(next.body.id);
    await replicas[1].app.keepHouse();
    // Only the new row is left.
    expect((await keysOf()).length).toBe(1);
  });
});
