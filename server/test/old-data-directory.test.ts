/**
 * A data directory that an older release wrote, through another SQLite driver, opens unchanged and can be worked on.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { SqliteConnection } from '@inlay/database/connection';
import { expect, it, onTestFinished } from 'vitest';
import { startTestApp } from './support/app.ts';
import { createTestDatabase } from './support/databases.ts';

const fixture = fileURLToPath(new URL('fixtures/data-directory-by-better-sqlite3', import.meta.url));
const tokens = JSON.parse(readFileSync(join(fixture, 'tokens.json'), 'utf8'));

async function unpack() {
  const database = await createTestDatabase('sqlite');
  onTestFinished(() => database.drop());
  for (const name of readdirSync(fixture).filter((name) => name.endsWith('.gz'))) {
    const content = gunzipSync(readFileSync(join(fixture, name)));
    writeFileSync(join(database.dataDir, name.slice(0, -'.gz'.length)), content, { mode: 0o600 });
  }
  return database;
}

it('is found as it was left, by both halves', async () => {
  const database = await unpack();
  const test = await startTestApp('sqlite', {
    shared: database,
    env: {
      INLAY_OPERATOR_TOKEN: tokens.operator,
      INLAY_ORGANIZATION_ID: '0f9b7a54-6c1e-4d83-9a2b-5e7c3d1f8a60',
      INLAY_PUBLIC_URL: 'http://localhost:8080',
    },
  });
  onTestFinished(() => test.stop());
  const get = async (path: string, token?: string) => {
    const { status, body, text } = await test.request('GET', `/api/v1${path}`, token ? { token } : {});
    expect(status, text).toBe(200);
    return body;
  };
  const listed = async (query = '') =>
    (await get(`/workspaces${query}`)).data.map(({ name, status }: { name: string; status: string }) => [name, status]);

  expect(await listed()).toEqual([
    ['Kestrel Coffee', 'inactive'],
    ['Acme "quoted" 100%', 'active'],
    ['Łódź Bäckerei', 'active'],
  ]);
  expect(await listed('?name_contains=ÓDŹ')).toEqual([['Łódź Bäckerei', 'active']]);
  expect(await listed('?name_contains=100%25')).toEqual([['Acme "quoted" 100%', 'active']]);

  // The service of that time kept no jobs itself.
  await test.app.workers.jobWatch.pass();

  // The token was signed with a key that lies sealed in the file.
  const { data: connections } = await get('/embedded/connections', tokens.scoped);
  expect(connections).toMatchObject([{ status: 'active', last_run: { id: '1', status: 'succeeded' } }]);
  expect((await get('/embedded/sources', tokens.scoped)).data).toMatchObject([{ name: 'Our shop', status: 'ready' }]);
  const refused = await test.request('GET', '/api/v1/embedded/scoped-token/info', { token: tokens.revoked });
  expect(refused.status).toBe(401);

  // A template's configuration lies sealed in one file, the source made from it in the other.
  const { data: templates } = await get('/integrations/templates/sources');
  expect(templates).toMatchObject([{ name: 'Demo shop' }]);
  expect(await get(`/integrations/templates/sources/${templates[0].id}`)).toMatchObject({
    partial_default_config: { seed: 7 },
  });
  const { body: onPlatform } = await test.platform('GET', '/sources');
  expect(onPlatform.data).toMatchObject([{ configuration: { count: 25, seed: 7 } }]);

  // And continues from there.
  const workspace = await test.workspaceId('new in an old file');
  expect(await listed('?name_contains=old file')).toEqual([['new in an old file', 'active']]);
  expect((await test.request('DELETE', `/api/v1/workspaces/${workspace}`)).status).toBe(200);
  expect(await listed('?name_contains=old file')).toEqual([]);
});

it('passes the integrity check of SQLite', async () => {
  const { dataDir } = await unpack();
  for (const name of ['inlay.db', 'platform.db']) {
    const file = new SqliteConnection(join(dataDir, name));
    expect(file.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(file.prepare('pragma foreign_key_check').all()).toEqual([]);
    file.close();
  }
});
