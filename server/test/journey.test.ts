/**
 * The journey of docs/guides/first-sync.md, by HTTP alone, on the product as a process with an empty data directory: templates, a
 * scoped token, a check, a source, rows in files and in PostgreSQL on schedule, deactivation and activation.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { localFiles, sampleData } from './support/pipelines.ts';
import { type Service, startService } from './support/service.ts';

const destinationPostgres = '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043';
const everyYear = '0 0 4 1 1 ?';
const patience = { timeout: 300_000, interval: 250 };

const dataDir = mkdtempSync(join(tmpdir(), 'inlay-journey-'));
const databaseName = `journey_${process.pid}`;
let service: Service;
let warehouse: pg.Client;

beforeAll(async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`create database ${databaseName}`);
  await admin.end();
  warehouse = new pg.Client({ connectionString: warehouseUrl().href });
  await warehouse.connect();
  service = await startService({ dataDir });
});

afterAll(async () => {
  await service?.stop();
  await warehouse?.end();
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`drop database if exists ${databaseName} with (force)`);
  await admin.end();
  rmSync(dataDir, { recursive: true, force: true });
});

function warehouseUrl(): URL {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${databaseName}`;
  return url;
}

async function call(token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  const answer: any = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/**
 * Makes every connection with a next run due. The platform looks into its store every second for due connections, so
 * moving the times there is as good as waiting. The tests of schedule/ check when a cron expression fires.
 */
function letTheYearPass(): void {
  const file = new SqliteConnection(join(dataDir, 'platform.db'));
  const { changes } = file.prepare('update connections set next_run_at = 1 where next_run_at is not null').run();
  file.close();
  expect(changes).toBe(2);
}

/** Ids of the users in the files, each once. */
function usersInFiles(): Set<number> {
  const files = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl') && entry.parentPath.includes('our_shop_users'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return new Set(files.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line).id));
}

it('goes from an empty data directory to rows at two destinations, on schedule', async () => {
  const operatorToken = /inlay_op_\w+/.exec(service.output())?.[0] ?? '';
  const operator = (method: string, path: string, body?: object) => call(operatorToken, method, path, body);

  const template = await operator('POST', '/integrations/templates/sources', {
    actor_definition_id: sampleData,
    name: 'Demo shop',
    partial_default_config: { seed: 7 },
    tags: ['demo'],
  });
  await operator('POST', '/integrations/templates/connections', {
    destination_name: 'Files',
    destination_definition_id: localFiles,
    destination_config: { path: 'exports' },
    namespace_format: '',
    cron_expression: everyYear,
  });
  const { hostname, port, username, password } = warehouseUrl();
  await operator('POST', '/integrations/templates/connections', {
    destination_name: 'Warehouse',
    destination_definition_id: destinationPostgres,
    destination_config: {
      host: hostname,
      port: Number(port || 5432),
      database: databaseName,
      username: decodeURIComponent(username) || 'postgres',
      password: decodeURIComponent(password) || 'none',
      ssl_mode: { mode: 'disable' },
    },
    cron_expression: everyYear,
  });

  const { token } = await operator('POST', '/embedded/scoped-token', { workspace_name: 'acme' });
  const customer = (method: string, path: string, body?: object) => call(token, method, `/embedded${path}`, body);
  const { 'workspace ID': workspaceId } = await customer('GET', '/scoped-token/info');
  expect((await customer('GET', '/source-templates')).data).toMatchObject([{ id: template.id, name: 'Demo shop' }]);

  const request = { source_template_id: template.id, source_config: { count: 1000 } };
  const { id: checkId } = await customer('POST', '/sources/check', request);
  await expect
    .poll(async () => (await customer('GET', `/sources/check/${checkId}/status`)).status, patience)
    .toBe('succeeded');
  const source = await customer('POST', '/sources', { ...request, name: 'Our shop' });

  // The first sync starts at once.
  const connections = async () => (await customer('GET', '/connections')).data;
  const lastRuns = async () => (await connections()).map((one: { last_run: unknown }) => one.last_run);
  await expect.poll(lastRuns, patience).toMatchObject([
    { status: 'succeeded', rows: 3100 },
    { status: 'succeeded', rows: 3100 },
  ]);
  for (const { id } of await connections()) {
    const [{ streams }] = (await customer('GET', `/connections/${id}/jobs`)).data;
    expect(streams).toContainEqual(
      expect.objectContaining({ name: 'users', records_emitted: 1000, values_changed: [] }),
    );
  }
  expect(usersInFiles().size).toBe(1000);
  const schema = `workspace_${workspaceId.replaceAll('-', '_')}`;
  const countUsers = async () =>
    Number((await warehouse.query(`select count(*) from "${schema}"."our_shop_users"`)).rows[0].count);
  expect(await countUsers()).toBe(1000);
  const epochsInFiles = () =>
    readdirSync(join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      const [, epoch] = /[.]epoch-(\d+)-[^/]*$/.exec(name) ?? [];
      return epoch === undefined ? [] : [Number(epoch)];
    });
  const epochs = async () => [
    ...(await warehouse.query(`select epoch from "${schema}"._inlay_epochs`)).rows.map(({ epoch }) => Number(epoch)),
    ...epochsInFiles(),
  ];
  const first = await epochs();
  expect(first).toHaveLength(2);

  // The next one by the clock brings what is new, and only that.
  await customer('PUT', `/sources/${source.id}`, { source_config: { count: 1200 } });
  letTheYearPass();
  await expect.poll(countUsers, patience).toBe(1200);
  await expect.poll(() => usersInFiles().size, patience).toBe(1200);
  // Both destinations know the later attempt, and refuse the earlier one from now on.
  const second = await epochs();
  expect(second.map((epoch, index) => epoch > (first[index] ?? 0))).toEqual([true, true]);

  // An inactive workspace runs nothing, and resumes where it was.
  const workspace = (status: string) => operator('PUT', `/workspaces/${workspaceId}`, { status });
  expect(await workspace('inactive')).toMatchObject({ status: 'inactive' });
  expect(await connections()).toMatchObject([
    { status: 'inactive', next_run_at: null },
    { status: 'inactive', next_run_at: null },
  ]);
  const [{ id: connectionId }] = await connections();
  const jobs = async () => (await customer('GET', `/connections/${connectionId}/jobs`)).data;
  const before = await jobs();
  expect(before.every((job: { status: string }) => ['succeeded', 'cancelled'].includes(job.status))).toBe(true);
  await customer('PUT', `/sources/${source.id}`, { source_config: { count: 1300 } });
  await expect(customer('POST', `/connections/${connectionId}/sync`)).rejects.toThrow('409');

  expect(await workspace('active')).toMatchObject({ status: 'active' });
  expect(await jobs()).toHaveLength(before.length);
  letTheYearPass();
  await expect.poll(countUsers, patience).toBe(1300);
});
