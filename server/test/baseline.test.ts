/** A new database starts from a baseline, an old one runs every migration. Both end up with the same schema. */
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { applyPending, IncompatibleSchema, readHistory } from '@inlay/database/schema-history';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { schema as platformSchema } from '../../platform/src/db/migrations.ts';
import { openStore as openPlatformStore, readStoreHistory } from '../../platform/src/db/open.ts';
import { migrate, schemaOf } from '../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../src/kernel/db/open.ts';
import { addFunctions } from '../src/kernel/db/sqlite-functions.ts';
import {
  createTestDatabase,
  type databaseKinds,
  describeOnBothDatabases,
  type TestDatabase,
} from './support/databases.ts';
import { describePostgres, describeSqlite, describeTables, withoutBaseline } from './support/schemas.ts';

async function openEmpty(kind: (typeof databaseKinds)[number]): Promise<{ database: TestDatabase; store: Store }> {
  const database = await createTestDatabase(kind);
  const store = database.url
    ? openPostgres({ url: database.url, maxConnections: 2 })
    : openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now });
  onTestFinished(async () => {
    await store.close();
    await database.drop();
  });
  return { database, store };
}

async function describeStore({ url, dataDir }: TestDatabase): Promise<string[]> {
  if (url === undefined) {
    const file = new SqliteConnection(join(dataDir, 'inlay.db'));
    addFunctions(file, Date.now);
    onTestFinished(() => file.close());
    return describeSqlite(file);
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return await describePostgres(client).finally(() => client.end());
}

describeOnBothDatabases('The baseline', (kind) => {
  it('makes the schema that the whole chain of migrations makes', async () => {
    const [fresh, old] = [await openEmpty(kind), await openEmpty(kind)];
    await migrate(fresh.store);
    await old.store.exclusively((tx) => applyPending(tx, withoutBaseline(schemaOf(kind))));
    const [expected, found] = [await describeStore(old.database), await describeStore(fresh.database)];
    expect(expected.length).toBeGreaterThan(200);
    expect(found).toEqual(expected);
    // The release before knows the chain only, and finds nothing to do.
    const history = await readHistory(fresh.store.db, withoutBaseline(schemaOf(kind)));
    expect(history).toMatchObject({ pending: [], unknown: [] });
  });

  it('is left out where there is data, which runs the migrations it lacks', async () => {
    const { store } = await openEmpty(kind);
    const applied = await store.exclusively((tx) => applyPending(tx, withoutBaseline(schemaOf(kind), '0037-console')));
    await sql`
      insert into organizations (id, name, platform_organization_id, created_at)
      values ('7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20', 'kept', 'x', 1)`.execute(store.db);
    expect(await migrate(store)).toEqual(Object.keys(schemaOf(kind).migrations).slice(applied.length));
    expect(await store.db.selectFrom('organizations').select('name').execute()).toEqual([{ name: 'kept' }]);
  });

  it('lets a later version drop the chain, which then names the version to pass through', async () => {
    const [fresh, old] = [await openEmpty(kind), await openEmpty(kind)];
    const whole = schemaOf(kind);
    const isDropped = (name: string) => name <= whole.baseline.through;
    const dropped = Object.fromEntries(
      Object.entries(whole.migrations).map(([name, step]) => [name, isDropped(name) ? '1.0.0' : step]),
    );
    const later = { ...whole, version: '2.0.0', migrations: dropped };
    await fresh.store.exclusively((tx) => applyPending(tx, later));
    expect((await describeStore(fresh.database)).length).toBeGreaterThan(200);
    await old.store.exclusively((tx) => applyPending(tx, withoutBaseline(whole, '0001-tokens-and-workspaces')));
    const refused = expect(old.store.exclusively((tx) => applyPending(tx, later))).rejects;
    await refused.toThrow(IncompatibleSchema);
  });
});

it('The baseline of the platform makes the schema that the whole chain of migrations makes', async () => {
  const database = await createTestDatabase('sqlite');
  onTestFinished(() => database.drop());
  const describeFile = async (name: string, definition: typeof platformSchema) => {
    const file = join(database.dataDir, name);
    await (await openPlatformStore(file, { definition })).close();
    const connection = new SqliteConnection(file);
    onTestFinished(() => connection.close());
    return describeSqlite(connection);
  };
  const expected = await describeFile('old.db', withoutBaseline(platformSchema));
  expect(expected.length).toBeGreaterThan(30);
  expect(await describeFile('fresh.db', platformSchema)).toEqual(expected);
});

it('The tables of the platform are the same on PostgreSQL, beside those of the service', async () => {
  const database = await createTestDatabase('postgres', { migrated: true });
  onTestFinished(() => database.drop());
  const { url = '', dataDir } = database;
  const open = async (place: string | { url: string }) => {
    const store = await openPlatformStore(place);
    onTestFinished(() => store.close());
    return store;
  };
  const [sqlite, postgres] = [await open(join(dataDir, 'platform.db')), await open({ url })];
  const shape = await describeTables(postgres);
  expect(shape.length).toBeGreaterThan(150);
  expect(shape).toEqual(await describeTables(sqlite));
  expect(await readStoreHistory(postgres)).toEqual(await readStoreHistory(sqlite));
  // Another start finds nothing to do, and neither store sees the tables of the other.
  await open({ url });
  const service = openPostgres({ url, maxConnections: 1 });
  onTestFinished(() => service.close());
  expect(await migrate(service)).toEqual([]);
  await expect(sql`select * from connectors`.execute(service.db)).rejects.toThrow('does not exist');
});
