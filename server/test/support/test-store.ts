// A migrated store on its own database, which is removed after the test.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { migrate } from '../../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../../src/kernel/db/open.ts';
import { createTestDatabase, type TestDatabaseKind } from './databases.ts';

export async function openTestStore(kind: TestDatabaseKind): Promise<Store> {
  const database = await createTestDatabase(kind, { migrated: true });
  const store = database.url
    ? openPostgres({ url: database.url, maxConnections: 3 })
    : openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now });
  onTestFinished(async () => {
    await store.close();
    await database.drop();
  });
  await migrate(store);
  return store;
}
