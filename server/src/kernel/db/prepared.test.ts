import { beforeEach, expect, it } from 'vitest';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import type { Db, Store } from './open.ts';
import { prepare } from './prepared.ts';

const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

const named = prepare((db, name: string, limit: number) =>
  db.selectFrom('organizations').select(['id', 'name']).where('name', '=', name).orderBy('id').limit(limit),
);
const like = prepare((db, text: string) =>
  db.selectFrom('organizations').select('name').where('name', '=', text).where('platform_organization_id', '=', text),
);

describeOnBothDatabases('A prepared statement', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  async function insert(db: Db, id: string, name: string, platformId = id): Promise<void> {
    const row = { id, name, platform_organization_id: platformId, created_at: 1 };
    await db.insertInto('organizations').values(row).execute();
  }

  it('gives the rows for the values of each run', async () => {
    await insert(store.db, ids[0], 'one');
    await insert(store.db, ids[1], 'other');
    expect(await named(store.db, 'one', 5)).toEqual([{ id: ids[0], name: 'one' }]);
    expect(await named(store.db, 'other', 5)).toEqual([{ id: ids[1], name: 'other' }]);
    expect(await named(store.db, 'none', 5)).toEqual([]);
  });

  it('takes a value wherever it is used, and every value as it is', async () => {
    for (const text of ["it's", '\\', '%', '$1', '?', '\u{1f600}']) {
      await store.db.deleteFrom('organizations').execute();
      await insert(store.db, ids[0], text, text);
      await insert(store.db, ids[1], text, 'another');
      expect(await like(store.db, text)).toEqual([{ name: text }]);
      expect(await named(store.db, text, 1)).toEqual([{ id: ids[0], name: text }]);
    }
  });

  it('sees what its own transaction has written, and outside of one only what is committed', async () => {
    await store.transaction(async (tx) => {
      await insert(tx, ids[0], 'new');
      expect(await named(tx, 'new', 5)).toHaveLength(1);
      expect(await named(store.db, 'new', 5)).toEqual([]);
    });
    expect(await named(store.db, 'new', 5)).toHaveLength(1);
  });

  it('sees a write as soon as it is acknowledged', async () => {
    for (let round = 0; round < 50; round++) {
      await store.db.deleteFrom('organizations').execute();
      expect(await named(store.db, 'new', 5)).toEqual([]);
      await insert(store.db, ids[0], 'new');
      expect(await named(store.db, 'new', 5)).toHaveLength(1);
    }
  });
});
