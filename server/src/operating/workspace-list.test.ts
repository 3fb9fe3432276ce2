/** The list of all customers: by a part of the name, in every order, page by page, on both databases. */
import { workspaceOrders } from '@inlay/contract/pipelines/operating';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { planOf, statementOf } from '../../test/support/query-plan.ts';
import { type Seeded, seedPipelines } from '../../test/support/seed-pipelines.ts';
import { listWorkspacePage, type WorkspaceOrder } from './workspace-list.store.ts';

const path = '/api/v1/integrations/workspaces';
type Listed = { id: string; name: string; unwell_since: string | null; last_activity_at: string | null };

describeOnBothDatabases('The list of workspaces with their health', (kind) => {
  let test: TestApp;
  let seeded: Seeded[];
  beforeAll(async () => {
    test = await startTestApp(kind);
    const healthOf = (index: number) => (index % 5 === 0 ? 'failing' : 'healthy');
    const options = { organizationId: test.organizationId, workspaces: 25, jobsEach: 1, healthOf } as const;
    ({ seeded } = await seedPipelines(test.app.store, options));
    for (const [index, { workspaceId }] of seeded.entries()) {
      const name = `${index % 2 === 0 ? 'Shop' : 'shop'} ${'nzmaebq'[index % 7]}`;
      await test.app.store.db
        .updateTable('workspaces')
        .set({ name, name_folded: name.toLowerCase(), active_at: ((index * 7) % 25) * 1000 })
        .where('id', '=', workspaceId)
        .execute();
    }
  });
  afterAll(() => test.stop());

  async function all(query: string) {
    const items: Listed[] = [];
    for (let url: string | null = `${path}?${query}`; url !== null; ) {
      const answer = await test.request('GET', url);
      expect(answer.status, answer.text).toBe(200);
      items.push(...answer.body.data);
      url = answer.body.next === null ? null : answer.body.next.slice(answer.body.next.indexOf('/api/'));
    }
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    return items;
  }
  const folded = (items: Listed[]) => items.map(({ name }) => name.toLowerCase());

  it('comes in each order, each workspace once, over several pages', async () => {
    const byName = await all('sort=name&limit=4');
    expect(byName).toHaveLength(25);
    expect(folded(byName)).toEqual(folded(byName).toSorted());
    expect((await all('sort=-name&limit=4')).map(({ id }) => id)).toEqual(byName.map(({ id }) => id).toReversed());
    const active = (await all('sort=-last_activity_at&limit=4')).map(({ last_activity_at }) => last_activity_at);
    expect(active.at(-1)).toBeNull();
    expect(active.slice(0, -1)).toEqual(active.slice(0, -1).toSorted().toReversed());
    const unwell = (await all('sort=unwell_since&limit=2')).map(({ unwell_since }) => unwell_since);
    expect(unwell.slice(0, 5)).toEqual(unwell.slice(0, 5).toSorted());
    expect(unwell.slice(5)).toEqual(Array(20).fill(null));
    expect(await all('sort=name&health=failing&limit=2')).toHaveLength(5);
    expect(await all('sort=-last_activity_at&status=active&limit=10')).toHaveLength(25);
    expect(await all('sort=name&status=inactive')).toEqual([]);
  });

  it('is narrowed by a part of the name, in any order and with any other filter', async () => {
    const found = await all('name_contains=SHOP%20n&sort=name&limit=2');
    expect(new Set(folded(found))).toEqual(new Set(['shop n']));
    expect(found).toHaveLength(4);
    const failing = found.filter(({ unwell_since }) => unwell_since !== null);
    expect(await all('name_contains=shop%20n&health=failing')).toHaveLength(failing.length);
    expect(await all('name_contains=shop%20n&limit=3')).toHaveLength(4);
    expect(await all('name_contains=nobody')).toEqual([]);
  });

  it('is the one workspace with a whole name, if the other filters let it through', async () => {
    const ids = [await test.workspaceId('Café'), await test.workspaceId('Café au lait')];
    const idsOf = async (query: string) => (await all(query)).map(({ id }) => id);
    expect(await idsOf('name=Caf%C3%A9&limit=1')).toEqual([ids[0]]);
    // However Unicode writes it.
    expect(await idsOf('name=Cafe%CC%81&sort=name&status=active&name_contains=CAF')).toEqual([ids[0]]);
    for (const other of [
      'name=caf%C3%A9',
      'name=Caf',
      'name=Caf%C3%A9&status=inactive',
      'name=Caf%C3%A9&name_contains=lait',
    ]) {
      expect(await idsOf(other), other).toEqual([]);
    }
    const other = await addTenant(test, `another ${kind}`);
    expect((await other.request('GET', `${path}?name=Caf%C3%A9`)).body).toEqual({ data: [], next: null });
    expect((await test.request('GET', `${path}?name=`)).status).toBe(422);
    for (const id of ids) await test.request('DELETE', `/api/v1/workspaces/${id}`);
    expect(await idsOf('name=Caf%C3%A9')).toEqual([]);
  });

  it('shows nothing of another organization', async () => {
    const other = await addTenant(test, `other ${kind}`);
    expect((await other.request('GET', `${path}?sort=name`)).body).toEqual({ data: [], next: null });
  });

  it('finds many matches in the order of the list, and few by the index of names', async () => {
    const slice = { order: 'name', isDescending: false, after: undefined, limit: 3 } as const;
    const ask = (filter: object) => listWorkspacePage(test.app.store.db, test.organizationId, filter, slice);
    const many = await ask({ contains: 'shop z' });
    expect(many.map(({ name }) => name.toLowerCase())).toEqual(['shop z', 'shop z', 'shop z']);
    expect(await ask({ ids: [many[1]?.id ?? ''] })).toEqual([many[1]]);
    expect(await ask({ contains: 'shop z', among: 25 })).toEqual(many);
    expect(await ask({ contains: 'shop z', among: 1 })).toEqual([]);
  });

  it('refuses a cursor of another order, and one that was not made here', async () => {
    const first = await test.request('GET', `${path}?sort=name&limit=4`);
    const cursor = new URL(first.body.next).searchParams.get('cursor');
    for (const sort of ['-created_at', 'last_activity_at', 'unwell_since']) {
      const refused = await test.request('GET', `${path}?sort=${sort}&cursor=${cursor}`);
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'cursor'] }] } });
    }
    for (const text of [
      'x',
      'name."a".',
      'name."\\".3f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55',
      'name."\\u0000".3f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55',
    ]) {
      const made = Buffer.from(text).toString('base64url');
      expect((await test.request('GET', `${path}?sort=name&cursor=${made}`)).status).toBe(422);
    }
  });

  it('the list of workspaces finds each page by an index: nothing is read through or sorted', async () => {
    const { store } = test.app;
    for (const sort of workspaceOrders) {
      const order = sort.replace('-', '') as WorkspaceOrder;
      const after = { key: order === 'name' ? 'm' : 5, id: seeded[0]?.workspaceId ?? '' };
      const slice = { order, isDescending: sort.startsWith('-'), after, limit: 21 };
      const filters = [
        {},
        { status: 'active' },
        { from: 1, until: 9 },
        { health: 'failing' },
        { health: 'failing', status: 'active' },
      ] as const;
      for (const filter of filters) {
        if (order === 'unwell_since' && 'health' in filter) continue;
        const statement = await statementOf(store.db, (catching) =>
          listWorkspacePage(catching, test.organizationId, filter, slice),
        );
        const plan = await planOf(store, statement);
        expect(plan, statement.sql).not.toMatch(/\bSCAN\b|TEMP B-TREE|Seq Scan|\bSort\b/);
        // Most workspaces are active, so the status says least.
        if ('health' in filter) expect(plan, statement.sql).toMatch(/by_health/);
      }
    }
  });
});
