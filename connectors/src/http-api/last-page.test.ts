import { describe, expect, test } from 'vitest';
import type { Asked } from '../../../guard/test/http-server.ts';
import { items, startApi } from '../../test/start-api.ts';

const ids = (from: number, to: number) => items(from, to).map(({ id }) => id);

/** The pages of an API that sends these, counted from 1, and nothing beyond them. */
const pagesOf =
  (pages: unknown[], beyond: unknown = []) =>
  ({ query: { page } }: Asked) =>
    pages[Number(page) - 1] ?? beyond;

describe('a short page in the middle', () => {
  test('of numbered pages is not the last', async () => {
    // The API leaves out what the key may not see, after it has counted a page.
    const pages = Array.from({ length: 10 }, (_, page) => items(page * 100, page * 100 + (page === 2 ? 98 : 100)));
    const { read } = await startApi(pagesOf(pages), {
      pagination: { type: 'page', size_parameter: 'size', page_size: 100 },
    });
    expect((await read()).things).toEqual(pages.flat());
  });

  test('of pages by offset is not the last, and what follows is not skipped', async () => {
    const all = items(0, 1000);
    const { read } = await startApi(
      ({ query: { offset, limit } }) => {
        // As when an answer may have only so many bytes.
        const count = offset === '200' ? 60 : Number(limit);
        return all.slice(Number(offset), Number(offset) + count);
      },
      { pagination: { type: 'offset' } },
    );
    expect((await read()).things).toEqual(all);
  });
});

describe('an empty page', () => {
  const withFlag = (flag: (page: number) => object) => {
    const pages = [items(0, 3), [], [], items(3, 5)];
    return pages.map((list, index) => ({ data: { list }, ...flag(index) }));
  };
  const isMore = (page: number) => page < 3;

  test.each([
    ['has_more', (page: number) => ({ has_more: isMore(page) })],
    ['hasNextPage', (page: number) => ({ pageInfo: { hasNextPage: isMore(page) } })],
    ['isLast', (page: number) => ({ isLast: !isMore(page) })],
    ['links.next', (page: number) => ({ links: { next: isMore(page) ? `/?page=${page + 1}` : null } })],
    ['_links.next', (page: number) => ({ _links: isMore(page) ? { next: { href: '/x' } } : {} })],
    ['total_pages', () => ({ meta: { total_pages: 4 } })],
    ['total', () => ({ meta: { total: 12 } })],
  ])('is not the last when %s says that there are more', async (_, flag) => {
    const { read } = await startApi(pagesOf(withFlag(flag), { data: { list: [] }, ...flag(9) }), {
      record_path: 'data.list',
      pagination: { type: 'page' },
    });
    expect((await read()).ids).toEqual(ids(0, 5));
  });

  test('is not the last when a Link header names the next', async () => {
    const { read } = await startApi(
      ({ query: { page } }, reply) => {
        const isLast = Number(page) >= 3;
        reply.setHeader('link', isLast ? '</?page=1>; rel="first"' : `</?page=${Number(page) + 1}>; rel="next"`);
        return [items(0, 2), [], items(2, 4)][Number(page) - 1] ?? [];
      },
      { pagination: { type: 'page' } },
    );
    expect((await read()).ids).toEqual(ids(0, 4));
  });

  test('is not the last when the configured path says that there are more, by offset too', async () => {
    const all: Record<string, object> = {
      '0': { list: items(0, 2), state: { further: 'yes' } },
      '2': { list: [], state: { further: 'yes' } },
      '4': { list: items(2, 4), state: { further: '' } },
    };
    const { read } = await startApi(({ query: { offset = '' } }) => all[offset], {
      record_path: 'list',
      pagination: { type: 'offset', page_size: 2, more_path: 'state.further' },
    });
    expect((await read()).ids).toEqual(ids(0, 4));
  });

  test.each([
    ['names a next page beyond the last one too', { next: '/things?page=99' }],
    ['counts more than it shows', { total: 1_000_000 }],
  ])('ends the reading of an API that %s, with a word in the log', async (_, more) => {
    const { read } = await startApi(pagesOf([{ list: items(0, 2), ...more }], { list: [], ...more }), {
      record_path: 'list',
      pagination: { type: 'page' },
    });
    const { ids: found, log } = await read();
    expect(found).toEqual(ids(0, 2));
    expect(log).toEqual([expect.stringMatching(/^Stream things: .*empty pages after 2 records/)]);
  });
});

describe('the last page', () => {
  test('is the one that says so, and no further one is requested', async () => {
    const { asked, read } = await startApi(
      ({ query: { page } }) => ({ list: items(Number(page), Number(page) + 1), hasMore: page !== '3' }),
      { record_path: 'list', pagination: { type: 'page' } },
    );
    expect((await read()).ids).toEqual([1, 2, 3]);
    expect(Math.max(...asked.map(({ query }) => Number(query.page)))).toBe(3);
  });

  test('is not the one whose records have a field of a known name', async () => {
    const pages = [[{ id: 1, has_more: false, next: null, total: 1 }], [{ id: 2, has_more: false, next: null }]];
    const { read } = await startApi(pagesOf(pages), { pagination: { type: 'page' } });
    expect((await read()).ids).toEqual([1, 2]);
  });

  test('is not the one that names no next page, as with a way of paging that is not used', async () => {
    const pages = [1, 2].map((id) => ({ list: [{ id }], next: null, next_cursor: null, total: 1 }));
    const { read } = await startApi(pagesOf(pages, { list: [] }), {
      record_path: 'list',
      pagination: { type: 'page' },
    });
    expect((await read()).ids).toEqual([1, 2]);
  });

  test.each([400, 404, 416, 422])('may be followed by a %i when it was short', async (status) => {
    const { read } = await startApi(
      ({ query: { page } }, reply) => {
        if (Number(page) <= 2) return items(Number(page) * 5, page === '1' ? 10 : 12);
        reply.writeHead(status).end();
      },
      { pagination: { type: 'page' } },
    );
    expect((await read()).ids).toEqual(ids(5, 12));
  });

  test('is not distinguished from a limit of the API when it is full and a 422 follows', async () => {
    const { read } = await startApi(
      ({ query: { page } }, reply) => {
        if (Number(page) <= 2) return items(Number(page) * 5, Number(page) * 5 + 5);
        reply.writeHead(422).end();
      },
      { pagination: { type: 'page' } },
    );
    await expect(read()).rejects.toThrow(/^Stream things: .* 422/);
  });

  test.each([
    ['is short', [items(0, 5), items(5, 8)]],
    ['is full', [items(0, 5), items(5, 10)]],
  ])('is taken once when the API repeats it and it %s', async (_, pages) => {
    const { read } = await startApi(pagesOf(pages, pages[1]), {
      pagination: { type: 'page', size_parameter: 'n', page_size: 5 },
    });
    const { things, log } = await read();
    expect(things).toEqual(pages.flat());
    expect(log).toEqual([expect.stringMatching(/^Stream things: .*repeats.* page 3 /)]);
  });

  test('is taken once when it is the only one and the API repeats it', async () => {
    const { read } = await startApi(() => items(0, 3), {
      pagination: { type: 'page', size_parameter: 'n', page_size: 10 },
    });
    expect((await read()).things).toEqual(items(0, 3));
  });

  test('is noticed when the API begins again with the first', async () => {
    const pages = [items(0, 5), items(5, 10), items(10, 15)];
    const { read } = await startApi(({ query: { page } }) => pages[(Number(page) - 1) % 3], {
      pagination: { type: 'page' },
    });
    const { things, log } = await read();
    expect(things).toEqual(pages.flat());
    expect(log).toEqual([expect.stringMatching(/^Stream things: .*repeats.* page 4 /)]);
  });

  test('is not a page that happens to have the same records as the one before', async () => {
    const pages = [[{ on: true }], [{ on: false }], [{ on: false }], [{ at: 1 }], [{ at: 1 }]];
    const { read } = await startApi(pagesOf(pages), { pagination: { type: 'page' } });
    expect((await read()).things).toEqual(pages.flat());
  });

  test('is the one that says so though it gives a token for a later time', async () => {
    let token = 0;
    const answer = ({ query: { t } }: Asked) => ({
      entries: t === undefined ? items(0, 2) : [],
      cursor: `c${++token}`,
      has_more: t === undefined,
    });
    const pagination = { type: 'cursor', token_path: 'cursor', token_parameter: 't' } as const;
    const { read } = await startApi(answer, { record_path: 'entries', pagination });
    expect((await read()).ids).toEqual([0, 1]);
  });

  test.each([
    ['token', { type: 'cursor', token_path: 'meta.nxt', token_parameter: 't' }],
    ['link', { type: 'link', url_path: 'meta.nxt' }],
  ] as const)(
    'is not the one that says there are more and has no %s at the configured path',
    async (what, pagination) => {
      const { read } = await startApi(() => ({ list: items(0, 2), meta: { next: 'x', has_more: true } }), {
        record_path: 'list',
        pagination,
      });
      await expect(read()).rejects.toThrow(`no next page ${what} at`);
    },
  );

  test('is the only one without pagination, and the log says so when the API has more', async () => {
    const { read } = await startApi(() => ({ list: items(0, 2), meta: { has_more: true } }), { record_path: 'list' });
    const { things, log } = await read();
    expect(things).toEqual(items(0, 2));
    expect(log).toEqual([expect.stringMatching(/^Stream things: .*no pagination/)]);
  });
});
