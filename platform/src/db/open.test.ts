/** What store functions rely on, whatever the database. */
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { startPgbouncer } from '../../../scripts/pgbouncer.mjs';
import { createTestDatabase, describeOnBothDatabases } from '../../../server/test/support/databases.ts';
import { openStore, type Store } from './open.ts';

describeOnBothDatabases("The platform's store", (kind) => {
  async function open() {
    const database = await createTestDatabase(kind, { migrated: true, of: 'platform' });
    const store = await openStore(database.url === undefined ? ':memory:' : { url: database.url }, {
      now: () => 5,
      maxConnections: 8,
    });
    onTestFinished(async () => {
      await store.close();
      await database.drop();
    });
    return store;
  }

  it('runs transactions as if each ran alone, also those that read before they write', async () => {
    const store = await open();
    const organization_id = 'o';
    await store.db.insertInto('organizations').values({ organization_id, created_at: 0 }).execute();
    const countUp = () =>
      store.transaction(async (tx) => {
        const row = await tx.selectFrom('organizations').select('created_at').executeTakeFirstOrThrow();
        await tx
          .updateTable('organizations')
          .set({ created_at: row.created_at + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, countUp));
    expect(await store.db.selectFrom('organizations').select('created_at').execute()).toEqual([{ created_at: 20 }]);
    // Nor do two insert what both have found missing.
    const addOne = () =>
      store.transaction(async (tx) => {
        const rows = await tx.selectFrom('definition_changes').select('seq').execute();
        if (rows.length > 0) return;
        await tx
          .insertInto('definition_changes')
          .values({ change_id: `${Math.random()}`, action: 'created', definition: '{}' })
          .execute();
      });
    await Promise.all(Array.from({ length: 10 }, addOne));
    expect(await store.db.selectFrom('definition_changes').select('seq').execute()).toHaveLength(1);
  });

  it('repeats no transaction that failed for a reason of its own', async () => {
    const store = await open();
    let runs = 0;
    const failing = store.transaction(async () => {
      runs++;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(runs).toBe(1);
  });

  it('tells its time inside and outside of transactions, and finds its tables by their bare names', async () => {
    const store = await open();
    const time = sql<{ now: number }>`select now_ms() as now`;
    const times = [await store.now(), (await time.execute(store.db)).rows[0]?.now];
    times.push(await store.transaction(async (tx) => (await time.execute(tx)).rows[0]?.now as number));
    for (const each of times) expect(each).toBeGreaterThanOrEqual(kind === 'sqlite' ? 5 : Date.UTC(2024, 0));
    expect(await store.db.selectFrom('jobs').select('job_id').where('job_id', 'in', []).execute()).toEqual([]);
    const { rows } = await store.transaction((tx) => sql`select count(*) as count from jobs`.execute(tx));
    expect(rows).toEqual([{ count: 0 }]);
  });
});

itInLongRun('The store works behind a pooler that keeps no state of a session', async () => {
  const database = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  const pooler = await startPgbouncer(database.url ?? '');
  const stores = await Promise.all([1, 2].map(() => openStore({ url: pooler.url }, { maxConnections: 4 })));
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    await pooler.stop();
    await database.drop();
  });
  const [one, other] = stores as [Store, Store];
  const addOne = (store: Store, index: number) =>
    store.transaction(async (tx) => {
      const { count } = await tx
        .selectFrom('definition_changes')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      await sql`insert into definition_changes (change_id, action, definition)
                values (${`${count}`}, 'created', ${`${index}`})`.execute(tx);
    });
  await Promise.all(Array.from({ length: 20 }, (_, index) => addOne(index % 2 === 0 ? one : other, index)));
  expect(await other.db.selectFrom('definition_changes').select('seq').execute()).toHaveLength(20);
  expect(await one.now()).toBeGreaterThan(0);
});
