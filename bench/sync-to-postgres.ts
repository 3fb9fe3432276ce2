/*
 * The rate of a sync into PostgreSQL: `sample-data` to `destination-postgres` by the real runner, appended and without
 * duplicates. The ceiling: psql's COPY of the rows that a sync left, into an empty table with the same columns and
 * indexes.
 */
import { join } from 'node:path';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Figure,
  type Measured,
  measureInTurns,
  rateOf,
  tookMs,
} from './benchmark.ts';
import { configurationOf, counted, execute, serverWithPsql } from './postgres-tables.ts';
import { runSampleSync, streamName } from './sample-sync.ts';
import { runTimed } from './started-process.ts';

export const benchmark: Benchmark = {
  name: 'sync-to-postgres',

  async run(options, log) {
    const server = await serverWithPsql(options, log);
    if (!server) return [];
    const { database, psql } = server;
    const figures = [];
    for (const mode of ['append', 'append_dedup'] as const) {
      figures.push(await measureMode(mode, { url: database.serverUrl, psql }, options));
    }
    return figures;
  },
};

interface Server {
  url: string;
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
        await execute(server.url, `drop table if exists ceiling`);
        await execute(server.url, `create table ceiling (like ${streamName} including all)`);
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
  { url }: Server,
  options: BenchmarkOptions,
): Promise<Measured> {
  await execute(url, `drop table if exists ${streamName}`);
  const destination = { name: 'destination-postgres', configuration: configurationOf(url) };
  return counted(url, streamName, await runSampleSync({ destination, mode }, options), options);
}

function psql(command: string, { url, psql }: Server, { signal }: BenchmarkOptions): Promise<Measured> {
  return runTimed(psql, ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--command', command, url], {
    signal,
  });
}
