import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { type Handler, startHttpServer } from '../../test/http-server.ts';
import { configuredStream, openSurroundings, readSource, runSourceProgram } from '../../test/run-source.ts';
import { httpClient } from '../kit/http-client.ts';
import { readConfiguration, type StreamConfiguration } from './configuration.ts';
import { connector } from './http-api.ts';
import { readPages } from './pages.ts';
import { nextLink } from './pagination.ts';
import { specification } from './specification.ts';

const validate = new Ajv({ strict: false }).compile(specification.connectionSpecification);

const items = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => ({ id: from + index }));

/** A server and a configuration with one stream `things` of it. The configuration satisfies the specification. */
async function start(handler: Handler, stream: Partial<StreamConfiguration> = {}, more: object = {}) {
  const server = await startHttpServer(handler);
  const configuration = {
    base_url: `${server.origin}/v1`,
    authentication: { type: 'none' },
    streams: [{ name: 'things', path: '/things', ...stream }],
    ...more,
  };
  expect(validate(configuration), JSON.stringify(validate.errors)).toBe(true);
  const check = (surroundings = openSurroundings) => connector.check(configuration, surroundings);
  const read = async (options: Parameters<typeof readSource>[2] = {}) => {
    const result = await readSource(connector, configuration, options);
    return { ...result, things: result.records.things, ids: result.records.things?.map(({ id }) => id) };
  };
  return { ...server, configuration, check, read };
}

describe('a request', () => {
  test('goes to the path below the base URL with the parameters of the stream', async () => {
    const { asked, check } = await start(() => [], {
      path: 'a/things?fixed=1',
      query_parameters: [
        { name: 'q', value: 'ä & b' },
        { name: 'fixed', value: '2' },
      ],
    });
    await check();
    expect(asked).toMatchObject([{ path: '/v1/a/things', query: { q: 'ä & b' } }]);
  });

  test.each([
    ['', '/v1'],
    ['/', '/v1/'],
    ['?a=b', '/v1'],
    ['//evil.test/x', '/v1//evil.test/x'],
    ['@evil.test', '/v1/@evil.test'],
  ])('with the path %j stays with the server, at %s', async (path, askedFor) => {
    const { asked, check } = await start(() => [], { path });
    await check();
    expect(asked[0]?.path).toBe(askedFor);
  });

  test.each([
    [{ type: 'bearer', token: 'hidden\n' }, { authorization: 'Bearer hidden' }],
    [{ type: 'header', name: 'X-Api-Key', value: 'hidden' }, { 'x-api-key': 'hidden' }],
    [{ type: 'basic', username: 'me', password: 'hidden' }, { authorization: 'Basic bWU6aGlkZGVu' }],
  ])('says who asks by %j', async (authentication, headers) => {
    const { asked, check } = await start(
      () => [],
      {},
      { authentication, headers: [{ name: 'X-Version', value: '2' }] },
    );
    await check();
    expect(asked[0]?.headers).toMatchObject({ ...headers, 'x-version': '2', accept: 'application/json' });
    expect(asked[0]?.query).toEqual({});
  });

  test('carries a key in the query of every page', async () => {
    const { asked, read } = await start(
      ({ query, path }) => ({ list: [{ page: query.page ?? '0' }], next: query.page ? undefined : `${path}?page=2` }),
      { record_path: 'list', pagination: { type: 'link', url_path: 'next' } },
      { authentication: { type: 'query', name: 'key', value: 'hid&den' } },
    );
    expect((await read()).things).toEqual([{ page: '0' }, { page: '2' }]);
    expect(asked.every(({ query }) => query.key === 'hid&den')).toBe(true);
  });
});

describe('pages', () => {
  const all = items(0, 25);

  test('by number end with a shorter page', async () => {
    const { asked, read } = await start(
      ({ query: { p, size } }) => all.slice((Number(p) - 1) * Number(size), Number(p) * Number(size)),
      { pagination: { type: 'page', page_parameter: 'p', size_parameter: 'size', page_size: 10 } },
    );
    expect((await read()).things).toEqual(all);
    expect(asked.slice(-3).map(({ query }) => query.p)).toEqual(['1', '2', '3']);
  });

  test('by number end with an empty page or with a 404 when all are full', async () => {
    for (const end of [200, 404]) {
      const { read } = await start(
        ({ query: { page } }, reply) => {
          if (Number(page) < 5) return items(Number(page) * 5, Number(page) * 5 + 5);
          if (end === 200) return [];
          reply.writeHead(404).end();
        },
        { pagination: { type: 'page', first_page: 0 } },
      );
      expect((await read()).ids).toEqual(items(0, 25).map(({ id }) => id));
    }
  });

  test('lose nothing when the API gives smaller pages than it was asked for', async () => {
    const { read } = await start(
      ({ query: { offset = '0', limit = '0' } }) =>
        all.slice(Number(offset), Number(offset) + Math.min(10, Number(limit))),
      { pagination: { type: 'offset', page_size: 500 } },
    );
    expect((await read()).things).toEqual(all);
  });

  test('by offset use the names and the size of the configuration', async () => {
    const { asked, read } = await start(
      ({ query: { skip, take } }) => all.slice(Number(skip), Number(skip) + Number(take)),
      {
        pagination: { type: 'offset', offset_parameter: 'skip', size_parameter: 'take', page_size: 10 },
      },
    );
    expect((await read()).things).toEqual(all);
    expect(asked.slice(-3).map(({ query }) => query)).toEqual([
      { skip: '0', take: '10' },
      { skip: '10', take: '10' },
      { skip: '20', take: '10' },
    ]);
  });

  test('by token go on through empty ones until there is no token', async () => {
    const pages: Record<string, object> = {
      '': { data: { list: items(0, 2) }, meta: { next: 'a b' } },
      'a b': { data: { list: [] }, meta: { next: 7 } },
      '7': { data: {}, meta: { next: 'c' } },
      c: { data: { list: items(2, 3) }, meta: { next: null } },
    };
    const { asked, read } = await start(({ query: { token = '' } }) => pages[token], {
      record_path: 'data.list',
      query_parameters: [{ name: 'sort', value: 'id' }],
      pagination: {
        type: 'cursor',
        token_path: 'meta.next',
        token_parameter: 'token',
        size_parameter: 'n',
        page_size: 2,
      },
    });
    expect((await read()).things).toEqual(items(0, 3));
    expect(asked.at(-1)?.query).toEqual({ sort: 'id', token: 'c', n: '2' });
  });

  test('by Link header follow rel=next', async () => {
    const { asked, read } = await start(
      ({ query: { after } }, reply) => {
        const from = Number(after ?? 0);
        if (from < 4) reply.setHeader('link', [`</v1/things>; rel="first"`, `<things?after=${from + 2}>; rel="next"`]);
        return items(from, from + 2);
      },
      { pagination: { type: 'link', size_parameter: 'n', page_size: 2 } },
    );
    expect((await read()).things).toEqual(items(0, 6));
    expect(asked.slice(-3).map(({ query }) => query)).toEqual([{ n: '2' }, { after: '2' }, { after: '4' }]);
  });

  test('on another server are not asked for', async () => {
    const other = await startHttpServer(() => []);
    const { check, read } = await start(() => ({ list: [{ id: 1 }], next: `${other.origin}/steal` }), {
      record_path: 'list',
      pagination: { type: 'link', url_path: 'next' },
    });
    await check();
    await expect(read()).rejects.toThrow(
      `Stream things: The next page is on another server, ${other.origin}, which is not asked for it.`,
    );
    expect(other.asked).toEqual([]);
  });

  test.each([
    [
      { type: 'page' },
      'Two pages in a row are the same. Check the pagination: the API seems not to know the parameter page.',
    ],
    [
      { type: 'cursor', token_path: 'next', token_parameter: 't' },
      'The API gives the same token to the next page again',
    ],
    [{ type: 'link', url_path: 'next' }, 'The API gives the same link to the next page again and again.'],
  ] as const)('that repeat without end are noticed: %j', async (pagination, message) => {
    const { read, asked } = await start(() => ({ list: items(0, 3), next: 'x' }), { record_path: 'list', pagination });
    await expect(read()).rejects.toThrow(`Stream things: ${message}`);
    expect(asked.length).toBeLessThan(10);
  });

  test('beyond the last that repeat it are not taken twice', async () => {
    const { read } = await start(() => items(0, 3), {
      pagination: { type: 'page', size_parameter: 'n', page_size: 10 },
    });
    expect((await read()).things).toEqual(items(0, 3));
  });

  test('have an end even when the API invents more and more', async () => {
    let next = 0;
    const { configuration } = await start(() => ({ list: [{}], next: ++next }), {
      record_path: 'list',
      pagination: { type: 'cursor', token_path: 'next', token_parameter: 't' },
    });
    const api = readConfiguration(configuration);
    const client = httpClient(openSurroundings);
    const [stream] = api.streams;
    if (!stream) throw new Error('There is one.');
    let pages = 0;
    const readAll = async () => {
      const limits = { pages: 50, answerBytes: 1000 };
      for await (const _ of readPages(client, api, stream, { limits })) pages += 1;
    };
    await expect(readAll()).rejects.toThrow('There are more than 50 pages. Check the pagination.');
    expect(pages).toBe(50);
    await client.close();
  });

  test.each([
    ['<https://a.test/2>; rel=next', 'https://a.test/2'],
    ['<https://a.test/1>; rel="prev", <https://a.test/3>; title="x"; REL="last Next"', 'https://a.test/3'],
    ['</2>; rel="next"; rel2="x"', '/2'],
    ['<https://a.test/1>; rel="nextish"', undefined],
    ['', undefined],
  ])('are found in the Link header %j', (header, link) => {
    expect(nextLink(header)).toBe(link);
    expect(nextLink(`${'<'.repeat(16_000)}${header}`)).toBe(link);
  });
});

describe('records', () => {
  test.each([
    ['', [{ a: 1 }], [{ a: 1 }]],
    ['', { a: 1 }, [{ a: 1 }]],
    ['data.items', { data: { items: [{ a: 1 }] } }, [{ a: 1 }]],
    ['data', { data: null }, []],
    ['', [], []],
  ])('at %j of %j are %j', async (record_path, answer, records) => {
    const { read } = await start(() => answer, { record_path });
    expect((await read()).things).toEqual(records);
  });

  test('keep long integers, and characters of every kind', async () => {
    const { read } = await start(
      (_, reply) => void reply.end('\ufeff[{"id": 9007199254740993, "name": "\\ud83d\\ude00 ä"}]'),
    );
    const { things, streams } = await read();
    expect(things).toEqual([{ id: '9007199254740993', name: '😀 ä' }]);
    expect(streams[0]?.json_schema.properties).toMatchObject({ id: { type: ['null', 'string'] } });
  });

  test('are none when the answer is 204', async () => {
    const { read } = await start((_, reply) => void reply.writeHead(204).end());
    expect((await read()).things).toEqual([]);
  });
});

describe('discovery', () => {
  test('describes the streams from their first pages', async () => {
    const { read } = await start(
      ({ query: { page } }) => [
        page === '1'
          ? { id: 1, name: 'a', at: '2024-01-01T00:00:00Z', tags: ['x'] }
          : { id: 2, name: null, at: '2024-01-02T00:00:00Z', price: 1.5 },
      ],
      { pagination: { type: 'page' }, primary_key: ['id'], cursor_field: 'at' },
      {},
    ).then(({ configuration }) => ({ read: () => connector.discover(configuration, openSurroundings) }));
    expect(await read()).toEqual({
      streams: [
        {
          name: 'things',
          json_schema: {
            $schema: 'http://json-schema.org/draft-07/schema#',
            type: 'object',
            additionalProperties: true,
            properties: {
              id: { type: ['null', 'integer'] },
              name: { type: ['null', 'string'] },
              at: { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
              tags: { type: ['null', 'array'], items: { type: ['null', 'string'] } },
              price: { type: ['null', 'number'] },
            },
          },
          supported_sync_modes: ['full_refresh', 'incremental'],
          source_defined_cursor: true,
          default_cursor_field: ['at'],
          source_defined_primary_key: [['id']],
        },
      ],
    });
  });

  test('of an empty stream names the fields that the configuration names', async () => {
    const { configuration } = await start(() => [], { primary_key: ['id'] });
    const { streams } = await connector.discover(configuration, openSurroundings);
    expect(streams).toMatchObject([
      { name: 'things', json_schema: { properties: { id: {} } }, supported_sync_modes: ['full_refresh'] },
    ]);
  });
});

describe('reading', () => {
  test('says when each stream begins and is complete, and keeps no state in a full refresh', async () => {
    const { read } = await start(() => items(0, 2));
    const { events, states } = await read();
    expect(events).toEqual(['STARTED', 'record', 'record', 'COMPLETE']);
    expect(states).toEqual([]);
  });

  test('takes only what is new, and tells the API from when on', async () => {
    let rows = [
      { id: 1, at: '2024-01-02T00:00:00Z' },
      { id: 2, at: '2024-01-01T00:00:00Z' },
    ];
    const { asked, read } = await start(() => ({ rows }), {
      record_path: 'rows',
      cursor_field: 'at',
      cursor_parameter: 'since',
      query_parameters: [{ name: 'since', value: '2000-01-01T00:00:00Z' }],
    });
    const first = await read({ syncMode: 'incremental' });
    expect(first.ids).toEqual([1, 2]);
    expect(first.events.slice(-2)).toEqual(['state', 'COMPLETE']);
    expect(asked.at(-1)?.query).toEqual({ since: '2000-01-01T00:00:00Z' });

    const second = await read({ syncMode: 'incremental', state: first.states });
    expect(second.ids).toEqual([]);
    expect(asked.at(-1)?.query).toEqual({ since: '2024-01-02T00:00:00Z' });

    rows = [...rows, { id: 3, at: '2024-01-02T00:00:00Z' }, { id: 4, at: '2024-01-03T00:00:00Z' }];
    const third = await read({ syncMode: 'incremental', state: second.states });
    expect(third.ids).toEqual([3, 4]);
    expect(third.states).toMatchObject([
      {
        type: 'STREAM',
        stream: { stream_descriptor: { name: 'things' }, stream_state: { cursor: '2024-01-03T00:00:00Z' } },
      },
    ]);
    expect((await read({ state: third.states })).ids).toEqual([1, 2, 3, 4]);
  });

  test('takes an absent list for an empty one where the API was asked for what is new', async () => {
    const { read } = await start(({ query: { since } }) => (since ? {} : { rows: [{ id: 1, at: 1 }] }), {
      record_path: 'rows',
      cursor_field: 'at',
      cursor_parameter: 'since',
    });
    const { states } = await read({ syncMode: 'incremental' });
    expect((await read({ syncMode: 'incremental', state: states })).ids).toEqual([]);
  });

  test('has a state every 10,000 records that promises nothing before the end', async () => {
    const { read } = await start(() => Array.from({ length: 25_000 }, (_, id) => ({ id, at: 25_000 - id })), {
      cursor_field: 'at',
    });
    const { events, states } = await read({ syncMode: 'incremental' });
    expect(events.flatMap((event, index) => (event === 'state' ? [index] : []))).toEqual([10_001, 20_002, 25_003]);
    expect(states.map(({ stream }) => stream?.stream_state)).toMatchObject([{}, {}, { cursor: 25_000 }]);
    expect(states[1]?.stream?.stream_state).not.toHaveProperty('cursor');
  });

  test('fails for a stream that is not configured any more', async () => {
    const { configuration } = await start(() => []);
    const gone = { name: 'gone', json_schema: {}, supported_sync_modes: ['full_refresh' as const] };
    const { messages, exitCode } = await runSourceProgram('http-api', 'read', {
      configuration,
      streams: [configuredStream(gone, 'full_refresh')],
    });
    expect(exitCode).toBe(1);
    expect(messages).toMatchObject([
      {
        type: 'TRACE',
        trace: { error: { message: 'There is no stream gone any more. Refresh the list of streams.' } },
      },
    ]);
  });
});

describe('a check', () => {
  test('reads one page of each stream', async () => {
    const { asked, check } = await start(
      () => items(0, 5),
      { pagination: { type: 'page' } },
      {
        streams: [
          { name: 'a', path: 'a', pagination: { type: 'page' } },
          { name: 'b', path: 'b' },
        ],
      },
    );
    await check();
    expect(asked.map(({ path }) => path)).toEqual(['/v1/a', '/v1/b']);
  });

  const answer = (status: number, body = '', headers = {}): Handler => {
    return (_, reply) => void reply.writeHead(status, headers).end(body);
  };
  const html = { 'content-type': 'text/html' };

  test.each([
    ['401', answer(401), 'The API does not accept the key or password (401). Check the authentication.'],
    ['403', answer(403), 'The API does not allow this (403). Check the key and what it may read.'],
    ['404', answer(404), 'There is nothing at this address (404). Check the base URL and the path.'],
    ['400', answer(400), 'The API answers 400. Check the path, the parameters and the headers.'],
    ['a page', answer(200, '<html>', html), 'The API should answer in JSON and sends a web page. Check the base URL'],
    ['nothing', answer(200), 'The API should answer in JSON and sends nothing. Check the base URL and the path.'],
    ['half of JSON', answer(200, '{"key": "hid'), 'The API should answer in JSON and sends something else.'],
    ['texts', () => ['a'], 'The records should be JSON objects and are not. Check the path of the records.'],
    ['a number', () => 5, 'The records should be JSON objects and are not. Check the path of the records.'],
  ])('explains %s', async (_, handler, message) => {
    const { check } = await start(handler);
    await expect(check()).rejects.toThrow(`Stream things: ${message}`);
  });

  test('explains a wrong path of the records, and fields that are not there', async () => {
    const { check } = await start(() => ({ items: [], total: 0 }), { record_path: 'data.items' });
    await expect(check()).rejects.toThrow(
      'Stream things: There is no data.items. There are the fields items, total. Check the path of the records.',
    );
    const keyless = await start(() => items(0, 1), { primary_key: ['key'] });
    await expect(keyless.check()).rejects.toThrow('The records have no field key. Choose among id.');
    const cursorless = await start(() => items(0, 1), { cursor_field: 'at' });
    await expect(cursorless.check()).rejects.toThrow('The records have no field at. Choose among id.');
  });

  test('explains an answer that is too long', async () => {
    const { check } = await start((_, reply) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const send = (left: number): void => {
        if (left === 0) reply.end('[]');
        else reply.write(chunk, () => send(left - 1));
      };
      send(70);
    });
    await expect(check()).rejects.toThrow('The API answers with more than 64 MB at once. Ask for smaller pages.');
  });

  test('explains what is wrong with the configuration itself', async () => {
    const wrong = async (more: object) => (await start(() => [], {}, more)).check();
    const stream = { name: 'a', path: '' };
    await expect(wrong({ streams: [stream, stream] })).rejects.toThrow('There are two streams a.');
    await expect(wrong({ base_url: 'http://[' })).rejects.toThrow('The base URL is no http or https address.');
    await expect(wrong({ base_url: 'https://me:secret@api.test' })).rejects.toThrow(
      'The base URL contains a user name. Put it into the authentication.',
    );
    await expect(wrong({ authentication: { type: 'bearer', token: 'a\nb' } })).rejects.toThrow(
      'The token contains a line break or a character that no header can carry. Enter it again.',
    );
  });

  test('does not reach private networks unless that is allowed', async () => {
    const { asked, check } = await start(() => []);
    await expect(check({ ...openSurroundings, allowPrivateNetworks: false })).rejects.toThrow(
      'Stream things: The host 127.0.0.1 is not on the public internet and may not be reached.',
    );
    expect(asked).toEqual([]);
  });
});

describe('as a program', () => {
  test('checks, discovers and reads', async () => {
    let busy = 1;
    const { configuration, asked } = await start(
      ({ headers }, reply) => {
        if (headers.authorization !== 'Bearer hidden-token') return void reply.writeHead(401).end();
        if (busy-- > 0) return void reply.writeHead(429, { 'retry-after': '0' }).end();
        return items(0, 3);
      },
      {},
      { authentication: { type: 'bearer', token: 'hidden-token' }, requests_per_second: 1000 },
    );
    expect(await runSourceProgram('http-api', 'check', { configuration })).toEqual({
      messages: [{ type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } }],
      rest: '',
      exitCode: 0,
    });
    expect(asked).toHaveLength(2);
    const { messages } = await runSourceProgram('http-api', 'discover', { configuration });
    const [discovered] = messages;
    if (discovered?.type !== 'CATALOG') throw new Error('This is no catalog.');
    const streams = discovered.catalog.streams.map((stream) => configuredStream(stream, 'full_refresh'));
    const read = await runSourceProgram('http-api', 'read', { configuration, streams });
    expect(read.exitCode).toBe(0);
    expect(read.messages.map(({ type }) => type)).toEqual(['TRACE', 'RECORD', 'RECORD', 'RECORD', 'TRACE']);
  });

  test.each([
    { type: 'bearer', token: 'hidden-secret' },
    { type: 'query', name: 'key', value: 'hidden-secret' },
    { type: 'basic', username: 'me', password: 'hidden-secret' },
    { type: 'header', name: 'x-key', value: 'hidden-secret' },
  ])('shows no secret when it fails: %j', async (authentication) => {
    // An API may well repeat in its error what it was sent.
    const { configuration } = await start(
      ({ headers, query }, reply) => void reply.writeHead(200).end(`<${JSON.stringify([headers, query])}>`),
      {},
      { authentication },
    );
    const result = await runSourceProgram('http-api', 'discover', { configuration });
    expect(result).toMatchObject({ exitCode: 1, messages: [{ type: 'TRACE' }] });
    const shown = JSON.stringify(result);
    expect(shown).toContain('sends a web page');
    expect(shown).not.toContain('hidden-secret');
    expect(shown).not.toContain(Buffer.from('me:hidden-secret').toString('base64'));
  });
});

describe('the specification', () => {
  const complete = {
    base_url: 'https://api.test/v1',
    authentication: { type: 'header', name: 'X-Api-Key', value: 'k' },
    streams: [{ name: 'a', path: '/a', pagination: { type: 'none' } }],
  };

  test('lets a template fix everything but the key', () => {
    expect(validate(complete)).toBe(true);
    expect(validate({ ...complete, authentication: { type: 'header', name: 'X-Api-Key' } })).toBe(false);
  });

  test.each([
    { base_url: 'ftp://x' },
    { base_url: 'https://x/?a' },
    { base_url: 'x' },
    { streams: [] },
    { streams: [{ name: 'a' }] },
    { streams: [{ name: 'a', path: '', pagination: { type: 'unknown' } }] },
    { authentication: { type: 'unknown' } },
    { authentication: { type: 'header', name: 'Host', value: 'x' } },
    { authentication: { type: 'header', name: 'a b', value: 'x' } },
    { authentication: { type: 'basic', username: 'a:b', password: 'x' } },
    { requests_per_second: 0 },
  ])('does not allow %j', (wrong) => {
    expect(validate({ ...complete, ...wrong })).toBe(false);
  });
});
