/*
 * The rate of a sync from PostgreSQL to PostgreSQL, of a table with ten columns: replaced, and without duplicates. The
 * ceiling: psql's COPY of the same rows from one database into a table of the other with the same columns and no index.
 */
import { connector } from '../platform/connectors/source-postgres/source-postgres.ts';
import type { ConfiguredStream, Stream } from '../platform/src/protocol.ts';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns, rateOf, tookMs } from './benchmark.ts';
import { configurationOf, counted, execute, serverWithPsql } from './postgres-tables.ts';
import { runTimed } from './started-process.ts';
import { runSync } from './timed-sync.ts';

const tableName = 'measurements';

const makeRows = (count: number) => `
  create table ${tableName} as
  select n as id, n::bigint * 1000003 as serial, (n % 1000000 / 7.0)::numeric(12, 4) as amount, md5(n::text) as hash,
    'name "' || n || '" of a customer' as name, repeat('x', 40) as note, timestamptz '2024-01-01' + n * interval '1 second' as at,
    n % 2 = 0 as is_open, random() as share, date '2020-01-01' + n % 1000 as day
  from generate_series(1, ${count}) n;
  alter table ${tableName} add primary key (id)`;

/** How long a sync may take, in times of the ceiling. */
const modes = [
  { mode: 'overwrite', sync_mode: 'full_refresh', atMost: 3 },
  { mode: 'append_dedup', sync_mode: 'incremental', atMost: 3.5 },
] as const;

export const benchmark: Benchmark = {
  name: 'postgres-to-postgres',

  async run(options, log) {
    const server = await serverWithPsql(options, log);
    if (!server) return [];
    const { database, psql } = server;
    const [from, to] = [await database.makeEmpty('bench_from'), await database.makeEmpty('bench_to')];
    await execute(from, makeRows(options.records));
    await execute(from, `vacuum analyze ${tableName}`);
    const stream = await discoverTable(from);
    const figures = [];
    for (const mode of modes) figures.push(await measureMode(mode, { stream, from, to, psql }, options));
    return figures;
  },
};

interface Surroundings {
  stream: Stream;
  from: string;
  to: string;
  psql: string;
}

async function measureMode(
  { mode, sync_mode, atMost }: (typeof modes)[number],
  { stream, from, to, psql }: Surroundings,
  options: BenchmarkOptions,
): Promise<Figure> {
  const configured: ConfiguredStream = {
    stream,
    sync_mode,
    destination_sync_mode: mode,
    primary_key: [['id']],
    generation_id: 1,
    minimum_generation_id: mode === 'overwrite' ? 1 : 0,
    sync_id: 1,
  };
  const measured = await measureInTurns(
    {
      ceiling: async () => {
        await execute(to, `drop table if exists ${tableName}`);
        await execute(to, columnsOnly(await columnsOf(from)));
        const run = (url: string, command: string) => `'${psql}' --no-psqlrc --quiet --command "${command}" '${url}'`;
        const pipe = `${run(from, `copy ${tableName} to stdout`)} | ${run(to, `copy ${tableName} from stdin`)}`;
        return counted(to, tableName, await runTimed('/bin/sh', ['-c', pipe], { signal: options.signal }), options);
      },
      sync: async () => {
        await execute(to, `drop table if exists ${tableName}`);
        const source = { name: 'source-postgres', configuration: configurationOf(from) };
        const destination = { name: 'destination-postgres', configuration: configurationOf(to) };
        return counted(
          to,
          tableName,
          await runSync({ source, destination, catalog: { streams: [configured] } }, options),
          options,
        );
      },
    },
    options.rounds,
    tookMs,
  );
  const ceiling = { name: 'COPY to COPY of the same rows', measured: measured.ceiling };
  return rateOf(`postgres → destination-postgres, ${mode}`, measured.sync, ceiling, {
    records: options.records,
    unit: 'records/s',
    target: { of: 'ratio', atLeast: 1 / atMost },
  });
}

async function discoverTable(url: string): Promise<Stream> {
  const surroundings = {
    workspaceDir: undefined,
    readableDirs: [],
    allowPrivateNetworks: true,
    serviceEndpoints: [],
  };
  const { streams } = await connector.discover(configurationOf(url), surroundings);
  const stream = streams.find(({ name }) => name === tableName);
  if (!stream) throw new Error(`The source has no stream ${tableName}.`);
  return stream;
}

async function columnsOf(url: string): Promise<{ name: string; type: string }[]> {
  return execute(
    url,
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = '${tableName}'::regclass and attnum > 0 order by attnum`,
  );
}

function columnsOnly(columns: { name: string; type: string }[]): string {
  return `create table ${tableName} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`;
}
