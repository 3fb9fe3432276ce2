/** The console: who gets in, what a session may do, and what other pages can make a browser do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeConsoleLink } from '../../src/edge/console/links.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { runCommand } from '../support/command-line.ts';
import { addTenant, fill, logOfTest, routesWith } from './support.ts';

let test: TestApp;
beforeAll(async () => {
  const INLAY_CONSOLE_CUSTOMER_URL = 'https://admin.example.com/customers/{name}';
  test = await startTestApp('sqlite', { env: { INLAY_CONSOLE_CUSTOMER_URL } });
});
afterAll(() => test.stop());

const own = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin', host: 'localhost:8080' };
const publicOrigin = 'http://localhost:8080';
const cookieOf = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers['set-cookie']).split(';')[0] ?? '';

const send = (method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
  test.request(method, path, { token: null, headers, ...(body && { body }) });

async function signIn(token = test.operatorToken, headers: Record<string, string> = {}): Promise<string> {
  const answer = await send('POST', '/console/session', { ...own, ...headers }, { token });
  expect(answer.status, answer.text).toBe(200);
  return cookieOf(answer);
}

async function newLink(permission: 'full' | 'operator' | 'read' = 'full', organizationId = test.organizationId) {
  const { url } = await makeConsoleLink(
    { store: test.app.store, runtime: systemRuntime, journal: logOfTest.journal, publicUrl: publicOrigin },
    { organizationId, permission, label: 'a colleague' },
  );
  return new URL(url).hash.slice('#code='.length);
}

const spend = (code: string, headers: Record<string, string> = {}, more: object = {}) =>
  send('POST', '/console/session/link', { ...own, ...headers }, { code, ...more });

describe('A session of the console', () => {
  it('begins with an operator token, and reads and writes as that token', async () => {
    const answer = await send('POST', '/console/session', own, { token: test.operatorToken });
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.body).toMatchObject({
      kind: 'token',
      label: 'first',
      permission: 'full',
      organization: { id: test.organizationId, name: 'default' },
    });
    const cookie = cookieOf(answer);
    const me = await send('GET', '/console/session', { cookie });
    expect([me.status, me.body]).toEqual([200, answer.body]);
    expect((await send('GET', '/console/api/v1/workspaces', { cookie })).status).toBe(200);
    const made = await send('POST', '/console/api/v1/integrations/templates/tags', { ...own, cookie }, { name: 'crm' });
    expect(made.status, made.text).toBe(201);
    await test.app.workers.sequencer.pass();
    const { body } = await test.request('GET', '/api/v1/audit-events?types=tag.created');
    expect(body.data[0].actor).toMatchObject({ kind: 'console_user', id: me.body.id, name: 'first' });
  });

  it('leaves no answer in a cache, whatever the answer is', async () => {
    const cookie = await signIn();
    const paths = routesWith(test, 'operator')
      // A stream has no end.
      .filter(({ method, url }) => method === 'GET' && !url.endsWith('/stream'))
      .map(({ url }) => `/console${fill(url, {})}`);
    const bad = { ...own, cookie: 'inlay_console=wrong' };
    for (const path of [...paths, '/console/api', '/console/api/', '/console/api/v1/nothing', '/console/api/v2']) {
      for (const headers of [{ ...own, cookie }, bad]) {
        const answer = await send('GET', path, headers);
        expect([path, answer.headers['cache-control']]).toEqual([path, 'no-store']);
      }
    }
    const made = await send(
      'POST',
      '/console/api/v1/integrations/templates/tags',
      { ...own, cookie },
      { name: 'kept' },
    );
    expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store']);
  });

  it('links to a customer in the first organization’s own system, and for nobody else', async () => {
    const other = await addTenant(test, 'other system');
    const told = async (token: string) => {
      const answer = await send('POST', '/console/session', own, { token });
      return answer.body.customer_url;
    };
    expect(await told(test.operatorToken)).toBe('https://admin.example.com/customers/{name}');
    expect(await told(other.token)).toBeNull();
  });

  it('that began with a link changes templates as well: no token is behind it', async () => {
    const cookie = cookieOf(await spend(await newLink('operator')));
    const api = '/console/api/v1/integrations';
    const write = (method: string, path: string, body?: object) =>
      send(method, `${api}/${path}`, { ...own, cookie }, body);
    const { body: found } = await send('GET', `${api}/definitions/sources?name=sample`, { cookie });
    const actor_definition_id = found.definitions[0].sourceDefinitionId;
    const made = await write('POST', 'templates/sources', { name: 'Shop', actor_definition_id });
    expect(made.status, made.text).toBe(201);
    const path = `templates/sources/${made.body.id}`;
    const plan = await write('POST', `${path}/plan`, { name: 'Market' });
    expect(plan.status, plan.text).toBe(200);
    const changed = await write('PATCH', path, { name: 'Market', apply: 'all' });
    expect(changed.status, changed.text).toBe(200);
    const { id, label } = (await send('GET', '/console/session', { cookie })).body;
    const person = { kind: 'console_user', id, name: label };
    // Versions are kept for longer than sessions.
    await test.app.store.db.deleteFrom('console_sessions').where('id', '=', id).execute();
    const { body: versions } = await test.request('GET', `/api/v1/integrations/${path}/versions`);
    expect(versions.data.map(({ created_by }: { created_by: unknown }) => created_by)).toEqual([person, person]);
  });

  it('is a cookie that scripts and other sites do not get, and of which only a hash is stored', async () => {
    const answer = await send('POST', '/console/session', own, { token: test.operatorToken });
    const header = String(answer.headers['set-cookie']);
    expect(header).toMatch(/^inlay_console=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/);
    const secret = cookieOf(answer).slice('inlay_console='.length);
    const rows = await test.app.store.db.selectFrom('console_sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(answer.text).not.toContain(secret);
  });

  it('has another value after each sign-in, whatever the browser sent, and the old one has ended', async () => {
    const planted = `inlay_console=${'A'.repeat(43)}`;
    const first = await signIn(test.operatorToken, { cookie: planted });
    expect(first).not.toBe(planted);
    expect((await send('GET', '/console/session', { cookie: planted })).status).toBe(401);
    const second = await signIn(test.operatorToken, { cookie: first });
    expect(second).not.toBe(first);
    expect((await send('GET', '/console/session', { cookie: first })).status).toBe(401);
    expect((await send('GET', '/console/session', { cookie: second })).status).toBe(200);
  });

  it('ends when its user signs out, and when its operator token is revoked', async () => {
    const { id, token } = await test.app.operatorTokens.create(test.organizationId, { name: 'short' });
    const cookie = await signIn(token);
    const other = await signIn(token);
    const out = await send('DELETE', '/console/session', { ...own, cookie });
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await send('GET', '/console/api/v1/workspaces', { cookie })).status).toBe(401);
    expect((await send('GET', '/console/api/v1/workspaces', { cookie: other })).status).toBe(200);
    await test.app.operatorTokens.revoke(test.organizationId, id);
    expect((await send('GET', '/console/api/v1/workspaces', { cookie: other })).status).toBe(401);
    expect((await send('GET', '/console/session', { cookie: other })).status).toBe(401);
  });

  it.each([
    ['8 hours without use', 'last_used_at', 8],
    ['24 hours', 'ends_at', 24],
  ] as const)('ends after %s', async (_words, column, hours) => {
    const answer = await send('POST', '/console/session', own, { token: test.operatorToken });
    const cookie = cookieOf(answer);
    const { db } = test.app.store;
    const move = async (byMs: number) => {
      await db
        .updateTable('console_sessions')
        .set(({ eb }) => ({ [column]: eb(column, '-', byMs) }))
        .where('id', '=', answer.body.id)
        .execute();
      // What was found a moment ago is remembered for two seconds, and forgotten when any session ends.
      await send('DELETE', '/console/session', { ...own, cookie: await signIn() });
    };
    await move(hours * 3_600_000 - 60_000);
    expect((await send('GET', '/console/session', { cookie })).status).toBe(200);
    await move(60_000);
    expect((await send('GET', '/console/session', { cookie })).status).toBe(401);
  });

  it('is refused over plain http that is not on this machine, with words', async () => {
    const answer = await send(
      'POST',
      '/console/session',
      { ...own, host: '192.0.2.1:8080' },
      { token: test.operatorToken },
    );
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([403, 'console_needs_https']);
    expect(answer.text).toContain('INLAY_PUBLIC_URL');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('A cookie', () => {
  it('counts nowhere but under /console', async () => {
    const cookie = await signIn();
    for (const { method, url } of routesWith(test, 'operator')) {
      const answer = await send(method, fill(url, {}), { ...own, cookie });
      expect(answer.status, `${method} ${url}`).toBe(401);
    }
  });

  it('is needed under /console: no token counts there', async () => {
    const cookie = await signIn();
    const authorization = `Bearer ${test.operatorToken}`;
    for (const { method, url } of routesWith(test, 'operator')) {
      const path = `/console${fill(url, {})}`;
      expect((await send(method, path, { ...own, authorization })).status, `${method} ${url}`).toBe(401);
      expect((await send(method, path, { ...own, authorization, cookie })).status, `${method} ${url}`).toBe(401);
    }
  });

  it('is refused when there are two', async () => {
    const cookie = await signIn();
    expect((await send('GET', '/console/session', { cookie: `${cookie}; ${cookie}` })).status).toBe(401);
  });
});

describe('The path of the console', () => {
  it('leads to routes for operators and to nothing else of the API', async () => {
    const cookie = await signIn();
    const others = test.app.routeTable.routes.filter(
      ({ access, url }) => access !== 'operator' && url.startsWith('/api/v1/'),
    );
    expect(others.length).toBeGreaterThan(10);
    for (const { method, url } of others) {
      const answer = await send(method, `/console${fill(url, {})}`, { ...own, cookie });
      expect(answer.status, `${method} ${url}`).toBe(404);
    }
    for (const path of ['/health/ready', '/openapi.json', '/metrics', '/platform/v1/workspaces', '/widget']) {
      expect((await send('GET', `/console/api${path}`, { cookie })).status, path).toBe(404);
    }
  });

  it('has no routes of its own but these', () => {
    const routes = test.app.routeTable.routes.filter(
      ({ url, method }) => /^\/console\b/.test(url) && method !== 'HEAD',
    );
    expect(routes.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
      'DELETE /console/session',
      'GET /console',
      'GET /console/*',
      'GET /console/assets/:name',
      'GET /console/session',
      'GET /console/session/ways',
      'POST /console/session',
      'POST /console/session/link',
    ]);
  });

  it('is gone with INLAY_CONSOLE=off', async () => {
    const without = await startTestApp('sqlite', { env: { INLAY_CONSOLE: 'off' } });
    try {
      for (const path of ['/console', '/console/sign-in', '/console/session', '/console/api/v1/workspaces']) {
        expect((await without.request('GET', path)).status, path).toBe(404);
      }
    } finally {
      await without.stop();
    }
  });
});

describe('A request that another page makes', () => {
  const foreign: Record<string, string>[] = [
    {},
    { 'x-inlay-console': '1' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: publicOrigin },
    { 'x-inlay-console': '1', 'sec-fetch-site': 'cross-site' },
    { 'x-inlay-console': '1', 'sec-fetch-site': 'same-site', origin: publicOrigin },
    { 'x-inlay-console': '1', 'sec-fetch-site': 'none' },
    { 'x-inlay-console': '1', origin: 'https://evil.example' },
    { 'x-inlay-console': '1', origin: 'null' },
  ];

  it('writes nothing, on any route', async () => {
    const cookie = await signIn();
    const writes = routesWith(test, 'operator').filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    for (const { method, url } of writes) {
      for (const headers of foreign) {
        const answer = await send(method, `/console${fill(url, {})}`, { ...headers, cookie });
        expect([answer.status, answer.headers['x-inlay-error']], `${method} ${url}`).toEqual([403, 'console_origin']);
      }
    }
    for (const headers of foreign) {
      const host = { host: 'localhost:8080' };
      for (const [method, path, body] of [
        ['POST', '/console/session', { token: test.operatorToken }],
        ['POST', '/console/session/link', { code: 'A'.repeat(43) }],
        ['DELETE', '/console/session', undefined],
      ] as const) {
        const answer = await send(method, path, { ...host, ...headers, cookie }, body);
        expect([answer.status, answer.headers['x-inlay-error']]).toEqual([403, 'console_origin']);
      }
    }
    expect((await send('GET', '/console/session', { cookie })).status).toBe(200);
  });

  it('reads nothing, and learns of no origin that could', async () => {
    const cookie = await signIn();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await send('GET', '/console/api/v1/workspaces', { cookie, 'sec-fetch-site': site });
      expect(answer.status).toBe(403);
    }
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    for (const [method, path] of [
      ['OPTIONS', '/console/api/v1/workspaces'],
      ['OPTIONS', '/console/session'],
      ['OPTIONS', '/console/api/v1/embedded/sources'],
      ['GET', '/console/api/v1/workspaces'],
      ['GET', '/console'],
    ] as const) {
      const answer = await send(method, path, { ...headers, cookie });
      expect(
        Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        path,
      ).toEqual([]);
    }
  });

  it('of a browser without fetch metadata is known by its Origin', async () => {
    const headers = { host: 'localhost:8080', 'x-inlay-console': '1', origin: publicOrigin };
    const answer = await send('POST', '/console/session', headers, { token: test.operatorToken });
    expect(answer.status).toBe(200);
  });
});

describe('Roles', () => {
  it.each(['read', 'operator', 'full'] as const)(
    '%s: every route answers as it does to a token',
    async (permission) => {
      const { token } = await test.app.operatorTokens.create(test.organizationId, { name: permission, permission });
      const byToken = await signIn(token);
      const byLink = cookieOf(await spend(await newLink(permission)));
      for (const { method, url, isAdministration } of routesWith(test, 'operator')) {
        if (method === 'GET' || method === 'HEAD') continue;
        const isAllowed = permission === 'full' || (permission === 'operator' && !isAdministration);
        for (const cookie of [byToken, byLink]) {
          const answer = await send(method, `/console${fill(url, {})}`, { ...own, cookie });
          if (isAllowed) expect([200, 201, 404, 422], `${method} ${url}`).toContain(answer.status);
          else expect(answer.status, `${method} ${url}`).toBe(403);
        }
      }
    },
  );

  it('a session sees its own organization and no other', async () => {
    const other = await addTenant(test, 'other');
    const cookie = cookieOf(await spend(await newLink('full', other.organizationId)));
    await test.workspaceId('acme');
    expect((await send('GET', '/console/api/v1/workspaces', { cookie })).body.data).toEqual([]);
    const headers = { cookie, 'x-organization-id': test.organizationId };
    expect((await send('GET', '/console/api/v1/workspaces', headers)).status).toBe(403);
  });
});

describe('A one-time link', () => {
  it('lets one person in, once, however many ask at the same time', async () => {
    const code = await newLink('operator');
    const answers = await Promise.all(Array.from({ length: 5 }, () => spend(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const body = answers.find(({ status }) => status === 200)?.body;
    expect(body).toMatchObject({ kind: 'link', permission: 'operator', label: 'a colleague' });
  });

  it('is spent by no GET', async () => {
    const code = await newLink();
    await send('GET', `/console/sign-in?code=${code}`);
    await send('GET', `/console/session/link?code=${code}`);
    expect((await spend(code)).status).toBe(200);
  });

  it('asks before it replaces another session, and is not used up by asking', async () => {
    const cookie = await signIn();
    const code = await newLink('read');
    const asked = await spend(code, { cookie });
    expect([asked.status, asked.headers['x-inlay-error']]).toEqual([409, 'console_session_present']);
    expect((await send('GET', '/console/session', { cookie })).status).toBe(200);
    const replaced = await spend(code, { cookie }, { replace: true });
    expect(replaced.status).toBe(200);
    expect((await send('GET', '/console/session', { cookie })).status).toBe(401);
  });
});

describe('Administrators', () => {
  it('see who is signed in, and end a session together with the streams that it has open', async () => {
    const cookie = cookieOf(await send('POST', '/console/session', own, { token: test.operatorToken }));
    const { id } = (await send('GET', '/console/session', { cookie })).body;
    const { body } = await test.request('GET', '/api/v1/console-sessions');
    expect(body.data[0]).toMatchObject({ id, kind: 'token', label: 'first', permission: 'full' });
    const stream = await test.app.http.inject({
      method: 'GET',
      url: '/console/api/v1/events/stream',
      headers: { cookie },
      payloadAsStream: true,
    });
    expect(stream.statusCode).toBe(200);
    const ended = (async () => {
      for await (const _chunk of stream.stream());
      return true;
    })();
    const other = await addTenant(test, 'not theirs');
    expect((await other.request('DELETE', `/api/v1/console-sessions/${id}`)).status).toBe(404);
    expect((await test.request('DELETE', `/api/v1/console-sessions/${id}`)).status).toBe(200);
    expect(await ended).toBe(true);
    expect((await send('GET', '/console/session', { cookie })).status).toBe(401);
    expect((await test.request('DELETE', `/api/v1/console-sessions/${id}`)).status).toBe(404);
    expect(
      (await test.request('GET', '/api/v1/console-sessions')).body.data.map((one: { id: string }) => one.id),
    ).not.toContain(id);
  });
});

describe('The command line', () => {
  it('prints a link, lists sessions and ends them', async () => {
    const run = (...args: string[]) =>
      runCommand(['console', ...args, '--organization', test.organizationId], { env: test.env });
    const link = await run('link', '--permission', 'read', '--name', 'Ada');
    expect(link.code, link.stderr).toBe(0);
    const code = /http:\/\/localhost:8080\/console\/sign-in#code=([\w-]{43})/.exec(link.stdout)?.[1] ?? '';
    const cookie = cookieOf(await spend(code));
    const me = await send('GET', '/console/session', { cookie });
    expect(me.body).toMatchObject({ label: 'Ada', permission: 'read', kind: 'link' });
    const list = await run('sessions', '--json');
    expect(JSON.parse(list.stdout).data.map((one: { id: string }) => one.id)).toContain(me.body.id);
    expect((await run('end', me.body.id)).code).toBe(0);
    expect((await run('end', me.body.id)).code).toBe(1);
  });
});

describe('The page of the console', () => {
  it('may be framed by nobody, runs only our scripts, and is not kept', async () => {
    for (const path of ['/console', '/console/sign-in', '/console/customers/1']) {
      const { headers } = await send('GET', path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:\/\/(?!localhost)/);
      expect([headers['x-frame-options'], headers['cache-control']]).toEqual(['DENY', 'no-store']);
    }
    expect((await send('GET', '/console/assets/none.js')).status).toBe(404);
  });
});

/** The last test of this file: this address may not try again for a minute. */
describe('Someone who guesses', () => {
  it('gets the same answer whether a link is wrong, used or too old, and soon none at all', async () => {
    const used = await newLink();
    await spend(used);
    const old = await newLink();
    await test.app.store.db.updateTable('console_links').set({ expires_at: 0 }).where('used_at', 'is', null).execute();
    const good = await newLink();
    const answers = [];
    for (const code of [used, old, 'A'.repeat(43), 'x', used, old, used, old, used, old])
      answers.push(await spend(code));
    for (const { status, text } of answers.slice(0, 4)) {
      expect([status, text]).toEqual([401, answers[0]?.text]);
    }
    let last = answers.at(-1);
    for (let more = 0; more < 10 && last?.status !== 429; more++) last = await spend(used);
    expect(last?.status).toBe(429);
    expect(last?.headers['retry-after']).toBeDefined();
    // Over the limit, a right code says no more than a wrong one.
    expect((await spend(good)).status).toBe(429);
  });
});
