/* Ways to read a list other than page by page with GET, each tested against an API on the loopback interface. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Configuration, Emitter } from '@inlay/protocol/connector';
import { ExactNumber } from '@inlay/protocol/json';
import type { State, Stream } from '@inlay/protocol/protocol';
import { describe, expect, test } from 'vitest';
import type { Asked } from '../../../guard/test/http-server.ts';
import { configuredStream, openSurroundings } from '../../test/run-source.ts';
import { items, startApi } from '../../test/start-api.ts';
import type { StreamConfiguration } from './configuration.ts';
import { connector } from './http-api.ts';

/** Reads the stream `things` incrementally, and keeps what came before the failure. */
async function readUntilFailure(configuration: Configuration) {
  const seen: unknown[] = [];
  const states: State[] = [];
  const stream: Stream = { name: 'things', json_schema: {}, supported_sync_modes: ['incremental'] };
  const emit: Emitter = {
    record: (_, { id }) => void seen.push(id),
    recordOf: () => undefined,
    state: (state) => void states.push(structuredClone(state)),
    status: () => undefined,
    report: () => undefined,
    log: () => {},
  };
  const catalog = { streams: [configuredStream(stream, 'incremental')] };
  const failure = await connector
    .read(configuration, catalog, [], emit, openSurroundings)
    .catch((error: unknown) => error);
  return { seen, states, failure };
}

const pagesAsked = (asked: readonly Asked[]) => asked.map(({ query }) => Number(query.page));

describe('the end of a list', () => {
  const api =
    (pages: object[][]) =>
    ({ query: { page } }: Asked) => ({ list: pages[Number(page) - 1] ?? [], has_more: page === '3' });
  const pages = [items(0, 2), items(2, 3), items(3, 5)];

  test('is the first empty page where that was chosen, whatever the API says besides', async () => {
    const { asked, read } = await startApi(api(pages), {
      record_path: 'list',
      pagination: { type: 'page', page_size: 2, end: 'empty_page' },
    });
    expect((await read()).ids).toEqual([0, 1, 2, 3, 4]);
    expect(Math.max(...pagesAsked(asked))).toBe(4);
  });

  test('is the first page that is not full where that was chosen, and no further page is requested', async () => {
    for (const pagination of [
      { type: 'page', page_size: 2, end: 'short_page' },
      // Without a size, a page is not full that has less than the longest one.
      { type: 'page', end: 'short_page' },
    ] as const) {
      const { asked, read } = await startApi(api(pages), { record_path: 'list', pagination });
      expect((await read()).ids).toEqual([0, 1, 2]);
      expect(Math.max(...pagesAsked(asked))).toBe(2);
    }
  });

  test('is no short page unless that was chosen', async () => {
    const { read } = await startApi(({ query: { page } }) => pages[Number(page) - 1] ?? [], {
      pagination: { type: 'page', page_size: 2 },
    });
    expect((await read()).ids).toEqual([0, 1, 2, 3, 4]);
  });

  test('is where a field of any name says so', async () => {
    const { asked, read } = await startApi(
      ({ query: { page } }) => ({ list: [{ id: Number(page) }], state: { further: page !== '2' } }),
      { record_path: 'list', pagination: { type: 'page', more_path: 'state.further' } },
    );
    expect((await read()).ids).toEqual([1, 2]);
    expect(Math.max(...pagesAsked(asked))).toBe(2);
  });
});

describe('pages by the id of the last record', () => {
  const itemsAfter = (id: string | undefined, count: number) => {
    const first = id === undefined ? 0 : Number(id) + 1;
    return items(first, Math.min(first + count, 7));
  };

  test('continue behind it, until the API says that there are no more', async () => {
    const { asked, read } = await startApi(
      ({ query: { starting_after, limit } }) => {
        const data = itemsAfter(starting_after, Number(limit));
        return { data, has_more: data.at(-1)?.id !== 6 };
      },
      {
        record_path: 'data',
        pagination: { type: 'last_id', id_parameter: 'starting_after', size_parameter: 'limit', page_size: 3 },
      },
    );
    const { ids } = await read();
    expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(asked.slice(-3).map(({ query }) => query)).toEqual([
      { limit: '3' },
      { limit: '3', starting_after: '2' },
      { limit: '3', starting_after: '5' },
    ]);
  });

  test('end with an empty page, or with a short one where that was chosen', async () => {
    for (const [end, requests] of [
      ['automatic', 4],
      ['short_page', 3],
    ] as const) {
      const { asked, read } = await startApi(({ query: { last } }) => itemsAfter(last, 3), {
        pagination: { type: 'last_id', id_parameter: 'last', page_size: 3, end },
      });
      expect((await read()).ids).toEqual([0, 1, 2, 3, 4, 5, 6]);
      // The discovery before asks for two pages.
      expect(asked).toHaveLength(2 + requests);
    }
  });

  test('are noticed when the API knows nothing of the parameter, or the records have no such id', async () => {
    const ignoring = await startApi(() => items(0, 3), { pagination: { type: 'last_id', id_parameter: 'after' } });
    await expect(ignoring.read()).rejects.toThrow('same next page id');
    const nameless = await startApi(() => [{ key: 1 }], { pagination: { type: 'last_id', id_parameter: 'after' } });
    await expect(nameless.read()).rejects.toThrow(/last record .* id\./);
  });
});

describe('a JSON body', () => {
  /** Answers a POST, and keeps what was sent. */
  async function startPostApi(
    answer: (body: Record<string, unknown>) => unknown,
    stream: Partial<StreamConfiguration>,
  ) {
    const sent: string[] = [];
    const handler = (_: Asked, reply: ServerResponse, request: IncomingMessage) => {
      text(request).then((body) => {
        if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') {
          reply.writeHead(405).end();
          return;
        }
        sent.push(body);
        reply.end(JSON.stringify(answer(JSON.parse(body))));
      });
    };
    return { sent, ...(await startApi(handler, stream)) };
  }

  test('is sent as it was entered, with every page', async () => {
    const body = '{"filter": {"open": true, "name": "{{ x }}", "none": null, "empty": ""}, "id": 9007199254740993}';
    const { sent, asked, read } = await startPostApi(() => [], {
      body,
      pagination: { type: 'page' },
      query_parameters: [{ name: 'a', value: '1' }],
    });
    await read();
    expect(sent.at(-1)).toBe('{"filter":{"open":true,"name":"{{ x }}","none":null,"empty":""},"id":9007199254740993}');
    expect(asked.at(-1)?.query).toEqual({ a: '1', page: '1' });
    const empty = await startPostApi(() => [], { body: ' {} ' });
    await empty.check();
    expect(empty.sent).toEqual(['{}']);
  });

  test('has the parameters of pages and of the cursor, where that was chosen', async () => {
    const { sent, asked, read } = await startPostApi(
      ({ paging }) => {
        const { from = '0' } = (paging ?? {}) as { from?: string };
        return { rows: items(Number(from), Number(from) + 2), next: from === '0' ? '2' : null };
      },
      {
        record_path: 'rows',
        body: '{"sort": "id", "paging": {"size": 2}, "since": "never"}',
        parameters_in: 'body',
        cursor_field: 'id',
        cursor_parameter: 'since',
        pagination: { type: 'cursor', token_path: 'next', token_parameter: 'paging.from' },
      },
    );
    const first = await read({ syncMode: 'incremental' });
    expect(first.ids).toEqual([0, 1, 2, 3]);
    expect(sent.slice(-2).map((body) => JSON.parse(body))).toEqual([
      { sort: 'id', paging: { size: 2 }, since: 'never' },
      { sort: 'id', paging: { size: 2, from: '2' }, since: 'never' },
    ]);
    expect((await read({ syncMode: 'incremental', state: first.states })).ids).toEqual([]);
    expect(JSON.parse(sent.at(-1) ?? '')).toMatchObject({ since: '3' });
    expect(asked.every(({ query }) => Object.keys(query).length === 0)).toBe(true);
  });

  test('that is no JSON object is a fault of the configuration', async () => {
    const { check } = await startApi(() => [], { body: '{"a": ' });
    await expect(check()).rejects.toThrow(/^Stream things: .*body is not/);
  });
});

describe('a parent list', () => {
  const repositories = [
    { id: 1, owner: { name: 'ann' }, key: 'a b/c' },
    { id: 2, owner: { name: 'bob' }, key: '{{ 7*7 }}' },
  ];
  const api = ({ path, query }: Asked) => {
    if (path === '/v1/repos') return repositories;
    const [, key = '', kind] = /^\/v1\/repos\/(.*)\/(issues|comments)$/.exec(decodeURI(path)) ?? [];
    return [{ id: `${key} ${kind} ${query.owner ?? ''}` }];
  };
  const repos = { name: 'repos', path: '/repos' };
  const issues = {
    name: 'issues',
    path: '/repos/{key}/issues?owner={owner.name}',
    parent: { stream: 'repos', copy_field: 'repo' },
  };

  test('is read for its children, whose path and records have its fields', async () => {
    const { asked, read, check } = await startApi(api, {}, { streams: [issues, repos] });
    await check();
    const { records } = await read();
    expect(records.repos).toEqual(repositories);
    expect(records.issues).toEqual([
      { id: 'a b/c issues ann', repo: 'a b/c' },
      { id: '{{ 7*7 }} issues bob', repo: '{{ 7*7 }}' },
    ]);
    // In one sync, the parents are requested once.
    expect(asked.slice(-3).filter(({ path }) => path === '/v1/repos')).toHaveLength(1);
  });

  test('whose record has no value for the path has no list; numbers and texts stay what they are', async () => {
    const { asked, read } = await startApi(
      ({ path }) =>
        path === '/v1/repos'
          ? [{ owner: { id: null } }, { owner: null }, { owner: { id: 0 } }, { owner: { id: '007' } }]
          : [{ path }],
      {},
      {
        streams: [repos, { name: 'issues', path: '/of/{owner.id}', parent: { stream: 'repos', copy_field: 'owner' } }],
      },
    );
    const { records } = await read();
    expect(records.repos).toHaveLength(4);
    expect(records.issues).toEqual([
      { path: '/v1/of/0', owner: 0 },
      { path: '/v1/of/007', owner: '007' },
    ]);
    expect(asked.map(({ path }) => path)).not.toContain('/v1/of/None');
  });

  test('may itself belong to a parent', async () => {
    const comments = { name: 'comments', path: '/repos/{id}/comments', parent: { stream: 'issues' } };
    const { read } = await startApi(api, {}, { streams: [repos, issues, comments] });
    expect((await read()).records.comments).toEqual([
      { id: 'a b/c issues ann comments ' },
      { id: '{{ 7*7 }} issues bob comments ' },
    ]);
  });

  test('that cannot be is explained', async () => {
    const wrong = async (...streams: object[]) => (await startApi(api, {}, { streams })).check();
    await expect(wrong({ ...issues, path: '/issues' }, repos)).rejects.toThrow(/^Stream issues: .*\{id\}/);
    await expect(wrong(issues)).rejects.toThrow(/^Stream issues: .* repos /);
    await expect(wrong({ ...repos, path: '/{x}', parent: { stream: 'issues' } }, issues)).rejects.toThrow(
      'form a cycle',
    );
  });
});

describe('a time window', () => {
  const rows = [2020, 2021, 2021, 2022, 2023].map((year, id) => ({ id, at: `${year}-0${id + 1}-01T10:00:00Z` }));
  const window = {
    start: '2020-01-01',
    start_parameter: 'from',
    end_parameter: 'to',
    step: 'P1Y',
    format: 'date',
  } as const;
  const within = ({ query: { from = '', to = '' } }: Asked) => {
    return rows.filter(({ at }) => at.slice(0, 10) >= from && at.slice(0, 10) <= to);
  };

  test('follows the other, and each has a state behind it', async () => {
    const { asked, read } = await startApi(within, { cursor_field: 'at', time_window: window });
    const { ids, states, events } = await read({ syncMode: 'incremental' });
    // Two windows are read at the same time.
    expect(ids?.sort()).toEqual([0, 1, 2, 3, 4]);
    expect(asked.map(({ query }) => query)).toContainEqual({ from: '2021-01-01', to: '2021-12-31' });
    expect(events.indexOf('state')).toBeLessThan(events.lastIndexOf('record'));
    const reached = states.map(({ stream }) => JSON.stringify(stream?.stream_state));
    expect(reached).toEqual([...reached].sort());
    expect(new Set(reached).size).toBeGreaterThan(1);
    const again = await read({ syncMode: 'incremental', state: states.slice(-1) });
    expect(again.ids).toEqual([4]);
    expect((await read()).ids?.sort()).toEqual([0, 1, 2, 3, 4]);
  });

  test('that fails leaves a state, from which the next sync continues', async () => {
    let isBroken = true;
    const { configuration, read } = await startApi(
      (asked, reply) => {
        if (isBroken && asked.query.from?.startsWith('2022')) return void reply.writeHead(418).end();
        return within(asked);
      },
      { cursor_field: 'at', time_window: window },
    );
    const { seen, states, failure } = await readUntilFailure(configuration);
    expect(failure).toMatchObject({ message: expect.stringMatching(/^Stream things: .* 418/) });
    isBroken = false;
    const rest = await read({ syncMode: 'incremental', state: states.slice(-1) });
    expect(new Set([...seen, ...(rest.ids ?? [])])).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  test('continues from a state of a stream that had none, and without one from its state', async () => {
    const stateOf = (stream_state: object) => [
      { type: 'STREAM' as const, stream: { stream_descriptor: { name: 'things' }, stream_state } },
    ];
    const withWindow = await startApi(within, { cursor_field: 'at', time_window: window });
    const old = stateOf({ cursor: '2022-03-01T00:00:00Z', at_cursor: ['x'] });
    expect((await withWindow.read({ syncMode: 'incremental', state: old })).ids?.sort()).toEqual([3, 4]);
    const without = await startApi(() => rows, { cursor_field: 'at' });
    const state = stateOf({ at: '2022-03-01' });
    expect((await without.read({ syncMode: 'incremental', state })).ids?.sort()).toEqual([3, 4]);
  });

  test('of a child has a state for each parent', async () => {
    const { asked, read } = await startApi(
      (one) => (one.path.endsWith('/repos') ? [{ id: 'a' }, { id: 'b' }] : within(one)),
      {},
      {
        streams: [
          { name: 'repos', path: '/repos' },
          {
            name: 'issues',
            path: '/repos/{id}/issues',
            parent: { stream: 'repos' },
            cursor_field: 'at',
            time_window: { start: '2020-01-01', start_parameter: 'from', end_parameter: 'to', format: 'date' },
          },
        ],
      },
    );
    const { records, states } = await read({ syncMode: 'incremental' });
    expect(records.issues).toHaveLength(10);
    expect(states.at(-1)?.stream?.stream_state).toMatchObject({
      states: [{ partition: { id: 'a' } }, { partition: { id: 'b' } }],
    });
    asked.length = 0;
    await read({ syncMode: 'incremental', state: states.slice(-1) });
    const queries = asked.filter(({ path }) => path.endsWith('/issues')).map(({ query }) => query.from);
    expect(queries.slice(-2)).toEqual(['2023-05-01', '2023-05-01']);
  });

  test('without a cursor field, or with a length and no end, is a fault of the configuration', async () => {
    const wrong = async (stream: Partial<StreamConfiguration>) => (await startApi(() => [], stream)).check();
    await expect(wrong({ time_window: window })).rejects.toThrow(/time window.*cursor/);
    const endless = { start: '2020-01-01', start_parameter: 'from', step: 'P1D' } as const;
    await expect(wrong({ cursor_field: 'at', time_window: endless })).rejects.toThrow('requires an end parameter');
  });
});

describe('a list that is sorted by its cursor field', () => {
  /** Fails at the third page of a thousand until it is fixed. */
  async function startSortedApi(rows: { id: number; at: number }[]) {
    let isBroken = true;
    const server = await startApi(
      ({ query: { page = '', since = '-1' } }, reply) => {
        if (isBroken && page === '3') return void reply.writeHead(418).end();
        const wanted = rows.filter(({ at }) => at >= Number(since));
        return wanted.slice((Number(page) - 1) * 1000, Number(page) * 1000);
      },
      { cursor_field: 'at', cursor_parameter: 'since', sorted: true, pagination: { type: 'page' } },
    );
    const mend = () => {
      isBroken = false;
    };
    return { ...server, mend };
  }

  test('has states in the middle, from which a sync that was cut off continues', async () => {
    // Two records have the same value where the state is taken.
    const rows = Array.from({ length: 2500 }, (_, id) => ({ id, at: Math.floor(id / 3) }));
    const { configuration, mend, read } = await startSortedApi(rows);
    const { seen, states } = await readUntilFailure(configuration);
    expect(seen).toHaveLength(2000);
    expect(states.at(-1)?.stream?.stream_state).toMatchObject({ cursor: 666 });
    mend();
    const { ids } = await read({ syncMode: 'incremental', state: states.slice(-1) });
    expect(ids).toEqual(rows.slice(2000).map(({ id }) => id));
    const early = await read({ syncMode: 'incremental', state: states.slice(0, 1) });
    expect(early.ids).toEqual(rows.slice(1000).map(({ id }) => id));
  });

  test('and is not sorted after all loses nothing: its state goes back to where the sync began', async () => {
    const rows = Array.from({ length: 2500 }, (_, id) => ({ id, at: id === 1500 ? 3 : id }));
    const { configuration, mend, read } = await startSortedApi(rows);
    const { seen, states } = await readUntilFailure(configuration);
    expect(seen).toHaveLength(2000);
    expect(states.at(-1)?.stream?.stream_state).toEqual({});
    mend();
    expect((await read({ syncMode: 'incremental', state: states.slice(-1) })).ids).toHaveLength(2500);
  });
});

test('declared types are those of the schema, and values get them where nothing is lost', async () => {
  const { read } = await startApi(
    (_, reply) =>
      void reply.end(
        '[{"n": "12", "big": "9007199254740993", "part": "1.50", "word": "a dozen", "yes": "true", "code": 7, "at": null}]',
      ),
    {
      fields: [
        { name: 'n', type: 'integer' },
        { name: 'big', type: 'integer' },
        { name: 'part', type: 'integer' },
        { name: 'word', type: 'number' },
        { name: 'yes', type: 'boolean' },
        { name: 'code', type: 'text' },
        { name: 'at', type: 'date-time' },
        { name: 'later', type: 'list' },
      ],
    },
  );
  const { things, streams } = await read();
  const big = new ExactNumber('9007199254740993');
  expect(things).toEqual([{ n: 12, big, part: '1.50', word: 'a dozen', yes: true, code: '7', at: null }]);
  expect(streams[0]?.json_schema.properties).toMatchObject({
    n: { type: ['null', 'integer'] },
    code: { type: ['null', 'string'] },
    at: { type: ['null', 'string'], format: 'date-time' },
    later: { type: ['null', 'array'] },
  });
});

describe('client credentials', () => {
  async function startTokenApi(credentials_in: 'body' | 'header', client_secret = 's3cret: {{ x }}') {
    const tokens: { body: string; authorization: string | undefined }[] = [];
    const server = await startApi(
      ({ path, headers }, reply, request) => {
        if (path !== '/token') {
          if (headers.authorization === 'Bearer 1e3') return items(0, 2);
          return void reply.writeHead(401).end();
        }
        text(request).then((body) => {
          tokens.push({ body, authorization: headers.authorization });
          const isKnown = body.includes('s3cret') || headers.authorization !== undefined;
          reply.writeHead(isKnown ? 200 : 401).end('{"access_token": "1e3", "expires_in": 3600}');
        });
      },
      {},
      {
        streams: [
          { name: 'things', path: 'things' },
          { name: 'others', path: 'others' },
        ],
      },
    );
    const authentication = {
      type: 'client_credentials',
      token_url: `${server.origin}/token`,
      client_id: '0012',
      client_secret,
      scope: 'read all',
      credentials_in,
    };
    return { tokens, configuration: { ...server.configuration, authentication } };
  }

  test('get one token for all streams', async () => {
    const inBody = await startTokenApi('body');
    await connector.check(inBody.configuration, openSurroundings);
    expect(inBody.tokens).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(inBody.tokens[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: '0012',
      client_secret: 's3cret: {{ x }}',
      scope: 'read all',
    });
    const inHeader = await startTokenApi('header');
    await connector.check(inHeader.configuration, openSurroundings);
    const [{ body = '', authorization = '' } = {}] = inHeader.tokens;
    expect(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()).toBe('0012:s3cret: {{ x }}');
    expect(body).not.toContain('s3cret');
  });

  test('that are refused are reported as the fault of the authentication', async () => {
    const { configuration } = await startTokenApi('body', 'wrong');
    const failure = await connector.check(configuration, openSurroundings).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/^Stream things: .*access token \(401\)/),
      failureType: 'config_error',
      fields: ['authentication'],
    });
  });
});

test('a stream that fails does not keep the others from being read', async () => {
  const { configuration } = await startApi(
    ({ path }, reply) => (path.endsWith('/a') ? void reply.writeHead(403).end() : items(0, 2)),
    {},
    { streams: ['a', 'b', 'c'].map((name) => ({ name, path: name })) },
  );
  const read: string[] = [];
  const streams = ['a', 'b', 'c'].map((name) => ({
    stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh'] },
    sync_mode: 'full_refresh',
    destination_sync_mode: 'overwrite',
  }));
  const emit = {
    record: ({ name }: { name: string }) => void read.push(name),
    status: ({ name }: { name: string }, status: string) => void (status === 'STARTED' || read.push(status + name)),
    state: () => undefined,
    log: () => {},
  };
  const failure = await connector
    .read(configuration, { streams } as never, [], emit as never, openSurroundings)
    .catch((error: unknown) => error);
  expect(read).toEqual(['INCOMPLETEa', 'b', 'b', 'COMPLETEb', 'c', 'c', 'COMPLETEc']);
  expect(failure).toMatchObject({
    message: expect.stringMatching(/^Stream a: .*\(403\)/),
    fields: ['authentication'],
  });
});
