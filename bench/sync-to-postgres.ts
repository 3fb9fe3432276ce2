/*
 * The rate of a sync into PostgreSQL: `sample-data` to `destination-postgres` by the real runner, appended and without
 * duplicates. The ceiling: psql's COPY of the rows that a sync left, into an empty table with the same columns and
 * indexes.
 */
import { join } from 'node:path';
import pg from 'pg';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Figure,
  type Measured,
  measureInTurns,
  rateOf,
  tookMs,
} from './benchmark.ts';
import { runSampleSync, streamName } from './sample-sync.ts';
import { runTimed } from './started-process.ts';

export const benchmark: Benchmark = {
  name: 'sync-to-postgres',

  async run(options, log) {
    const database = await options.databases.postgres();
    const program = database?.program('psql');
    if (database && !program) log('psql is not installed: there is no ceiling to compare with.');
    if (!database || !program) return [];
    const url = database.serverUrl;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const figures = [];
      for (const mode of ['append', 'append_dedup'] as const) {
        figures.push(await measureMode(mode, { url, client, psql: program }, options));
      }
      return figures;
    } finally {
      await client.end();
    }
  },
};

interface Server {
  url: string;
  client: pg.Client;
  psql: string;
}

async function measureMode(
  mode: 'append' | 'append_dedup',
  server: Server,
  options: BenchmarkOptions,
): Promise<Figure> {
  const rows = join(options.folder, `${mode}.copy`);
  await syncToNewTable(mode, server, options);
  await psql(`\\copy ${streamName} to '${rows}'`, server, options);
  const measured = await measureInTurns(
    {
      ceiling: async () => {
        await server.client.query(`drop table if exists ceiling`);
        await server.client.query(`create table ceiling (like ${streamName} including all)`);
        return psql(`\\copy ceiling from '${rows}'`, server, options);
      },
      sync: () => syncToNewTable(mode, server, options),
    },
    options.rounds,
    tookMs,
  );
  const ceiling = { name: 'psql COPY of the same rows', measured: measured.ceiling };
  return rateOf(`sample-data → destination-postgres, ${mode}`, measured.sync, ceiling, {
    records: options.records,
    unit: 'records/s',
  });
}

async function syncToNewTable(
  mode: 'append' | 'append_dedup',
  { url, client }: Server,
  options: BenchmarkOptions,
): Promise<Measured> {
  await client.query(`drop table if exists ${streamName}`);
  const { hostname, port, username } = new URL(url);
  const configuration = {
    host: hostname,
    port: Number(port),
    database: 'postgres',
    username,
    ssl_mode: { mode: 'disable' },
  };
  const measured = await runSampleSync({ destination: { name: 'destination-postgres', configuration }, mode }, options);
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${streamName}`);
  if (rows[0]?.count !== options.records) throw new Error(`${rows[0]?.count} rows are in the table.`);
  return measured;
}

function psql(command: string, { url, psql }: Server, { signal }: BenchmarkOptions): Promise<Measured> {
  return runTimed(psql, ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--command', command, url], {
    signal,
  });
}
