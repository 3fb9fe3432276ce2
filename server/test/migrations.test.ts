/** Migrations, on both databases: once, in order, by one of several processes, and never backwards. */
import { join } from 'node:path';
import { IncompatibleSchema } from '@inlay/database/schema-history';
import { sql } from 'kysely';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { migrate, readSchemaHistory } from '../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../src/kernel/db/open.ts';
import { version } from '../src/kernel/version.ts';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from './support/databases.ts';
import { runCli } from './support/service.ts';

const first = '0001-tokens-and-workspaces';
describeOnBothDatabases('Migrations', (kind) => {
  let database: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    store = database.url
      ? openPostgres({ url: database.url, maxConnections: 2 })
      : openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now, busyTimeoutMs: 5_000 });
    onTestFinished(async () => {
      await store.close();
      await database.drop();
    });
  });

  const cli = (...args: string[]) =>
    runCli(args, {
      env: { INLAY_DATA_DIR: database.dataDir, ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}) },
    });
  const fromTheFuture = () =>
    sql`insert into migrations (name, applied_at) values ('9999-from-the-future', 0)`.execute(store.db);

  it('are a list in order, which begins with the first release', async () => {
    const { pending, unknown } = await readSchemaHistory(store);
    expect(pending[0]).toBe(first);
    expect(pending).toEqual(pending.toSorted());
    for (const name of pending) expect(name).toMatch(/^\d{4}-[a-z0-9-]+$/);
    expect(unknown).toEqual([]);
  });

  it('bring an empty database to this version', async () => {
    const { pending } = await readSchemaHistory(store);
    expect(await migrate(store)).toEqual(pending);
    expect(await readSchemaHistory(store)).toMatchObject({ pending: [], unknown: [] });
    const tables = (await store.db.introspection.getTables()).map(({ name }) => name);
    expect(tables.toSorted()).toEqual(
      [
        'audit_checkpoints',
        'audit_keys',
        'connection_catalogs',
        'connection_template_tags',
        'connection_templates',
        'connections',
        'console_links',
        'console_sessions',
        'console_sign_ins',
        'definition_changes_told',
        'destination_checks',
        'destinations',
        'health_counts',
        'idempotency_keys',
        'job_hours',
        'job_logs',
        'job_logs_wanted',
        'job_watch',
        'jobs',
        'log_entries',
        'log_heads',
        'log_pending',
        'log_personal',
        'log_sequencer',
        'migrations',
        'name_claims',
        'operations',
        'operator_tokens',
        'organizations',
        'paused_connections',
        'definition_copies',
        'revoked_tokens',
        'quota_holds',
        'oauth_clients',
        'oauth_flows',
        'credentials',
        'quota_notices',
        'quotas',
        'replicas',
        'cause_retries',
        'cause_retry_items',
        'rollout_items',
        'rollouts',
        'schema_versions',
        'scheduled_backups',
        'signing_keys',
        'source_checks',
        'source_definition_versions',
        'source_definitions',
        'source_template_tags',
        'source_templates',
        'sources',
        'template_plan_items',
        'template_plans',
        'template_tags',
        'template_versions',
        'usage_days',
        'webhook_deliveries',
        'webhook_endpoints',
        'workspace_counts',
        'workspaces',
        // A full-text index is tables to SQLite.
        ...(kind === 'sqlite'
          ? ['', '_config', '_data', '_docsize', '_idx'].map((part) => `workspace_names${part}`)
          : []),
      ].toSorted(),
    );
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(60_000);
  });

  it('done again change nothing and lose nothing', async () => {
    await migrate(store);
    const row = {
      id: '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20',
      name: 'kept',
      platform_organization_id: 'x',
      created_at: 1,
    };
    await store.db.insertInto('organizations').values(row).execute();
    expect(await migrate(store)).toEqual([]);
    expect(await store.db.selectFrom('organizations').selectAll().execute()).toEqual([row]);
  });

  it('give templates that are there already their first version', async () => {
    await migrate(store);
    const id = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';
    const stamps = { organization_id: id, created_at: 1, updated_at: 1, deleted_at: null };
    await store.db
      .insertInto('organizations')
      .values({ id, name: 'kept', platform_organization_id: 'x', created_at: 1 })
      .execute();
    const template = { id, name: 'Shop', description: null, definition_id: id, icon: null, own_icon: null };
    await store.db
      .insertInto('source_templates')
      .values({
        ...template,
        ...stamps,
        sealed_defaults: 'sealed',
        customization: '{"stream_whitelist":[]}',
        version: 1,
      })
      .execute();
    await store.db
      .insertInto('template_tags')
      .values({ id, organization_id: id, name: 'gold', created_at: 1, updated_at: 1 })
      .execute();
    await store.db
      .insertInto('source_template_tags')
      .values({ organization_id: id, template_id: id, tag_id: id })
      .execute();
    // As if the last release had made it.
    const name = '0010-template-versions';
    await sql`drop table template_versions`.execute(store.db);
    for (const table of ['source_templates', 'connection_templates'])
      await sql`alter table ${sql.table(table)} drop column version`.execute(store.db);
    await sql`delete from migrations where name = ${name}`.execute(store.db);
    expect(await migrate(store)).toEqual([name]);
    const [first, ...others] = await store.db.selectFrom('template_versions').selectAll().execute();
    expect(others).toEqual([]);
    expect(first).toMatchObject({ kind: 'source', template_id: id, number: 1, sealed_configuration: 'sealed' });
    expect(JSON.parse(first?.content ?? '')).toEqual({
      name: 'Shop',
      description: null,
      icon: null,
      customization: { stream_whitelist: [] },
      tags: ['gold'],
    });
  });

  it('give the texts from which programs read who has to act their codes, and leave other texts as they are', async () => {
    await migrate(store);
    const id = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';
    const ours = 'There is a problem on our side, and our team can see it. You do not have to change anything.';
    const signInAgain = 'The access to your account has ended. Sign in again to go on.';
    const health = { attention: { by: 'customer', what: 'Revoked.', customerWhat: signInAgain } };
    const insert = async (table: string, values: Record<string, string | number>) => {
      const columns = Object.keys(values).map((name) => sql.ref(name));
      await sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(values))})`.execute(
        store.db,
      );
    };
    const stamps = { id, organization_id: id, created_at: 1 };
    await insert('organizations', { id, name: 'kept', platform_organization_id: 'x', created_at: 1 });
    const names = { name: 'a', name_folded: 'a', gen: 1, name_gen: 1, name_settled_at: 0, token_gen: 1 };
    await insert('workspaces', { ...stamps, ...names, status: 'active', lifecycle: 'live', updated_at: 1 });
    const template = { ...stamps, definition_id: id, customization: '{}', sealed_defaults: 's', updated_at: 1 };
    await insert('source_templates', { ...template, name: 'Shop' });
    await insert('connection_templates', {
      ...{ ...stamps, updated_at: 1, destination_name: 'D', definition_id: id, sealed_destination_config: 's' },
      ...{ non_breaking_changes_preference: 'ignore', namespace_format: '', prefix: '', sync_on_create: 0 },
    });
    const remote = { ...stamps, workspace_id: id, no_post_before: 0, failure: 'Refused.', customer_failure: ours };
    const work = { lease_until: 0, attempts: 0, updated_at: 1, version: 1, applied_version: 0, lifecycle: 'live' };
    await insert('sources', { ...remote, ...work, source_template_id: id, name: 'a', slug: 'a', sealed_config: 's' });
    const destination = { ...remote, customer_failure: 'Other.', connection_template_id: id };
    await insert('destinations', { ...destination, name: 'D', lease_until: 0 });
    await insert('connections', {
      ...{ ...remote, connection_template_id: id, source_id: id, destination_id: id, schema_changes: 'ignore' },
      ...{ namespace_format: '', prefix: '', first_sync_wanted: 0, is_set_up: 1, source_template_id: id },
      ...{ definition_id: id, health: 'needs_attention', health_detail: JSON.stringify(health) },
    });
    const name = '0058-codes-of-failures';
    for (const table of ['sources', 'destinations', 'connections', 'definition_copies']) {
      await sql`alter table ${sql.table(table)} drop column failure_reasons`.execute(store.db);
    }
    for (const table of ['jobs', 'source_checks', 'destination_checks', 'cause_retries']) {
      await sql`alter table ${sql.table(table)} drop column reasons`.execute(store.db);
    }
    await sql`alter table cause_retries drop column stop_code`.execute(store.db);
    await sql`delete from migrations where name = ${name}`.execute(store.db);
    expect(await migrate(store)).toEqual([name]);
    const reasonsOf = (code: string) => ({ operator: null, customer: { code, parameters: {} } });
    const source = await store.db.selectFrom('sources').selectAll().executeTakeFirstOrThrow();
    expect(source.customer_failure).toBe(ours);
    expect(JSON.parse(source.failure_reasons ?? '')).toEqual(reasonsOf('problem_on_our_side'));
    const other = await store.db.selectFrom('destinations').selectAll().executeTakeFirstOrThrow();
    expect([other.customer_failure, other.failure_reasons]).toEqual(['Other.', null]);
    const connection = await store.db.selectFrom('connections').selectAll().executeTakeFirstOrThrow();
    expect(JSON.parse(connection.health_detail)).toEqual({
      attention: { ...health.attention, reasons: reasonsOf('sign_in_ended') },
    });
  });

  it('give tokens a life that a calendar has', async () => {
    await migrate(store);
    const id = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';
    const ends = ['5e18', '1900000000000', null];
    await store.db
      .insertInto('organizations')
      .values({ id, name: 'kept', platform_organization_id: 'x', created_at: 1 })
      .execute();
    await sql`
      insert into workspaces (id, organization_id, name, name_folded, status, lifecycle, gen, name_gen, name_settled_at, token_gen, created_at, updated_at)
      values (${id}, ${id}, 'a', 'a', 'active', 'live', 1, 1, 0, 1, 1, 1)`.execute(store.db);
    for (const [index, end] of ends.entries()) {
      const time = sql.raw(end === null ? 'null' : `cast(${end} as bigint)`);
      await sql`
        insert into credentials (
          id, organization_id, workspace_id, oauth_client_id, source_template_id, grant_kind, owner, state, sealed_tokens,
          generation, access_expires_at, refresh_due_at, failures, scopes, provider_values, tries, lease_until, revoke_tries,
          created_at, updated_at, signed_in_at
        ) values (
          ${id.replace('7f0a3c52', `7f0a3c5${index}`)}, ${id}, ${id}, ${id}, ${id}, 'authorization_code', 'service', 'connected', '',
          1, ${time}, ${time}, 0, '[]', '{}', 0, 0, 0, 1800000000000, 1800000000000, 1800000000000
        )`.execute(store.db);
    }
    const name = '0047-lives-of-tokens';
    await sql`delete from migrations where name = ${name}`.execute(store.db);
    expect(await migrate(store)).toEqual([name]);
    const rows = await store.db
      .selectFrom('credentials')
      .select(['access_expires_at', 'refresh_due_at'])
      .orderBy('id')
      .execute();
    const most = 1_800_000_000_000 + 3_650 * 86_400_000;
    expect(rows.map((row) => [row.access_expires_at, row.refresh_due_at])).toEqual([
      [most, most],
      [1_900_000_000_000, 1_900_000_000_000],
      [null, null],
    ]);
  });

  it('are done once when several processes start at the same moment', async () => {
    const results = await Promise.all([cli('migrate'), cli('migrate'), cli('migrate')]);
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: '' }));
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(2);
    expect(await readSchemaHistory(store)).toMatchObject({ pending: [], unknown: [] });
  });

  it('of a later version are accepted as long as they keep this version working', async () => {
    await migrate(store);
    await fromTheFuture();
    await sql`update schema_versions set migrated_by = '99.0.0'`.execute(store.db);
    expect(await migrate(store)).toEqual([]);
    const doctor = await cli('doctor');
    expect(doctor.code, doctor.stdout).toBe(0);
    expect(doctor.stdout).toMatch(/^ +ok +Database: .*99\.0\.0/m);
  });

  it('of a later version that end the support for this one keep every command from touching the database', async () => {
    await migrate(store);
    await fromTheFuture();
    await sql`update schema_versions set oldest_compatible = '99.1.0'`.execute(store.db);
    await expect(migrate(store)).rejects.toThrow(IncompatibleSchema);
    for (const args of [['start'], ['migrate'], ['organization', 'list']]) {
      const { code, stdout, stderr } = await cli(...args);
      expect([args, code, stdout]).toEqual([args, 1, '']);
      // One sentence: no bug, so there is no stack to show.
      expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(' 99.1.0 ')]);
      expect(stderr).toContain(` ${version}.`);
    }
    const doctor = await cli('doctor');
    expect(doctor.code).toBe(exitCodes.findings[0]);
    expect(doctor.stdout).toMatch(/^ +FAIL +Database: .*99\.1\.0/m);
  });

  it('of builds that recorded no oldest version are refused when unknown', async () => {
    await migrate(store);
    await fromTheFuture();
    await sql`drop table schema_versions`.execute(store.db);
    await expect(migrate(store)).rejects.toThrow(/9999-from-the-future/);
  });

  it('applied late by an older version keep the oldest version that was recorded', async () => {
    await migrate(store);
    await sql`update schema_versions set oldest_compatible = ${version}`.execute(store.db);
    await sql`delete from migrations where name = '0047-lives-of-tokens'`.execute(store.db);
    await migrate(store);
    expect(await readSchemaHistory(store)).toMatchObject({ oldestCompatible: version, migratedBy: version });
  });
});
