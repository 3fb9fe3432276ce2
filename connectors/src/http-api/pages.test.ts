import { wholeStream } from '@inlay/manifests/run/slice';
import { ExactNumber } from '@inlay/protocol/json';
import { describe, expect, test } from 'vitest';
import { startHttpServer } from '../../../guard/test/http-server.ts';
import { openSurroundings } from '../../test/run-source.ts';
import { items, startApi } from '../../test/start-api.ts';
import { readConfiguration } from './configuration.ts';
import { sourceFor } from './http-api.ts';
import { nextLink } from './more-pages.ts';

describe('a request', () => {
  test('goes to the path below the base URL with the parameters of the stream', async () => {
    const { asked, check } = await startApi(() => [], {
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
    const { asked, check } = await startApi(() => [], { path });
    await check();
    expect(asked[0]?.path).toBe(askedFor);
  });

  test.each([
    [{ type: 'bearer', token: 'hidden\n' }, { authorization: 'Bearer hidden' }],
    [{ type: 'header', name: 'X-Api-Key', value: 'hidden' }, { 'x-api-key': 'hidden' }],
    [{ type: 'basic', username: 'me', password: 'hidden' }, { authorization: 'Basic bWU6aGlkZGVu' }],
  ])('says who asks by %j', async (authentication, headers) => {
    const { asked, check } = await startApi(
      () => [],
      {},
      { authentication, headers: [{ name: 'X-Version', value: '2' }] },
    );
    await check();
    expect(asked[0]?.headers).toMatchObject({ ...headers, 'x-version': '2', accept: 'application/json' });
    expect(asked[0]?.query).toEqual({});
  });

  test('carries a key in the query of every page', async () => {
    const { asked, read } = await startApi(
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

  test('by number are requested with the names and the size of the configuration', async () => {
    const { asked, read } = await startApi(
      ({ query: { p, size } }) => all.slice((Number(p) - 1) * Number(size), Number(p) * Number(size)),
      { pagination: { type: 'page', page_parameter: 'p', size_parameter: 'size', page_size: 10 } },
    );
    expect((await read()).things).toEqual(all);
    expect(asked.slice(-4).map(({ query }) => query.p)).toEqual(['1', '2', '3', '4']);
  });

  test('by number end with an empty page or with a 404 when all are full', async () => {
    for (const end of [200, 404]) {
      const { read } = await startApi(
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

  test('lose nothing when the API gives smaller pages than requested', async () => {
    const { read } = await startApi(
      ({ query: { offset = '0', limit = '0' } }) =>
        all.slice(Number(offset), Number(offset) + Math.min(10, Number(limit))),
      { pagination: { type: 'offset', page_size: 500 } },
    );
    expect((await read()).things).toEqual(all);
  });

  test('by offset use the names and the size of the configuration', async () => {
    const { asked, read } = await startApi(
      ({ query: { skip, take } }) => all.slice(Number(skip), Number(skip) + Number(take)),
      {
        pagination: { type: 'offset', offset_parameter: 'skip', size_parameter: 'take', page_size: 10 },
      },
    );
    expect((await read()).things).toEqual(all);
    expect(asked.slice(-4).map(({ query }) => query)).toEqual([
      { skip: '0', take: '10' },
      { skip: '10', take: '10' },
      { skip: '20', take: '10' },
      { skip: '25', take: '10' },
    ]);
  });

  test('by token continue through empty ones until there is no token', async () => {
    const pages: Record<string, object> = {
      '': { data: { list: items(0, 2) }, meta: { next: 'a b' } },
      'a b': { data: { list: [] }, meta: { next: 7 } },
      '7': { data: {}, meta: { next: 'c' } },
      c: { data: { list: items(2, 3) }, meta: { next: null } },
    };
    const { asked, read } = await startApi(({ query: { token = '' } }) => pages[token], {
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
    const { asked, read } = await startApi(
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
    const { check, read } = await startApi(() => ({ list: [{ id: 1 }], next: `${other.origin}/steal` }), {
      record_path: 'list',
      pagination: { type: 'link', url_path: 'next' },
    });
    await check();
    await expect(read()).rejects.toThrow(`another server (${other.origin})`);
    expect(other.asked).toEqual([]);
  });

  test.each([
    [
      { type: 'page' },
      'The API keeps returning the same page and seems to ignore the parameter page. Check the pagination.',
    ],
    [{ type: 'cursor', token_path: 'next', token_parameter: 't' }, 'The API keeps returning the same next page token'],
    [{ type: 'link', url_path: 'next' }, 'The API keeps returning the same next page link.'],
  ] as const)('that repeat without end are noticed: %j', async (pagination, message) => {
    const { read, asked } = await startApi(() => ({ list: items(0, 3), next: 'x' }), {
      record_path: 'list',
      pagination,
    });
    await expect(read()).rejects.toThrow(`Stream things: ${message}`);
    expect(asked.length).toBeLessThan(10);
  });

  test.each([
    ['invents more and more', { list: [{}] }, 'There are more than 50 pages. Check the pagination.', 50],
    [
      'announces more and sends nothing',
      { list: [], has_more: true },
      'The API reports more pages but returned 20 empty pages in a row. Check the pagination.',
      19,
    ],
  ])('have an end even when the API %s', async (_, answer, message, count) => {
    let next = 0;
    const isPointing = answer.list.length > 0;
    const { configuration } = await startApi(() => ({ ...answer, ...(isPointing && { next: ++next }) }), {
      record_path: 'list',
      pagination: isPointing ? { type: 'cursor', token_path: 'next', token_parameter: 't' } : { type: 'page' },
    });
    const reading = { attempts: 1, hasWorked: false, limits: { pages: 50, emptyPages: 20 } };
    const { source, config } = sourceFor(readConfiguration(configuration), reading);
    let pages = 0;
    const readAll = source.withStreams(config, openSurroundings, async ([stream]) => {
      for await (const _ of stream?.open().read(wholeStream) ?? []) pages += 1;
    });
    await expect(readAll).rejects.toThrow(message);
    expect(pages).toBe(count);
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
    const { read } = await startApi(() => answer, { record_path });
    expect((await read()).things).toEqual(records);
  });

  test('keep long integers, and characters of every kind', async () => {
    const { read } = await startApi(
      (_, reply) => void reply.end('\ufeff[{"id": 9007199254740993, "name": "\\ud83d\\ude00 ä"}]'),
    );
    const { things, streams } = await read();
    expect(things).toEqual([{ id: new ExactNumber('9007199254740993'), name: '😀 ä' }]);
    expect(streams[0]?.json_schema.properties).toMatchObject({ id: { type: ['null', 'integer'] } });
  });

  test('are none when the answer is 204', async () => {
    const { read } = await startApi((_, reply) => void reply.writeHead(204).end());
    expect((await read()).things).toEqual([]);
  });
});
