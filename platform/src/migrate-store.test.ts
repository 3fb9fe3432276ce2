/** The move of a store from SQLite to PostgreSQL, interrupted at every step. */
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../../server/test/support/databases.ts';
import { fillWorkspace, type RunningPlatform, startPlatform, temporaryFile } from '../test/start-platform.ts';
import { openStore } from './db/open.ts';
import { openAttemptLog } from './jobs/job-logs.ts';
import { migrateStore } from './migrate-store.ts';

async function newDatabase(): Promise<string> {
  const { url = '', drop } = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  onTestFinished(drop);
  return url;
}

/** A platform's file with rows in many tables, and a job log. */
async function makeFile() {
  const file = temporaryFile();
  const running = await startPlatform({ file });
  await running.call('POST', '/workspaces', { name: 'Ünïcode \u{1f680} "quoted" \\u0000' });
  const { connectionId, workspaceId } = await fillWorkspace(running);
  const { body: job } = await running.call('POST', '/jobs', { connectionId, jobType: 'sync' });
  const { jobs, store } = running.platform;
  const row = await store.db
    .updateTable('jobs')
    .set({ attempts: 1 })
    .where('job_id', '=', job.jobId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await store.db
    .insertInto('job_attempts')
    .values({ job_id: row.job_id, workspace_id: workspaceId, attempt: 1, status: 'running', started_at: 1 })
    .execute();
  const log = openAttemptLog(jobs, row);
  log.write('INFO', 'source', 'a line of the log');
  log.close();
  // A number that was given out once.
  const deleted = { change_id: 'x', action: 'created' as const, definition: '{}' };
  await store.db.insertInto('definition_changes').values(deleted).execute();
  await store.db.deleteFrom('definition_changes').execute();
  const told = await tellAll(running);
  await running.stop();
  return { file, told, workspaceId };
}

async function tellAll({ call }: RunningPlatform) {
  const paths = ['/workspaces', '/sources', '/destinations', '/connections', '/jobs', '/organizations', '/jobs/1/log'];
  return await Promise.all(paths.map(async (path) => (await call('GET', path)).body));
}

/** A process that is gone leaves no open file; one that closes a file in this process does, for a while. */
function asAfterRestart(file: string): void {
  if (!existsSync(file)) return;
  copyFileSync(file, `${file}-copy`);
  renameSync(`${file}-copy`, file);
}

const movePart = async (file: string, url: string, steps: number) => {
  asAfterRestart(file);
  const lines: string[] = [];
  const tell = (line: string) => {
    lines.push(line);
    if (lines.length > steps && !line.startsWith('Done')) throw new Error('killed');
  };
  const move = migrateStore({ file, url, dataDir: dirname(file), tell, batchRows: 1 });
  return await move.then(
    () => ({ lines, isDone: true }),
    (error: Error) => {
      expect(error.message).toBe('killed');
      return { lines, isDone: false };
    },
  );
};

it('A move that is interrupted after every step continues, and the platform is the same afterwards', async () => {
  const { file, told } = await makeFile();
  const url = await newDatabase();
  let interruptions = 0;
  for (let steps = 0; !(await movePart(file, url, steps)).isDone; steps = interruptions % 2) {
    interruptions++;
    // Also after the file was set aside.
    await expect(startPlatform({ file: `${file}-none`, databaseUrl: url })).rejects.toThrow(/unfinished copy/);
  }
  expect(interruptions).toBeGreaterThan(5);
  // Killed after the file was set aside, before the copy was declared complete.
  const copy = await openStore({ url });
  const source = `${hostname()}:${file}`;
  await copy.db.insertInto('store_moves').values({ source, started_at: 1 }).execute();
  await copy.close();
  expect((await movePart(file, url, 1)).isDone).toBe(true);
  expect([existsSync(file), existsSync(`${file}.moved`)]).toEqual([false, true]);
  const moved = await startPlatform({ file, databaseUrl: url });
  expect(await tellAll(moved)).toEqual(told);
  const change = { change_id: 'y', action: 'created' as const, definition: '{}' };
  await moved.platform.store.db.insertInto('definition_changes').values(change).execute();
  expect(await moved.platform.store.db.selectFrom('definition_changes').select('seq').execute()).toEqual([{ seq: 2 }]);
  await moved.call('POST', '/workspaces', { name: 'another' });
  await moved.stop();
  await expect(migrateStore({ file, url, dataDir: dirname(file), tell: () => {} })).rejects.toThrow(/nothing to copy/);
  // Renamed back, the file is as it was.
  renameSync(`${file}.moved`, file);
  asAfterRestart(file);
  const back = await startPlatform({ file });
  expect(await tellAll(back)).toEqual(told);
});

it('A move that continues after the file was used again starts over', async () => {
  const { file, workspaceId } = await makeFile();
  const url = await newDatabase();
  await movePart(file, url, 4);
  asAfterRestart(file);
  const store = await openStore(file);
  await store.db.updateTable('workspaces').set({ name: 'changed' }).where('workspace_id', '=', workspaceId).execute();
  await store.close();
  const { lines, isDone } = await movePart(file, url, 100);
  expect([isDone, lines.some((line) => line.includes('Starting over'))]).toEqual([true, true]);
  const moved = await startPlatform({ file, databaseUrl: url });
  expect((await moved.call('GET', `/workspaces/${workspaceId}`)).body.name).toBe('changed');
});

it('A move is refused while a process uses the file, and into a store with data', async () => {
  const { file } = await makeFile();
  const url = await newDatabase();
  const move = () => migrateStore({ file, url, dataDir: dirname(file), tell: () => {} });
  const other = await openStore(file);
  await expect(move()).rejects.toThrow(/Another process uses/);
  await other.close();
  asAfterRestart(file);
  const used = await openStore({ url });
  await used.db.insertInto('organizations').values({ organization_id: 'o', created_at: 1 }).execute();
  await expect(move()).rejects.toThrow(/already has data/);
  await used.close();
  expect([existsSync(file), existsSync(join(dirname(file), 'platform.db.moved'))]).toEqual([true, false]);
});
