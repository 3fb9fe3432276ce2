/**
 * The encryption key is replaced while two replicas store secrets, and the rotation dies at any of its steps. Whatever
 * happens, the keys that are left open every stored secret.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAbandoned } from '@inlay/platform/process-names';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect } from 'vitest';
import { rotateEncryptionKey } from '../../src/edge/deployment/key-rotation.ts';
import { readConfig } from '../../src/kernel/config/config.ts';
import { openDataDir } from '../../src/kernel/config/data-dir.ts';
import { openSealer, replaceEncryptionKey } from '../../src/kernel/config/encryption-keys.ts';
import { resealEverything, sealedColumns } from '../../src/kernel/db/resealing.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, describeInTurns, type TestDatabase } from '../support/databases.ts';
import { type Customer, customer, makeConnectionTemplate, makeSourceTemplate } from '../support/pipelines.ts';

describeInTurns('Two replicas whose encryption key is replaced', (kind, it) => {
  let database: TestDatabase;
  let replicas: TestApp[];
  let acme: Customer;
  let sourceId: string;
  beforeEach(async () => {
    database = await createTestDatabase(kind, { migrated: true });
    const operatorToken = 'an-operator-token-for-the-key-tests-00001';
    const env = { INLAY_OPERATOR_TOKEN: operatorToken };
    const first = await startTestApp(kind, { shared: database, env });
    replicas = [first, await startTestApp(kind, { shared: database, env })];
    for (const { app } of replicas) {
      await app.workers.presence.tell();
      app.workers.presence.start();
    }
    acme = await customer(first, 'acme');
    await makeConnectionTemplate(first);
    sourceId = await acme.connect(await makeSourceTemplate(first));
    await acme.settled(sourceId);
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.stop();
    await database.drop();
  });

  const [of, runtime] = [
    () => replicas[0] as TestApp,
    { ...systemRuntime, sleep: (ms: number) => systemRuntime.sleep(ms / 20) },
  ];
  const parts = () => ({ secrets: readConfig(of().env).secrets, dataDir: openDataDir(of().dataDir) });
  const keysInFile = () => readFileSync(join(of().dataDir, 'encryption.key'), 'utf8').trim().split('\n');

  /** Both replicas store secrets until someone says stop. */
  function storeSecrets(): () => Promise<number> {
    let isOver = false;
    let stored = 0;
    const clients = replicas.map(async (replica, index) => {
      for (let count = 1; !isOver; count++) {
        const answer = await replica.request('PUT', `/api/v1/embedded/sources/${sourceId}`, {
          token: acme.token,
          body: { source_config: { count: index * 1_000 + count } },
          headers: { 'idempotency-key': `${index}-${count}-${stored}` },
        });
        // Nobody notices a rotation. A source that another request changes at the moment is no fault.
        expect([200, 409]).toContain(answer.status);
        const template = { actor_definition_id: '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14', name: `${index} ${count}` };
        const made = await replica.request('POST', '/api/v1/integrations/templates/sources', {
          body: { ...template, partial_default_config: { seed: count } },
          headers: { 'idempotency-key': `template-${index}-${count}-${stored}` },
        });
        expect(made.status, made.text).toBe(201);
        stored += 1;
        await systemRuntime.sleep(20);
      }
    });
    return async () => {
      isOver = true;
      await Promise.all(clients);
      return stored;
    };
  }

  /** With the keys that a process would have that starts now. */
  async function expectEverythingOpens(): Promise<void> {
    const { secrets, dataDir } = parts();
    const sealer = openSealer(secrets, dataDir);
    let opened = 0;
    for (const { table, column, context } of sealedColumns) {
      const { rows } = await sql<{ sealed: string; context: string }>`
        select ${sql.ref(column)} as sealed, ${sql.raw(context)} as context from ${sql.table(table)}
        where ${sql.ref(column)} <> ''`.execute(of().app.store.db);
      for (const row of rows) sealer.open(row.sealed, row.context);
      opened += rows.length;
    }
    expect(opened).toBeGreaterThan(5);
  }

  it('lose nothing that they store meanwhile, and use one key afterwards', async () => {
    const [before] = keysInFile();
    const stop = storeSecrets();
    const told: string[] = [];
    const { store } = of().app;
    await rotateEncryptionKey(
      { store, runtime, isAbandoned, tell: (text) => told.push(text) },
      { ...parts(), reseal: async (sealer) => void (await resealEverything(store.db, sealer)) },
    );
    expect(await stop()).toBeGreaterThan(1);
    expect(keysInFile()).toHaveLength(1);
    expect(keysInFile()).not.toContain(before);
    expect(told.join('\n')).toMatch(/^Waiting for replicas .*\n(.*\n)*Waiting 30 seconds/m);
    await expectEverythingOpens();
    for (const replica of replicas) await replica.restart();
    const read = await replicas[1]?.request('GET', `/api/v1/embedded/sources/${sourceId}`, { token: acme.token });
    expect(read?.body).toMatchObject({ source_config: { count: expect.any(Number) } });
  });

  it('lose nothing wherever the rotation dies, and the next one ends it with the same key', async () => {
    const { store } = of().app;
    const steps = ['untilKnown', 'untilUsed', 'reseal', 'resealed', 'assertNoneLeft'] as const;
    const stop = storeSecrets();
    for (const fatal of steps) {
      const die = (step: (typeof steps)[number]) => async () => {
        if (step === fatal) throw new Error('killed');
      };
      const dying = replaceEncryptionKey(parts().secrets, parts().dataDir, {
        untilKnown: die('untilKnown'),
        untilUsed: die('untilUsed'),
        async reseal(sealer) {
          await die('reseal')();
          await resealEverything(store.db, sealer);
          await die('resealed')();
        },
        assertNoneLeft: die('assertNoneLeft'),
      });
      await expect(dying).rejects.toThrow('killed');
      await expectEverythingOpens();
    }
    const next = readFileSync(join(of().dataDir, 'encryption.key.next'), 'utf8').trim();
    await rotateEncryptionKey(
      { store, runtime, isAbandoned, tell: () => {} },
      { ...parts(), reseal: async (sealer) => void (await resealEverything(store.db, sealer)) },
    );
    await stop();
    expect(keysInFile()).toEqual([next]);
    await expectEverythingOpens();
  });

  it('are waited for where they do not share the file: nothing changes until each has the new key', async () => {
    const elsewhere = randomBytes(32).toString('base64');
    const { store } = of().app;
    const before = keysInFile();
    await store.db
      .insertInto('replicas')
      .values({ id: elsewhere, host: 'far-away', version: '1', started_at: 0, last_seen_at: await store.now() })
      .execute();
    let elapsed = 0;
    const seen = async () =>
      await store.db
        .updateTable('replicas')
        .set({ last_seen_at: await store.now() })
        .where('id', '=', elsewhere)
        .execute();
    const impatient = {
      sleep: async (ms: number) => {
        elapsed += ms;
        await seen();
      },
      elapsed: () => elapsed * 1_000,
    };
    const reseal = async () => expect.fail('nothing may be sealed again');
    await expect(
      rotateEncryptionKey({ store, runtime: impatient, isAbandoned, tell: () => {} }, { ...parts(), reseal }),
    ).rejects.toThrow(/new key: far-away\b.*Nothing has changed/);
    expect(keysInFile()).toEqual(before);
  });

  it('are not alone: a platform that runs with the old key is waited for as well', async () => {
    const { store } = of().app;
    const [before] = keysInFile();
    let elapsed = 0;
    const impatient = {
      async sleep(ms: number) {
        elapsed += ms * 100;
        for (const { app } of replicas) await app.workers.presence.tell();
      },
      elapsed: () => elapsed,
    };
    const listKeyHolders = async () => [{ encryption_keys: 'another' }];
    const reseal = async () => expect.fail('nothing may be sealed again');
    const rotation = rotateEncryptionKey(
      { store, runtime: impatient, isAbandoned, listKeyHolders, tell: () => {} },
      { ...parts(), reseal },
    );
    await expect(rotation).rejects.toThrow('new key: the platform.');
    expect(keysInFile()).toEqual([before]);
  });

  it('keep the old key for a replica that is silent and may come back', async () => {
    const { store } = of().app;
    const [before] = keysInFile();
    const lastSeen = (await store.now()) - 120_000;
    await store.db
      .insertInto('replicas')
      .values({ id: 'silent', host: 'far-away', version: '1', started_at: 0, last_seen_at: lastSeen })
      .execute();
    const rotate = () =>
      rotateEncryptionKey(
        { store, runtime, isAbandoned, tell: () => {} },
        { ...parts(), reseal: async (sealer) => void (await resealEverything(store.db, sealer)) },
      );
    await expect(rotate()).rejects.toThrow(/old key was kept.* far-away, /);
    expect(keysInFile()[1]).toBe(before);
    await expectEverythingOpens();
    await store.db.deleteFrom('replicas').where('id', '=', 'silent').execute();
    await rotate();
    expect(keysInFile()).toHaveLength(1);
    expect(keysInFile()).not.toContain(before);
    await expectEverythingOpens();
  });
});
