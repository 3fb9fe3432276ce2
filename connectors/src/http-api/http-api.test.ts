import { describe, expect, test } from 'vitest';
import type { Handler } from '../../../guard/test/http-server.ts';
import { configuredStream, openSurroundings, runSourceProgram } from '../../test/run-source.ts';
import { items, startApi, validate } from '../../test/start-api.ts';
import { connector } from './http-api.ts';

describe('discovery', () => {
  test('describes the streams from their first pages', async () => {
    const { read } = await startApi(
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
    const { configuration } = await startApi(() => [], { primary_key: ['id'] });
    const { streams } = await connector.discover(configuration, openSurroundings);
    expect(streams).toMatchObject([
      { name: 'things', json_schema: { properties: { id: {} } }, supported_sync_modes: ['full_refresh'] },
    ]);
  });
});

describe('reading', () => {
  test('says when each stream begins and is complete, and keeps no state in a full refresh', async () => {
    const { read } = await startApi(() => items(0, 2));
    const { events, states } = await read();
    expect(events).toEqual(['STARTED', 'record', 'record', 'COMPLETE']);
    expect(states).toEqual([]);
  });

  test('takes only what is new, and sends the API the time to start from', async () => {
    let rows = [
      { id: 1, at: '2024-01-02T00:00:00Z' },
      { id: 2, at: '2024-01-01T00:00:00Z' },
    ];
    const { asked, read } = await startApi(() => ({ rows }), {
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
    const { read } = await startApi(({ query: { since } }) => (since ? {} : { rows: [{ id: 1, at: 1 }] }), {
      record_path: 'rows',
      cursor_field: 'at',
      cursor_parameter: 'since',
    });
    const { states } = await read({ syncMode: 'incremental' });
    expect((await read({ syncMode: 'incremental', state: states })).ids).toEqual([]);
  });

  test('has a state every 10,000 records that promises nothing before the end', async () => {
    const { read } = await startApi(() => Array.from({ length: 25_000 }, (_, id) => ({ id, at: 25_000 - id })), {
      cursor_field: 'at',
    });
    const { events, states } = await read({ syncMode: 'incremental' });
    expect(events.flatMap((event, index) => (event === 'state' ? [index] : []))).toEqual([10_001, 20_002, 25_003]);
    expect(states.map(({ stream }) => stream?.stream_state)).toMatchObject([{}, {}, { cursor: 25_000 }]);
    expect(states[1]?.stream?.stream_state).not.toHaveProperty('cursor');
  });

  test('fails for a stream that is not configured any more', async () => {
    const { configuration } = await startApi(() => []);
    const gone = { name: 'gone', json_schema: {}, supported_sync_modes: ['full_refresh' as const] };
    const { messages, exitCode } = await runSourceProgram('http-api', 'read', {
      configuration,
      streams: [configuredStream(gone, 'full_refresh')],
    });
    expect(exitCode).toBe(1);
    expect(messages).toMatchObject([
      {
        type: 'TRACE',
        trace: { error: { message: expect.stringMatching(/stream gone /) } },
      },
    ]);
  });
});

describe('a check', () => {
  test('reads one page of each stream', async () => {
    const { asked, check } = await startApi(
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
    ['401', answer(401), 'The API rejected the key or password (401). Check the authentication.'],
    ['403', answer(403), 'The API denied access (403). Check the key and its permissions.'],
    ['404', answer(404), 'The API found nothing at this URL (404). Check the base URL and the path.'],
    ['400', answer(400), 'The API returned 400. Check the path, parameters and headers.'],
    ['a page', answer(200, '<html>', html), 'The API returned a web page instead of JSON. Check the base URL'],
    ['nothing', answer(200), 'The API returned nothing instead of JSON. Check the base URL and the path.'],
    ['half of JSON', answer(200, '{"key": "hid'), 'The API returned incomplete JSON. Try again later.'],
    ['texts', () => ['a'], 'The records are not JSON objects. Check the records path.'],
    ['a number', () => 5, 'The records are not JSON objects. Check the records path.'],
  ])('explains %s', async (_, handler, message) => {
    const { check } = await startApi(handler);
    await expect(check()).rejects.toThrow(`Stream things: ${message}`);
  });

  test('explains a wrong path of the records, and fields that are not there', async () => {
    const { check } = await startApi(() => ({ items: [], total: 0 }), { record_path: 'data.items' });
    await expect(check()).rejects.toThrow(/^Stream things: .*data\.items.* items, total\..*records path/);
    const keyless = await startApi(() => items(0, 1), { primary_key: ['key'] });
    await expect(keyless.check()).rejects.toThrow(/ key\..* id\./);
    const cursorless = await startApi(() => items(0, 1), { cursor_field: 'at' });
    await expect(cursorless.check()).rejects.toThrow(/ at\..* id\./);
  });

  test('explains an answer that is too long', async () => {
    const { check } = await startApi((_, reply) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const send = (left: number): void => {
        if (left === 0) reply.end('[]');
        else reply.write(chunk, () => send(left - 1));
      };
      send(70);
    });
    await expect(check()).rejects.toThrow(/64 MB.*pages/);
  });

  test('explains what is wrong with the configuration itself', async () => {
    const wrong = async (more: object) => (await startApi(() => [], {}, more)).check();
    const stream = { name: 'a', path: '' };
    await expect(wrong({ streams: [stream, stream] })).rejects.toThrow(/streams .* a\./);
    await expect(wrong({ base_url: 'http://[' })).rejects.toThrow(/base URL is not/);
    await expect(wrong({ base_url: 'https://me:secret@api.test' })).rejects.toThrow(
      /base URL .*username.*authentication/,
    );
    await expect(wrong({ authentication: { type: 'bearer', token: 'a\nb' } })).rejects.toThrow(/token .*line break/);
  });

  test('does not reach private networks unless that is allowed', async () => {
    const { asked, check } = await startApi(() => []);
    await expect(check({ ...openSurroundings, allowPrivateNetworks: false })).rejects.toThrow(
      /^Stream things: .*127\.0\.0\.1.*public internet/,
    );
    expect(asked).toEqual([]);
  });
});

test('does not reach the service itself, even where private networks are allowed', async () => {
  const { asked, check, origin } = await startApi(() => []);
  const serviceEndpoints = [{ host: 'localhost', port: Number(new URL(origin).port) }];
  await expect(check({ ...openSurroundings, serviceEndpoints })).rejects.toThrow('is Inlay itself');
  expect(asked).toEqual([]);
});

describe('as a program', () => {
  test('checks, discovers and reads', async () => {
    let busy = 1;
    const { configuration, asked } = await startApi(
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
    busy = 1;
    const read = await runSourceProgram('http-api', 'read', { configuration, streams });
    expect(read.exitCode).toBe(0);
    expect(read.messages.map(({ type }) => type)).toEqual([
      ...['TRACE', 'TRACE', 'LOG', 'RECORD', 'RECORD', 'RECORD', 'TRACE'],
    ]);
    expect(read.messages[1]).toMatchObject({
      trace: { stream_status: { status: 'RUNNING', reasons: [{ type: 'RATE_LIMITED' }] } },
    });
  });

  test.each([
    { type: 'bearer', token: 'hidden-secret' },
    { type: 'query', name: 'key', value: 'hidden-secret' },
    { type: 'basic', username: 'me', password: 'hidden-secret' },
    { type: 'header', name: 'x-key', value: 'hidden-secret' },
  ])('shows no secret when it fails: %j', async (authentication) => {
    // An API may well repeat in its error what it was sent.
    const { configuration } = await startApi(
      ({ headers, query }, reply) => void reply.writeHead(200).end(`<${JSON.stringify([headers, query])}>`),
      {},
      { authentication },
    );
    const result = await runSourceProgram('http-api', 'discover', { configuration });
    expect(result).toMatchObject({ exitCode: 1, messages: [{ type: 'TRACE' }] });
    const shown = JSON.stringify(result);
    expect(shown).toContain('returned a web page');
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
