/** Replacing the encryption key: nothing is lost, and the old key opens nothing any more. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { createApp } from '../src/edge/app.ts';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { readConfig } from '../src/kernel/config/config.ts';
import { sealedColumns } from '../src/kernel/db/resealing.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { describeInTurns } from './support/databases.ts';
import { type Customer, customer, makeConnectionTemplate, makeSourceTemplate } from './support/pipelines.ts';

const keyFileOf = ({ dataDir }: TestApp) => join(dataDir, 'encryption.key');

describeInTurns('the encryption key', (kind, it) => {
  let test: TestApp;
  let acme: Customer;
  let sourceId: string;
  beforeEach(async () => {
    test = await startTestApp(kind);
    acme = await customer(test, 'acme');
    await makeConnectionTemplate(test);
    sourceId = await acme.connect(await makeSourceTemplate(test));
    await acme.settled(sourceId);
  });
  afterEach(() => test.stop());

  const rotate = (env: Record<string, string> = {}) =>
    runCommand(['encryption-key', 'rotate'], { env: { ...test.env, ...env } });

  /** These requests open everything that is sealed. */
  async function expectAllWorks() {
    expect((await acme.request('GET', `/sources/${sourceId}`)).body).toMatchObject({
      source_config: { count: expect.any(Number) },
    });
    expect((await acme.request('PUT', `/sources/${sourceId}`, { source_config: { count: 11 } })).status).toBe(200);
    expect(await acme.settled(sourceId)).toMatchObject({ status: 'ready' });
    const second = await acme.connect((await acme.request('GET', '/source-templates')).body.data[0].id);
    expect(await acme.settled(second)).toMatchObject({ status: 'ready' });
  }

  it('in the data directory is replaced by a new one', async () => {
    const file = keyFileOf(test);
    const before = readFileSync(file, 'utf8');
    const { code, stdout } = await rotate();
    expect(stdout).toMatch(/^Re-encrypted 6 secrets/m);
    expect(code).toBe(0);
    const after = readFileSync(file, 'utf8');
    expect(after.trim()).not.toContain(before.trim());
    expect(existsSync(`${file}.next`)).toBe(false);
    await test.restart();
    await expectAllWorks();

    writeFileSync(file, before);
    await expect(test.restart()).rejects.toThrow('a different key');
    writeFileSync(file, after);
    await test.restart();
  });

  it('of the environment is replaced by the new key written before it', async () => {
    const old = readFileSync(keyFileOf(test), 'utf8').trim();
    const fresh = randomBytes(32).toString('base64');
    const both = { INLAY_ENCRYPTION_KEY: `${fresh},${old}` };
    await test.restart({ env: both });
    await expectAllWorks();
    expect(await rotate(both)).toMatchObject({ code: 0 });
    await test.restart({ env: { INLAY_ENCRYPTION_KEY: fresh } });
    await expectAllWorks();
  });

  it('is replaced beside a running service, which loses nothing that it stores meanwhile and afterwards', async () => {
    expect(await rotate()).toMatchObject({ code: 0 });
    // Without a restart, it opens what was sealed again, in the store and on the platform, and seals with the new key.
    await expectAllWorks();
    await test.restart();
    await expectAllWorks();
    expect(await rotate()).toMatchObject({ code: 0 });
    await expectAllWorks();
    await test.restart();
    await expectAllWorks();
  });

  it('of a running service stays what it is when its file is lost or replaced by another key', async () => {
    const file = keyFileOf(test);
    const key = readFileSync(file, 'utf8');
    rmSync(file);
    await expectAllWorks();
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, randomBytes(32).toString('base64'));
    await expectAllWorks();
    writeFileSync(file, key);
    await test.restart();
    await expectAllWorks();
  });

  it('knows of every sealed column', async () => {
    const tables = await test.app.store.db.introspection.getTables();
    const sealed = tables.flatMap(({ name, columns }) =>
      columns.filter((column) => column.name.startsWith('sealed_')).map((column) => `${name}.${column.name}`),
    );
    expect(sealed.sort()).toEqual(sealedColumns.map(({ table, column }) => `${table}.${column}`).sort());
  });
});

describeInTurns('with another encryption key, or without one,', (kind, it) => {
  let test: TestApp;
  const wrong = () => ({ INLAY_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
  beforeEach(async () => {
    test = await startTestApp(kind);
    await makeSourceTemplate(test);
  });
  afterEach(() => test.stop());

  const manifest = () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'books.yaml');
    writeFileSync(file, 'version: 6.0.0\ntype: DeclarativeSource\n');
    return file;
  };
  const writing = (): string[][] => [
    ['keys', 'rotate'],
    ['keys', 'remove', 'k0'],
    ['encryption-key', 'rotate'],
    ['migrate'],
    ['organization', 'create', '--name', 'other'],
    ['operator-token', 'create', '--name', 'other'],
    ['console', 'link'],
    ['audit', 'checkpoint'],
    ['audit', 'rotate-key'],
    ['audit', 'erase', '--address', '192.0.2.1'],
    ['webhooks', 'create', 'https://hooks.example/'],
    ['connector', 'add', '--source', '--manifest', manifest(), '--name', 'Books'],
    ['connector', 'add', '--source', '--name', 'Own', '--', 'true'],
  ];

  /** What a refused command must not touch: rows that hold keys, and the files beside the database. */
  const state = async () => ({
    kids: await test.app.store.db.selectFrom('signing_keys').select('kid').orderBy('kid').execute(),
    tokens: (await test.app.store.db.selectFrom('operator_tokens').select('id').execute()).length,
    hasKeyFile: existsSync(keyFileOf(test)),
  });

  it.each(['another key', 'no key'])('every command that writes refuses, and changes nothing: %s', async (given) => {
    if (given === 'no key') rmSync(keyFileOf(test));
    const env = { ...test.env, ...(given === 'another key' && wrong()) };
    const before = await state();
    for (const command of writing()) {
      const { code, stderr } = await runCommand(command, { env });
      expect([command.join(' '), code, stderr]).toEqual([
        command.join(' '),
        1,
        expect.stringMatching(/encryption key|INLAY_ENCRYPTION_KEY/),
      ]);
    }
    expect(await state()).toEqual(before);
  });

  it('doctor says so, and finds secrets of a key that is missing although the service starts', async () => {
    const file = keyFileOf(test);
    const key = readFileSync(file, 'utf8');
    const doctor = (env: Record<string, string> = {}) => runCommand(['doctor'], { env: { ...test.env, ...env } });
    expect((await doctor()).stdout).toContain('  ok    Encryption key: ');

    const other = await doctor(wrong());
    expect(other.stdout).toMatch(/FAIL {2}Encryption key: .*different key/);
    expect(other.code).toBe(exitCodes.findings[0]);

    renameSync(file, `${file}.away`);
    const missing = await doctor();
    expect(missing.stdout).toMatch(/FAIL {2}Encryption key: .*missing/);
    expect(missing.code).toBe(exitCodes.findings[0]);
    expect(existsSync(file)).toBe(false);

    // A template that a replica with another key has stored.
    writeFileSync(file, key);
    const { db } = test.app.store;
    const row = await db.selectFrom('source_templates').select(['id', 'sealed_defaults']).executeTakeFirstOrThrow();
    const foreign = row.sealed_defaults.replace(/^v1\.[0-9a-f]{8}/, 'v1.0000abcd');
    await db.updateTable('source_templates').set({ sealed_defaults: foreign }).execute();
    const lost = await doctor();
    expect(lost.stdout).toMatch(/FAIL {2}Encryption key: 1 .*different key/);
    expect(lost.code).toBe(exitCodes.findings[0]);
  });

  it('a start fails and writes no key file', async () => {
    const file = keyFileOf(test);
    const key = readFileSync(file, 'utf8');
    await test.app.close();
    rmSync(file);
    const start = async () => {
      const { config, secrets } = readConfig(test.env);
      await (await createApp(config, secrets)).close();
    };
    await expect(start()).rejects.toThrow('key is missing');
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, key);
    await test.restart();
  });
});
