/** `kill -9` of a service while it gives positions and signs checkpoints: the chain stays whole, and is signed in the end. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { readConfig } from '../../src/kernel/config/config.ts';
import { openDataDir } from '../../src/kernel/config/data-dir.ts';
import { openSealer } from '../../src/kernel/config/encryption-keys.ts';
import { openPostgres, openSqlite } from '../../src/kernel/db/open.ts';
import { verifyDatabase } from '../../src/log/audit/verify-database.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import { createTestDatabase, describeOnOneDatabase } from '../support/databases.ts';
import { call, operatorToken } from '../support/deployment.ts';
import { startService } from '../support/service.ts';

const program = useCrashingProgram();

const all = [1, 2, 3, 4, 5, 6].flatMap((at) => (['before', 'after'] as const).map((edge) => ({ at, edge })));

describeOnOneDatabase('a service killed while it sequences and signs', (kind) => {
  it('leaves a chain without a gap, with one event for each checkpoint', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    onTestFinished(() => database.drop());
    const open = () =>
      database.url
        ? openPostgres({ url: database.url, maxConnections: 2 })
        : openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now, busyTimeoutMs: 5_000 });
    const env = { INLAY_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'silent' };
    const start = () =>
      startService({
        program,
        dataDir: database.dataDir,
        env: { ...env, ...(database.url && { INLAY_DATABASE_URL: database.url }) },
      });
    let service = await start();
    let count = 0;
    const happen = async () => {
      for (let made = 0; made < 4; made++) {
        const body = { name: `tag ${++count}` };
        await call(service, 'POST', '/api/v1/integrations/templates/tags', body).catch(() => {});
      }
    };
    const store = open();
    onTestFinished(() => store.close());
    const isSequenced = () =>
      expect.poll(async () => (await store.db.selectFrom('log_pending').select('number').execute()).length).toBe(0);
    await happen();
    // The housekeeping of the next start finds a chain, and so something to sign.
    await isSequenced();
    for (const kill of isLongRun ? all : all.slice(1, 2)) {
      // A checkpoint is due as soon as the housekeeping of the next start looks.
      await store.db.updateTable('log_heads').set({ checkpoint_at: 0 }).execute();
      await service.tell(kill);
      await happen();
      await service.exited;
      service = await start();
      await happen();
    }
    const [organization] = await store.db.selectFrom('organizations').select('id').execute();
    const organizationId = String(organization?.id);
    const listCheckpoints = () => store.db.selectFrom('audit_checkpoints').select('position').execute();
    await expect.poll(async () => (await listCheckpoints()).length).toBeGreaterThan(0);
    await isSequenced();
    // What this test changed in the head is gone with the next checkpoint.
    await expect
      .poll(async () => (await store.db.selectFrom('log_heads').select('checkpoint_at').execute())[0]?.checkpoint_at)
      .toBeGreaterThan(0);
    await isSequenced();
    await service.kill();
    const sealer = openSealer(readConfig({}).secrets, openDataDir(database.dataDir));
    const result = await verifyDatabase({ store, sealer }, organizationId);
    expect(result.faults).toEqual([]);
    expect(result.entries).toBeGreaterThan(8);
    const checkpoints = await listCheckpoints();
    const told = await store.db
      .selectFrom('log_entries')
      .select('data')
      .where('type', '=', 'audit.checkpoint')
      .execute();
    expect(told.map(({ data }) => JSON.parse(data).position).sort()).toEqual(
      checkpoints.map(({ position }) => position).sort(),
    );
  });
});
