/**
 * Bodies, queries and paths made to break something: always a 4xx in the contract's shape, on both databases alike. A short run
 * tries what no database sees with one of them.
 */
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { type Answer, startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';
import { fill, isInWorkspace, readAnswer, routesWith, unknownId, untilClosed, widgetToken } from './support.ts';

const scopedPath = '/api/v1/embedded/scoped-token';

/** The body is `{"detail"}` and nothing else; a list of faults exactly for 422. */
function expectContractShape({ status, headers, text }: Answer, request: string): void {
  expect(status, `${request} ${text}`).toBeLessThan(500);
  expect(headers['content-type'], request).toMatch(/^application\/json/);
  if (status < 400) return;
  const body = JSON.parse(text);
  expect(Object.keys(body), request).toEqual(['detail']);
  if (status !== 422) return void expect(typeof body.detail, request).toBe('string');
  expect(body.detail.length, request).toBeGreaterThan(0);
  for (const fault of body.detail) {
    expect(Object.keys(fault).sort(), request).toEqual(['loc', 'msg', 'type']);
    expect(['body', 'query', 'path'], request).toContain(fault.loc[0]);
    expect([...fault.loc, fault.msg, fault.type].every((part) => typeof part === 'string')).toBe(true);
  }
}

const hostileTexts = [
  "'; drop table workspaces; --",
  "' or '1'='1",
  '\\',
  "\\'; --",
  '%',
  '_',
  '%_%',
  '$1 :name ? ?1 @x',
  '{{7*7}} <%= 7 %>',
  '<script>alert(1)</script>',
  "E'\\x41'",
  '__proto__',
];

describeOnOneDatabase('Input', (kind) => {
  let test: TestApp;
  let port: number;
  let workspaceId: string;

  beforeAll(async () => {
    test = await startTestApp(kind);
    workspaceId = await test.workspaceId('acme');
    await test.app.http.listen({ port: 0, host: '127.0.0.1' });
    port = (test.app.http.server.address() as AddressInfo).port;
  });
  afterAll(() => test.stop());

  const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    test.request('POST', scopedPath, { payload, headers });
  /** For each route with a body, with something in every field. */
  const writers = () => routesWith(test, 'operator').filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method));
  const head = (more: string) =>
    `POST ${scopedPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.operatorToken}\r\nContent-Type: application/json\r\n${more}\r\n`;

  const itBeforeTheStore = (name: string, run: () => Promise<void>) => {
    if (isLongRun || kind === 'sqlite') it(name, run);
  };

  itBeforeTheStore('over 1 MiB is answered 413, one byte less is read', async () => {
    const body = (size: number) => `{"workspace_name":"big"}${' '.repeat(size - 24)}`;
    expect((await post(body(1_048_576))).status).toBe(200);
    const answer = await post(body(1_048_577));
    expect([answer.status, answer.text]).toEqual([413, '{"detail":"Payload Too Large"}']);
  });

  itBeforeTheStore('of a declared length is discarded after the answer 413, and the connection is kept', async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let answers = '';
    socket.on('data', (text) => {
      answers += text;
    });
    const length = 8 * 1024 ** 2;
    socket.write(head(`Content-Length: ${length}\r\n`));
    await expect.poll(() => answers).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(' '.repeat(length));
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => answers).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });

  itBeforeTheStore('without an end is answered 413 and cut off', async () => {
    const socket = connect(port, '127.0.0.1');
    const closed = untilClosed(socket);
    socket.write(head('Transfer-Encoding: chunked\r\n'));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const feed = setInterval(() => socket.writable && socket.write(chunk), 1);
    const answer = readAnswer(await closed);
    clearInterval(feed);
    expect([answer.status, answer.body.includes('{"detail":"Payload Too Large"}')]).toEqual([413, true]);
    expect((await test.request('GET', '/health/live')).status).toBe(200);
  });

  itBeforeTheStore('that is compressed is answered 415 and not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    expect(bomb.length).toBeLessThan(1_048_576);
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'x', 'gzip, gzip']) {
      const { status, text } = await post(bomb, { 'content-encoding': encoding });
      expect([status, text], encoding).toEqual([415, '{"detail":"Unsupported Media Type"}']);
    }
    const small = gzipSync('{"workspace_name":"inflated"}');
    expect((await post(small, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post(small)).status, 'as it is, it is not JSON').toBe(422);
    const { body } = await test.request('GET', '/api/v1/workspaces?name_contains=inflated');
    expect(body.data).toEqual([]);
  });

  itBeforeTheStore('that a parser must not accept is answered 422, and the process goes on', async () => {
    const deep = (open: string, close: string, by = 200_000) => open.repeat(by) + close.repeat(by);
    const bodies: (string | Buffer)[] = [
      deep('[', ']'),
      deep('{"a":', '}', 150_000).replace('{"a":}', '{"a":1}'),
      `{"workspace_name":${deep('[', ']')}}`,
      '['.repeat(200_000),
      '{"workspace_name":"x","__proto__":{"permission":"full"}}',
      '{"workspace_name":"x","\\u005f_proto__":{}}',
      '{"workspace_name":"x","a":{"__proto__":null}}',
      '{"workspace_name":"x","constructor":{"prototype":{"a":1}}}',
      '{"workspace_name":"x","\\u0063onstructor":{"prototype":{}}}',
      Buffer.from([...Buffer.from('{"workspace_name":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
      Buffer.from([...Buffer.from('{"workspace_name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
      Buffer.from([...Buffer.from('{"workspace_name":"'), 0xc0, 0x80, ...Buffer.from('"}')]),
      '{"workspace_name":"a\\u0000b"}',
      '{"workspace_name":"a\0b"}',
      '{"workspace_name":"\\ud800"}',
      '{"workspace_name":"\\udc00\\ud800"}',
      '{"workspace_name":1e400}',
      '{"workspace_name":-1e400,"region_id":1e400}',
      '{"workspace_name":"x","region_id":"\\ud800"}',
      '\ufeff{"workspace_name":"x"}',
      '{"workspace_name":"x"} {}',
      "{'workspace_name':'x'}",
      '{"workspace_name":NaN}',
      '\0',
      '',
      'null',
      '""',
      '[]',
    ];
    for (const payload of bodies) {
      const answer = await post(payload);
      const shown = payload.toString().slice(0, 60);
      expect(answer.status, `${shown} ${answer.text}`).toBe(422);
      expectContractShape(answer, shown);
    }
    expect(({} as Record<string, unknown>).permission).toBeUndefined();
    const rotate = `/api/v1/operator-tokens/${unknownId}/rotate`;
    for (const payload of ['{"overlap_seconds":1e400}', '{"overlap_seconds":1e20}', '{"overlap_seconds":0.5}']) {
      expect((await test.request('POST', rotate, { payload })).status).toBe(422);
    }
    const search = ['%00', 'a%00b', '%ED%A0%80'].map((text) => `/api/v1/workspaces?name_contains=${text}`);
    for (const path of search) expectContractShape(await test.request('GET', path), path);
    expect((await test.request('GET', '/api/v1/workspaces?name_contains=a%00')).status).toBe(422);
    expect((await test.request('GET', '/health/ready')).status).toBe(200);
  });

  it('with SQL in any field is taken literally', async () => {
    for (const text of hostileTexts) {
      const id = await test.workspaceId(text);
      expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe(text);
      expect(await test.workspaceId(text), text).toBe(id);
      const query = new URLSearchParams({ name_contains: text });
      const { body } = await test.request('GET', `/api/v1/workspaces?${query}`);
      const names: string[] = body.data.map((row: { name: string }) => row.name.toLowerCase());
      expect(names).toContain(text.toLowerCase());
      expect(names.filter((name) => !name.includes(text.toLowerCase()))).toEqual([]);
      const renamed = await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: `${text} renamed` } });
      expect(renamed.body.name).toBe(`${text} renamed`);
      await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: text } });
      const created = await test.request('POST', '/api/v1/operator-tokens', { body: { name: text } });
      expect([created.status, created.body.name]).toEqual([201, text]);
      const tags = { selected_source_template_tags: [text], selected_connection_template_tags: [text] };
      const { url } = await widgetToken(test, tags);
      expect(url.searchParams.getAll('selectedSourceTemplateTags')).toEqual([text]);
      for (const [name, status] of [
        ['status', 422],
        ['limit', 422],
        ['cursor', 422],
        ['unknown', 200],
      ] as const) {
        const path = `/api/v1/workspaces?${new URLSearchParams({ [name]: text })}`;
        expect((await test.request('GET', path)).status, path).toBe(status);
      }
      const revoked = await test.request('POST', '/api/v1/embedded/tokens/revoke', { body: { token: text } });
      expect(revoked.body).toEqual({ revoked: false });
      expect((await test.request('POST', scopedPath, { body: { workspace_name: 'x', region_id: text } })).status).toBe(
        422,
      );
      expect((await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { status: text } })).status).toBe(422);
    }
    expect((await test.request('GET', '/api/v1/workspaces/stats')).status).toBe(200);
  });

  it('in name_contains is literal: % and _ match only themselves, 10 kB match nothing', async () => {
    await test.scopedToken('100% sure_thing');
    const search = async (text: string) => {
      const { status, body } = await test.request(
        'GET',
        `/api/v1/workspaces?${new URLSearchParams({ name_contains: text })}`,
      );
      return [status, body.data.map((row: { name: string }) => row.name)];
    };
    expect(await search('0% SURE_T')).toEqual([200, ['100% sure_thing']]);
    expect(await search('1%sure')).toEqual([200, []]);
    expect(await search('sure_')).toEqual([200, ['100% sure_thing']]);
    expect(await search('su_e')).toEqual([200, []]);
    expect(await search('%'.repeat(10_000))).toEqual([200, []]);
    expect(await search(`${'a%_'.repeat(3_300)}`)).toEqual([200, []]);
    const tooLong = await test.request('GET', `/api/v1/workspaces?name_contains=${'a'.repeat(10_241)}`);
    expect([tooLong.status, tooLong.body.detail[0].loc]).toEqual([422, ['query', 'name_contains']]);
  });

  it('as an id in a path is answered 422 or 404, never 500', async () => {
    const wrong = [
      'x',
      '%00',
      `${workspaceId}%00`,
      '..%2f',
      '..%2f..%2fetc%2fpasswd',
      // A client resolves %2e%2e before it sends the address.
      '%252e%252e',
      '1',
      'null',
      '%F0%9F%92%A9',
    ];
    wrong.push(
      `{${workspaceId}}`,
      workspaceId.replaceAll('-', ''),
      `${workspaceId}%0d%0aX:1`,
      "'--",
      '%zz',
      '%',
      'a'.repeat(5_000),
    );
    const workspace = (url: string) => (isInWorkspace(url) ? `?workspace_id=${workspaceId}` : '');
    const unknown = ['00000000-0000-0000-0000-000000000000', unknownId, 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    const routes = routesWith(test, 'operator').filter((route) => route.url.includes(':'));
    for (const [index, { method, url }] of routes.entries()) {
      const body = method === 'PUT' || method === 'POST' ? { body: {} } : {};
      // No database sees these ids. In a short run each route gets a quarter of them, and each of them a quarter of the routes.
      for (const id of wrong.filter((_, at) => isLongRun || (kind === 'sqlite' && at % 4 === index % 4))) {
        const answer = await test.request(method, url.replace(/:\w+/g, id) + workspace(url), body);
        expect([404, 422], `${method} ${url} ${id} ${answer.text}`).toContain(answer.status);
        if (method !== 'HEAD') expectContractShape(answer, `${method} ${url} ${id}`);
      }
      for (const id of unknown) {
        const valid = body.body
          ? {
              body: {
                name: 'x',
                tag: 'x',
                version: 1,
                since: '2026-01-01T00:00:00Z',
                manifest: {},
                client_secret: 'x',
              },
            }
          : {};
        const answer = await test.request(
          method,
          url.replace(':version', '1').replace(/:\w+/g, id) + workspace(url),
          valid,
        );
        expect(answer.status, `${method} ${url}`).toBe(404);
      }
    }
    const upper = await test.request('GET', `/api/v1/workspaces/${workspaceId.toUpperCase()}`);
    expect(upper.body.id).toBe(workspaceId);
  });

  itBeforeTheStore('with a line break in anything echoed is refused, and adds no header', async () => {
    const split = 'https://a.example\r\nSet-Cookie: a=b';
    const body = { workspace_name: 'acme', allowed_origin: split, selected_source_template_tags: ['a\r\nb'] };
    const answer = await test.request('POST', '/api/v1/embedded/widget-token', { body });
    expect([answer.status, answer.body.detail.length]).toEqual([422, 2]);
    expect((await test.request('POST', scopedPath, { body: { workspace_name: 'a\r\nb' } })).status).toBe(422);
    const path = '/api/v1/workspaces?limit=1&name_contains=a%0d%0aSet-Cookie:%20a=b';
    const listed = await test.request('GET', path, { headers: { 'x-request-id': 'a' } });
    for (const { headers } of [answer, listed]) expect(headers['set-cookie']).toBeUndefined();
    expect((await test.request('GET', '/nowhere%0d%0aSet-Cookie:a=b')).headers['set-cookie']).toBeUndefined();
  });

  it('of any JSON at all never fails a route', async () => {
    const fields = [
      'workspace_name',
      'allowed_origin',
      'region_id',
      'name',
      'status',
      'token',
      'permission',
      'expires_at',
    ];
    fields.push(
      'tags',
      'tag',
      'customization',
      'partial_default_config',
      'destination_config',
      'source_config',
      'source_template_id',
      'cron_expression',
      'prefix',
    );
    fields.push('overlap_seconds', 'selected_source_template_tags', 'selected_connection_template_tags_mode');
    const json = fc.jsonValue({ maxDepth: 3 });
    const record = fc.dictionary(
      fc.constantFrom(...fields),
      fc.oneof(json, fc.string({ unit: 'binary' }), fc.date().map(String)),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, record), fc.nat(), async (body, pick) => {
        const routes = writers();
        const { method, url } = routes[pick % routes.length] ?? { method: '', url: '' };
        const answer = await test.request(method, fill(url, { workspace_id: workspaceId }), { body });
        expectContractShape(answer, `${method} ${url} ${JSON.stringify(body)}`);
      }),
      { numRuns: 150 },
    );
  });

  it('of any text at all in a query never fails a route', async () => {
    const names = fc.constantFrom('name_contains', 'status', 'limit', 'cursor', '__proto__', 'x');
    const cursor = fc.tuple(fc.nat(), fc.uuid()).map(([at, id]) => Buffer.from(`${at}.${id}`).toString('base64url'));
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer().map(String), cursor, fc.constant('active'));
    const raw = fc.string({ unit: fc.constantFrom(...'%&=+;[]0aF/') });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, value), { maxLength: 5 }), raw, async (pairs, tail) => {
        const path = `/api/v1/workspaces?${new URLSearchParams(pairs)}&${tail}`;
        expectContractShape(await test.request('GET', path), path);
      }),
      { numRuns: 150 },
    );
  });
});
