/** What is on disk and in the environment: no usable secret, no file that others can read, and no weak secret. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnBothDatabases } from '../support/databases.ts';
import { runCli, startService } from '../support/service.ts';
import { keysOf, platformCredentials, sealerOf, widgetToken } from './support.ts';

/** Every row of every table, as text. */
async function dumpStore({ app: { store } }: TestApp): Promise<string> {
  const tables = await store.db.introspection.getTables({ withInternalKyselyTables: true });
  expect(tables.length).toBeGreaterThanOrEqual(8);
  let dump = '';
  for (const { name } of tables) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(store.db);
    dump += `${name} ${JSON.stringify(rows)}\n`;
  }
  return dump;
}

function dumpFile(file: string): string {
  const database = new SqliteConnection(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const dump = tables.map(({ name }) => `${name} ${JSON.stringify(database.prepare(`select * from "${name}"`).all())}`);
  database.close();
  return dump.join('\n');
}

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'inlay-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

describeOnBothDatabases('A dump of the databases', (kind) => {
  it('holds no token, no usable secret, and private keys only sealed', async () => {
    const test = await startTestApp(kind);
    onTestFinished(() => test.stop());
    const created = await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'second' } });
    const rotated = await test.request('POST', `/api/v1/operator-tokens/${created.body.id}/rotate`, { body: {} });
    const scoped = await test.scopedToken('acme');
    const revoked = await test.scopedToken('acme');
    await test.request('POST', '/api/v1/embedded/tokens/revoke', { body: { token: revoked } });
    const widget = await widgetToken(test, {});
    const { clientSecret } = platformCredentials(test);
    const { privateKey } = (await keysOf(test)).current();
    const { d = '' } = privateKey.export({ format: 'jwk' });
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
    const encryptionKey = await readFile(join(test.dataDir, 'encryption.key'), 'utf8');
    await test.app.operatorTokens.flushUses();

    const dump = (await dumpStore(test)) + dumpFile(join(test.dataDir, 'platform.db'));
    expect(dump).toContain('acme');
    const signatures = [scoped, revoked, widget.inner].map((token) => token.split('.')[2] ?? '');
    const secrets = [test.operatorToken, created.body.token, rotated.body.token, ...signatures, widget.whole];
    secrets.push(clientSecret, encryptionKey.trim(), d, Buffer.from(d, 'base64url').toString('hex'));
    secrets.push(pkcs8.toString('base64'), pkcs8.toString('base64url'), pkcs8.toString('hex'));
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(30);
      expect(dump.includes(secret), secret.slice(0, 12)).toBe(false);
    }
    expect(dump).not.toMatch(/inlay_op_|PRIVATE KEY|"d":/);

    const keys = await test.app.store.db.selectFrom('signing_keys').selectAll().execute();
    for (const { kid, sealed_private_key: sealed, public_jwk } of keys) {
      expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
      expect(Object.keys(JSON.parse(public_jwk)).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
      expect(sealerOf(test).open(sealed, `signing key ${kid}`).equals(pkcs8)).toBe(true);
      expect(() => sealerOf(test).open(sealed, 'signing key other'), 'moved elsewhere').toThrow();
      const other = sealerOf(test, { INLAY_ENCRYPTION_KEY: Buffer.from(kid.repeat(2)).toString('base64') });
      expect(() => other.open(sealed, `signing key ${kid}`)).toThrow(/a different key/);
    }
  });
});

describe('The data directory', () => {
  it('and everything in it is for its owner alone', async () => {
    const parent = await freshDirectory();
    const dataDir = join(parent, 'data');
    const service = await startService({ dataDir: parent, env: { INLAY_DATA_DIR: dataDir } });
    onTestFinished(() => service.kill());
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(dataDir)).toBe('700');
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
    expect(entries.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['encryption.key', 'platform-credentials.json', 'inlay.db', 'platform.db', 'running']),
    );
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      expect([path, await modeOf(path)]).toEqual([path, entry.isDirectory() ? '700' : '600']);
    }
  });
});

describe('Weak or sample secrets in the environment', () => {
  const cases: [env: Record<string, string>, says: RegExp[]][] = [
    [
      {
        INLAY_OPERATOR_TOKEN: 'changeme',
        INLAY_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
        INLAY_PLATFORM_CLIENT_ID: 'id',
        INLAY_PLATFORM_CLIENT_SECRET: '<your-secret-here>',
        INLAY_DATABASE_URL: 'mysql://root:hunter2-hunter2@127.0.0.1/inlay',
      },
      [
        /INLAY_OPERATOR_TOKEN .*placeholder/,
        /INLAY_ENCRYPTION_KEY is not random/,
        /INLAY_PLATFORM_CLIENT_SECRET .*placeholder/,
        /INLAY_DATABASE_URL must be a postgres/,
      ],
    ],
    [
      { INLAY_OPERATOR_TOKEN: 'only-31-visible-ascii-characters'.slice(1), INLAY_ENCRYPTION_KEY: 'c2hvcnQ=' },
      [/INLAY_OPERATOR_TOKEN .*32/, /INLAY_ENCRYPTION_KEY must be 32 bytes/],
    ],
    [
      { INLAY_OPERATOR_TOKEN: `inlay_op_${'a'.repeat(49)}`, INLAY_ENCRYPTION_KEY: 'ab'.repeat(32), PORT: '0' },
      [/INLAY_OPERATOR_TOKEN .*checksum/, /INLAY_ENCRYPTION_KEY is not random/, /PORT/],
    ],
    [
      {
        INLAY_OPERATOR_TOKEN: 'q'.repeat(32),
        INLAY_PLATFORM_CLIENT_ID: 'id',
        INLAY_PLATFORM_CLIENT_SECRET: 'bcbcbcbcb',
      },
      [/INLAY_OPERATOR_TOKEN .*8 of them different/, /INLAY_PLATFORM_CLIENT_SECRET /],
    ],
    [
      {
        INLAY_OPERATOR_TOKEN: 'replace-me-replace-me-replace-me-replace-me',
        INLAY_ENCRYPTION_KEY: 'your-encryption-key',
      },
      [/INLAY_OPERATOR_TOKEN .*placeholder/, /INLAY_ENCRYPTION_KEY .*placeholder/],
    ],
  ];

  it('keep the service from starting: all faults in one message that repeats no secret', async () => {
    await Promise.all(
      cases.map(async ([env, says]) => {
        const dataDir = join(await freshDirectory(), 'data');
        const { code, stdout, stderr } = await runCli(['start'], { env: { INLAY_DATA_DIR: dataDir, ...env } });
        expect(code).toBe(1);
        expect(stdout).toBe('');
        for (const said of says) expect(stderr).toMatch(said);
        expect(stderr.match(/^ {2}- /gm)).toHaveLength(says.length);
        expect(stderr).not.toMatch(/ {4}at /);
        for (const [name, value] of Object.entries(env))
          if (name !== 'PORT' && value !== 'id') expect(stderr).not.toContain(value);
        expect(stderr).not.toContain('hunter2');
        await expect(stat(dataDir), 'nothing was made').rejects.toThrow(/ENOENT/);
      }),
    );
  });
});
