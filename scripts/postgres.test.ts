import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startPgbouncer } from './pgbouncer.mjs';
import { startPostgres } from './postgres.mjs';

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  // A server that is ending may drop the connection between two statements: the next one fails, and says so.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it('starts a cluster that keeps its data and its address over a restart and is gone after stop', async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const firstPid = postgres.pid;
  await query(postgres.url, 'create table notes as select 1 as id');

  await postgres.restart();

  expect(await query(postgres.url, 'select id from notes')).toEqual([{ id: 1 }]);
  expect(postgres.pid).not.toBe(firstPid);

  await postgres.stop();
  await expect(query(postgres.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
});

it('ends the cluster when the process that started it is killed', async () => {
  const program = fileURLToPath(new URL('postgres.mjs', import.meta.url));
  const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [url] = (await once(createInterface(parent.stdout), 'line')) as [string];
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);

  parent.kill('SIGKILL');

  await vi.waitFor(() => expect(query(url, 'select 1')).rejects.toThrow(/ECONNREFUSED/), { timeout: 60_000 });
});

it('pools transactions in PgBouncer and refuses startup parameters it does not know', async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const pgbouncer = await startPgbouncer(postgres.url);
  onTestFinished(() => pgbouncer.stop());

  // Two open sessions share one server connection: that is what transaction pooling means.
  const first = new pg.Client({ connectionString: pgbouncer.url });
  await first.connect();
  onTestFinished(() => first.end());
  const backend = (await first.query('select pg_backend_pid() as pid')).rows;
  expect(await query(pgbouncer.url, 'select pg_backend_pid() as pid')).toEqual(backend);

  const client = new pg.Client({ connectionString: pgbouncer.url, statement_timeout: 1000 });
  await expect(client.connect()).rejects.toThrow(/unsupported startup parameter/);
});
