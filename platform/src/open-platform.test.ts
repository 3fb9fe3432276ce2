import { readFileSync, statSync } from 'node:fs';
import { SqliteConnection } from '@inlay/database/connection';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { credentials, fillWorkspace, platformOptions, startPlatform, temporaryFile } from '../test/start-platform.ts';
import { migrations } from './db/migrations.ts';
import { openPlatform } from './open-platform.ts';

describe('the database file', () => {
  test('keeps everything across a restart', async () => {
    const first = await startPlatform();
    const ids = await fillWorkspace(first, 'kept');
    const before = await first.call('GET', '/connections');
    await first.stop();

    const second = await startPlatform({ file: first.file });
    expect((await second.call('GET', `/workspaces/${ids.workspaceId}`)).body.name).toBe('kept');
    expect((await second.call('GET', `/sources/${ids.sourceId}`)).status).toBe(200);
    expect((await second.call('GET', `/destinations/${ids.destinationId}`)).status).toBe(200);
    expect((await second.call('GET', '/connections')).body).toEqual(before.body);
  });

  test('is readable by its owner only, side files included', async () => {
    const { file, call } = await startPlatform();
    await call('POST', '/workspaces', { name: 'x' });
    for (const path of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('is closed to others again when it was left open to them', async () => {
    const file = temporaryFile();
    new SqliteConnection(file).close();
    await startPlatform({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is written ahead, synced in full, with foreign keys enforced', async () => {
    const { platform } = await startPlatform();
    const pragma = async (name: string) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(platform.store.db);
      return Object.values(rows[0] ?? {})[0];
    };
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(500);
  });

  test('holds neither the client secret nor anything to make a token with', async () => {
    const { file, call, stop } = await startPlatform();
    await call('POST', '/workspaces', { name: 'x' });
    await stop();
    const content = readFileSync(file, 'latin1');
    expect(content).not.toContain(credentials.clientSecret);
  });

  test('may live in memory', async () => {
    const { call } = await startPlatform({ file: ':memory:' });
    expect((await call('POST', '/workspaces', { name: 'x' })).status).toBe(200);
  });
});

describe('migrations', () => {
  test('are applied in one transaction, so a failing one leaves the file as it was', async () => {
    const file = temporaryFile();
    const occupied = new SqliteConnection(file);
    occupied.exec('create table connections (left_over text)');
    await expect(openPlatform(platformOptions(file))).rejects.toThrow('connections');
    const tables = occupied.prepare("select name from sqlite_master where name = 'workspaces'").all();
    occupied.close();
    expect(tables).toEqual([]);
  });

  test('sort in the order they are written', () => {
    const names = Object.keys(migrations);
    expect(names).toEqual([...names].sort());
  });

  test('of a later version are accepted until it ends the support for this one', async () => {
    const { file, stop } = await startPlatform();
    await stop();
    const change = (statement: string) => {
      const newer = new SqliteConnection(file);
      newer.exec(statement);
      newer.close();
    };
    change("insert into kysely_migration values ('9999-from-the-future', '2031-01-01T00:00:00.000Z')");
    await (await startPlatform({ file })).stop();
    change("update schema_versions set oldest_compatible = '99.1.0'");
    await expect(openPlatform(platformOptions(file))).rejects.toThrow('99.1.0');
    change('drop table schema_versions');
    await expect(openPlatform(platformOptions(file))).rejects.toThrow('9999-from-the-future');
  });
});

describe('another process holding the write lock', () => {
  test('makes writes answer 503 with nothing written, while reads continue', async () => {
    const { file, call } = await startPlatform();
    const other = new SqliteConnection(file);
    other.exec('begin immediate');
    const refused = await call('POST', '/workspaces', { name: 'late' });
    expect(refused).toMatchObject({ status: 503, body: { title: 'service-unavailable' } });
    expect((await call('GET', '/workspaces')).body.data).toEqual([]);
    other.exec('rollback');
    other.close();
    expect((await call('POST', '/workspaces', { name: 'late' })).status).toBe(200);
  });

  test('is kept out from the first statement of a transaction on, also before it writes', async () => {
    const { file, platform } = await startPlatform();
    const other = new SqliteConnection(file, { busyTimeoutMs: 0 });
    await platform.store.transaction(async (tx) => {
      await tx.selectFrom('workspaces').selectAll().execute();
      expect(() => other.exec('begin immediate')).toThrow('locked');
    });
    other.close();
  });
});

test('a platform without a client secret does not start', async () => {
  const file = temporaryFile();
  await expect(openPlatform({ ...platformOptions(file), clientSecret: '' })).rejects.toThrow('client secret');
});
