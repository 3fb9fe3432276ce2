/** Endpoint 4: parameters, pagination rules and limits; what `name_contains` finds is in name-contains.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnBothDatabases } from '../support/databases.ts';

const path = '/api/v1/workspaces';

interface Row {
  id: string;
  name: string;
  status: string;
  created_at: string;
}

describeOnBothDatabases('Endpoint 4: GET /api/v1/workspaces', (kind) => {
  let app: TestApp;
  /** In the order of their creation; every third is inactive. */
  const names = Array.from({ length: 23 }, (_, index) => `Customer ${index}`);

  beforeAll(async () => {
    app = await startTestApp(kind);
    for (const [index, name] of names.entries()) {
      const id = await app.workspaceId(name);
      if (index % 3 === 0) await app.request('PUT', `${path}/${id}`, { body: { status: 'inactive' } });
    }
  });
  afterAll(() => app.stop());

  async function list(query: Record<string, string> = {}) {
    const answer = await app.request('GET', `${path}?${new URLSearchParams(query)}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as { data: Row[]; next: string | null };
  }

  async function listAll(query: Record<string, string> = {}) {
    const pages = [await list(query)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) {
      const answer = await app.request('GET', next);
      expect(answer.status, answer.text).toBe(200);
      pages.push(answer.body);
    }
    return pages;
  }

  const refused = async (query: string) => {
    const answer = await app.request('GET', `${path}?${query}`);
    expect(answer.status, query).toBe(422);
    return answer.body;
  };

  describe('Parameters', () => {
    it('answers 200 in JSON', async () => {
      const { status, headers } = await app.request('GET', path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it('name_contains: none by default', async () => {
      expect((await list({ limit: '100' })).data).toHaveLength(23);
      expect((await list({ limit: '100', name_contains: '' })).data).toHaveLength(23);
    });

    it('name_contains: a case-insensitive partial match on the name', async () => {
      for (const name_contains of ['er 2', 'ER 2', 'Er 2']) {
        const found = (await list({ name_contains })).data.map(({ name }) => name);
        expect(found).toEqual(['Customer 22', 'Customer 21', 'Customer 20', 'Customer 2']);
      }
      expect((await list({ name_contains: 'nobody' })).data).toEqual([]);
    });

    it.each([
      ['active', 15],
      ['inactive', 8],
    ])('status: only %s ones', async (status, count) => {
      const { data } = await list({ status, limit: '100' });
      expect(data).toHaveLength(count);
      expect(new Set(data.map((row) => row.status))).toEqual(new Set([status]));
    });

    it('status: all statuses by default, and nothing else is accepted', async () => {
      expect(new Set((await list()).data.map(({ status }) => status))).toEqual(new Set(['active', 'inactive']));
      for (const status of ['deleted', 'ACTIVE', '']) {
        expect(await refused(`status=${status}`)).toEqual({
          detail: [
            {
              loc: ['query', 'status'],
              msg: "value is not a valid enumeration member; permitted: 'active', 'inactive'",
              type: 'type_error.enum',
            },
          ],
        });
      }
    });

    it('limit: 20 by default', async () => {
      expect((await list()).data).toHaveLength(20);
    });

    it.each(['1', '7', '100'])('limit: %s is accepted', async (limit) => {
      expect((await list({ limit })).data).toHaveLength(Math.min(Number(limit), 23));
    });

    it.each(['101', '1000', '999999999999999', '99999999999999999999'])('limit: %s is above 100', async (limit) => {
      expect(await refused(`limit=${limit}`)).toEqual({
        detail: [
          {
            loc: ['query', 'limit'],
            msg: 'ensure this value is less than or equal to 100',
            type: 'value_error.number.not_le',
          },
        ],
      });
    });

    it.each(['0', '-1', '-100'])('limit: %s is below 1', async (limit) => {
      expect(await refused(`limit=${limit}`)).toEqual({
        detail: [
          {
            loc: ['query', 'limit'],
            msg: 'ensure this value is greater than or equal to 1',
            type: 'value_error.number.not_ge',
          },
        ],
      });
    });

    it.each(['', 'ten', '1.5', '1e1', '0x10', '+5', 'null'])('limit: %j is no integer', async (limit) => {
      expect(await refused(`limit=${encodeURIComponent(limit)}`)).toEqual({
        detail: [{ loc: ['query', 'limit'], msg: 'value is not a valid integer', type: 'type_error.integer' }],
      });
    });

    it.each(['', 'x', '0', 'MA', 'MTIzLjQ1Ng', '../../etc/passwd', "' or 1=1 --", 'AAAA====', '\u00e9'])(
      'cursor: %j is none of ours',
      async (cursor) => {
        expect(await refused(`cursor=${encodeURIComponent(cursor)}`)).toEqual({
          detail: [
            {
              loc: ['query', 'cursor'],
              msg: 'use the cursor from the next link of an earlier page',
              type: 'value_error.cursor',
            },
          ],
        });
      },
    );

    it('all faults of the query come in one answer', async () => {
      const { detail } = await refused('limit=0&status=x&cursor=y&name_contains=a%00b');
      expect(detail.map((fault: { loc: string[] }) => fault.loc.join('.')).toSorted()).toEqual([
        'query.cursor',
        'query.limit',
        'query.name_contains',
        'query.status',
      ]);
    });

    it('ignores parameters it does not know', async () => {
      expect((await list({ offset: '7', page: '2' })).data).toHaveLength(20);
    });
  });

  describe('Pagination rules', () => {
    it('1. is cursor-based: a page starts after the last workspace of the one before', async () => {
      const { next } = await list({ limit: '5' });
      expect([...new URL(next ?? '').searchParams.keys()].toSorted()).toEqual(['cursor', 'limit']);
    });

    it('2. next is a full URL that returns the next page as it is', async () => {
      const first = await list({ limit: '5' });
      const answer = await app.request('GET', first.next ?? '');
      expect(answer.status).toBe(200);
      expect(answer.body.data).toHaveLength(5);
      expect(answer.body.data.map((row: Row) => row.id)).not.toContain(first.data[0]?.id);
    });

    it.each(['1', '4', '20', '22', '23', '100'])('3. continues until next is null, by %s', async (limit) => {
      const pages = await listAll({ limit });
      const rows = pages.flatMap(({ data }) => data);
      expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      expect(pages).toHaveLength(Math.ceil(23 / Number(limit)));
      expect(pages.at(-1)?.next).toBeNull();
    });

    it('4. the cursor is opaque and the same whatever the limit was', async () => {
      const cursorOf = ({ next }: { next: string | null }) => new URL(next ?? '').searchParams.get('cursor');
      const byFours = await listAll({ limit: '4' });
      expect(cursorOf(byFours[1] ?? { next: null })).toBe(cursorOf(await list({ limit: '8' })));
    });

    it('5. filters can be combined, and next keeps them and the limit', async () => {
      const query = { name_contains: 'cusTOMER 1', status: 'active', limit: '3' };
      const pages = await listAll(query);
      for (const { next } of pages.slice(0, -1)) {
        const { cursor, ...kept } = Object.fromEntries(new URL(next ?? '').searchParams);
        expect(kept).toEqual(query);
        expect(cursor).toEqual(expect.any(String));
      }
      const expected = names.filter((name, index) => name.startsWith('Customer 1') && index % 3 !== 0);
      expect(pages.flatMap(({ data }) => data.map(({ name }) => name)).toSorted()).toEqual(expected.toSorted());
    });

    it('next keeps the default limit, and characters that mean something in a URL', async () => {
      const { next } = await list();
      expect(new URL(next ?? '').searchParams.get('limit')).toBe('20');
      await Promise.all(['a&b=c #1', 'a&b=c #2'].map((name) => app.workspaceId(name)));
      const first = await list({ name_contains: 'a&b=c #', limit: '1' });
      expect(new URL(first.next ?? '').searchParams.get('name_contains')).toBe('a&b=c #');
      expect((await app.request('GET', first.next ?? '')).body.data).toHaveLength(1);
      for (const { id } of (await list({ name_contains: 'a&b=c #' })).data)
        await app.request('DELETE', `${path}/${id}`);
    });

    it('next comes from the configured URL, never from the Host header', async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
      const { body } = await app.request('GET', `${path}?limit=1`, { headers });
      expect(body.next).toMatch(/^http:\/\/localhost:8080\//);
    });

    it('is ordered newest first, by created_at and then id', async () => {
      const rows = (await listAll({ limit: '6' })).flatMap(({ data }) => data);
      const key = ({ created_at, id }: Row) => `${created_at} ${id}`;
      expect(rows.map(key)).toEqual(rows.map(key).toSorted().toReversed());
    });

    it('shows no deleted workspace', async () => {
      const id = await app.workspaceId('soon gone');
      expect((await list({ name_contains: 'soon gone' })).data).toHaveLength(1);
      await app.request('DELETE', `${path}/${id}`);
      expect((await list({ name_contains: 'soon gone' })).data).toEqual([]);
    });
  });

  describe('Limits', () => {
    it('limit default: 20', async () => {
      expect((await list()).data).toHaveLength(20);
      expect((await list()).data).toEqual((await list({ limit: '20' })).data);
    });

    it('limit maximum: 100', async () => {
      expect((await list({ limit: '100' })).data).toHaveLength(23);
      expect((await refused('limit=101')).detail[0].loc).toEqual(['query', 'limit']);
    });
  });
});
