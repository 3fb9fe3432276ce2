/** Replacing the encryption key: nothing is lost, and the old key opens nothing any more. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { sealedColumns } from '../src/db/resealing.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { describeInTurns } from './support/databases.ts';
import { type Customer, customer, makeConnectionTemplate, makeSourceTemplate } from './support/pipelines.ts';

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
    const file = join(test.dataDir, 'encryption.key');
    const before = readFileSync(file, 'utf8');
    const { code, stdout } = await rotate();
    expect(stdout).toContain('6 secrets are encrypted with the new key.');
    expect(code).toBe(0);
    const after = readFileSync(file, 'utf8');
    expect(after.trim()).not.toContain(before.trim());
    await test.restart();
    await expectAllWorks();

    writeFileSync(file, before);
    await expect(test.restart()).rejects.toThrow('another encryption key');
    writeFileSync(file, after);
    await test.restart();
  });

  it('of the environment is replaced by the new key written before it', async () => {
    const old = readFileSync(join(test.dataDir, 'encryption.key'), 'utf8').trim();
    const fresh = randomBytes(32).toString('base64');
    const both = { INLAY_ENCRYPTION_KEY: `${fresh},${old}` };
    await test.restart({ env: both });
    await expectAllWorks();
    expect(await rotate(both)).toMatchObject({ code: 0 });
    await test.restart({ env: { INLAY_ENCRYPTION_KEY: fresh } });
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
