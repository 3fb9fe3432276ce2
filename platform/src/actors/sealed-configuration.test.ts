import { readFileSync } from 'node:fs';
import { SqliteConnection } from '@inlay/database/connection';
import { describe, expect, test } from 'vitest';
import { fillWorkspace, startPlatform, temporaryFile, testSealer } from '../../test/start-platform.ts';
import { openStore } from '../db/open.ts';

/** Everything in the file, as text. */
function contentOf(file: string): string {
  const database = new SqliteConnection(file);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  return readFileSync(file, 'latin1');
}

const secret = 'a-path-that-nobody-may-read';

async function storeDestination(file: string, sealer = testSealer('first')) {
  const running = await startPlatform({ file, sealer });
  const { workspaceId } = (await running.call('POST', '/workspaces', { name: 'w' })).body;
  const configuration = { destinationType: 'local-files', path: secret };
  const reply = await running.call('POST', '/destinations', { name: 'd', workspaceId, configuration });
  const path = `/destinations/${reply.body.destinationId}`;
  return { ...running, path };
}

describe('the configuration of a connector', () => {
  test('is sealed in the file, when created, patched and deleted', async () => {
    const file = temporaryFile();
    const { call, path } = await storeDestination(file);
    expect(contentOf(file)).not.toContain(secret);
    expect((await call('GET', path)).body.configuration).toEqual({ path: secret });
    await call('PATCH', path, { configuration: { path: `${secret}/2` } });
    await call('DELETE', path);
    expect(contentOf(file)).not.toContain(secret);
  });

  test('cannot be opened with another key, nor in the row of another connector', async () => {
    const file = temporaryFile();
    const { stop, platform, path } = await storeDestination(file);
    const other = await fillWorkspace(await startPlatform({ file, sealer: testSealer('first') }));
    const { configuration } = await platform.store.db
      .selectFrom('connectors')
      .select('configuration')
      .where('name', '=', 'd')
      .executeTakeFirstOrThrow();
    await platform.store.db
      .updateTable('connectors')
      .set({ configuration })
      .where('connector_id', '=', other.destinationId)
      .execute();
    await stop();
    const moved = await startPlatform({ file, sealer: testSealer('first') });
    expect((await moved.call('GET', `/destinations/${other.destinationId}`)).status).toBe(500);
    expect((await moved.call('GET', path)).status).toBe(200);
    const locked = await startPlatform({ file, sealer: testSealer('second') });
    expect((await locked.call('GET', path)).status).toBe(500);
  });

  test('that an earlier version stored in plain text is sealed when the platform is opened', async () => {
    const file = temporaryFile();
    const { stop, path } = await storeDestination(file);
    await stop();
    const store = await openStore(file);
    await store.db
      .updateTable('connectors')
      .set({ configuration: JSON.stringify({ path: secret }) })
      .execute();
    await store.close();
    expect(contentOf(file)).toContain(secret);

    const { call } = await startPlatform({ file, sealer: testSealer('first') });
    expect((await call('GET', path)).body.configuration).toEqual({ path: secret });
    const database = new SqliteConnection(file, { readOnly: true });
    expect(JSON.stringify(database.prepare('select * from connectors').all())).not.toContain(secret);
    database.close();
  });

  test('is sealed again with another key, after which the old one is not needed', async () => {
    const file = temporaryFile();
    const { stop, path } = await storeDestination(file);
    await stop();
    const both = await startPlatform({ file, sealer: testSealer('second', 'first') });
    await both.platform.reseal();
    await both.stop();
    const { call } = await startPlatform({ file, sealer: testSealer('second') });
    expect((await call('GET', path)).body.configuration).toEqual({ path: secret });
  });
});
