/**
 * `kill -9` of a command that adds a connector to the bundled platform, or removes one. The platform and the log are two
 * databases: the log of each organization has exactly one entry for each change, and none for a change that never was.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore as openPlatformStore } from '../../../platform/src/db/open.ts';
import { openPostgres, openSqlite } from '../../src/kernel/db/open.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import { createTestDatabase, describeOnBothDatabases } from '../support/databases.ts';
import { operatorToken } from '../support/deployment.ts';
import { runCli, startService } from '../support/service.ts';

const program = useCrashingProgram();

/** The change itself with its note, the entries with the row that says so, and the note that goes. */
const kills = [1, 2, 3].flatMap((at) => (['before', 'after'] as const).map((edge) => ({ at, edge })));

describeOnBothDatabases('A command about connectors that is killed', (kind) => {
  it('leaves one entry for each change', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    onTestFinished(() => database.drop());
    const { dataDir } = database;
    const store = database.url
      ? openPostgres({ url: database.url, maxConnections: 2 })
      : openSqlite({ file: join(dataDir, 'inlay.db'), now: Date.now, busyTimeoutMs: 5_000 });
    onTestFinished(() => store.close());
    const env = {
      INLAY_DATA_DIR: dataDir,
      INLAY_OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: 'silent',
      ...(database.url && { INLAY_DATABASE_URL: database.url }),
    };
    const succeed = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(args, { env });
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const platform = await openPlatformStore(join(dataDir, 'platform.db'));
    onTestFinished(() => platform.close());
    for (const name of ['one', 'two']) await succeed('organization', 'create', '--name', name);
    const answer = JSON.stringify({ type: 'SPEC', spec: { connectionSpecification: { type: 'object' } } });
    writeFileSync(join(dataDir, 'connector.sh'), `echo '${answer}'\n`);
    const options = ['--source', '--directory', dataDir];
    const add = (name: string) => ['connector', 'add', ...options, '--name', name, '--', 'sh', './connector.sh'];
    const crashed = async (crash: object, args: string[]) => {
      const given = { ...crash, withPlatform: true, about: 'definition_changes' };
      const { code, stdout, stderr } = await runCli(args, {
        program,
        env: { ...env, TEST_CRASH: JSON.stringify(given) },
      });
      expect([code, stdout], stderr).toEqual([null, '']);
    };

    for (const [index, kill] of kills.entries()) {
      await crashed(kill, add(`killed ${index}`));
      // Every command also logs the changes that earlier ones left.
      const id = / \(([0-9a-f-]{36})\)/.exec(await succeed(...add(`kept ${index}`)))?.[1] ?? '';
      await crashed(kill, ['connector', 'remove', id]);
      if (index < kills.length - 1) await succeed(...add(`between ${index}`));
    }
    // The last command was killed: a service logs the changes it left.
    const service = await startService({ dataDir, env });
    onTestFinished(() => service.kill());

    await expect
      .poll(async () => (await platform.db.selectFrom('definition_changes').select('seq').execute()).length)
      .toBe(0);
    await expect.poll(async () => (await store.db.selectFrom('log_pending').select('number').execute()).length).toBe(0);
    await service.kill();
    const registered = await platform.db.selectFrom('registered_definitions').select('definition_id').execute();
    const organizations = await store.db.selectFrom('organizations').select('id').execute();
    expect(organizations.length).toBeGreaterThanOrEqual(2);
    for (const organization of organizations) {
      const entries = await store.db
        .selectFrom('log_entries')
        .select(['type', 'data', 'actor_kind'])
        .where('organization_id', '=', organization.id)
        .where('type', 'like', 'definition.%')
        .orderBy('trail_position')
        .execute();
      expect(new Set(entries.map(({ actor_kind }) => actor_kind))).toEqual(new Set(['command_line']));
      const told = entries.map(({ type, data }) => `${type} ${JSON.parse(data).definition.id}`);
      expect(new Set(told).size, 'nothing is told twice').toBe(told.length);
      const created = told.filter((one) => one.startsWith('definition.created')).map((one) => one.split(' ')[1]);
      const deleted = told.filter((one) => one.startsWith('definition.deleted')).map((one) => one.split(' ')[1]);
      const there = created.filter((id) => !deleted.includes(id));
      expect(there.sort()).toEqual(registered.map(({ definition_id }) => definition_id).sort());
      expect(deleted.filter((id) => !created.includes(id))).toEqual([]);
      expect(deleted.length).toBeGreaterThan(0);
    }
  });
});
