/* The rate of a sync between two bundled connectors, by the real runner, from the start of its process to the end. */
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type BenchmarkOptions, onPostgres } from './benchmark.ts';
import { execute, urlOf } from './databases.ts';
import { type Figure, figureOf, type Measured, measureInTurns } from './figures.ts';
import { treeCpuSecondsSoFar } from './process-usage.ts';
import {
  type ConfiguredStream,
  connectorProgram,
  destinationPostgres,
  type Stream,
  sampleData,
  sampleStreams,
  sourcePostgres,
} from './product.ts';
import { runPipe, runTimed } from './started-process.ts';
import { unguarded } from './unguarded.ts';

interface Connector {
  name: string;
  configuration: Record<string, unknown>;
}

/** As the specifications of the connectors name them. */
const rowFormats: Record<string, string | undefined> = {
  'sample-data': sampleData.inlay_row_blocks,
  'source-postgres': sourcePostgres.specification.inlay_row_blocks,
  'destination-postgres': destinationPostgres.inlay_row_blocks,
};

async function runSync(
  source: Connector,
  destination: Connector,
  stream: ConfiguredStream,
  options: BenchmarkOptions,
  blocks = true,
): Promise<Measured> {
  const { records, folder, programs, connectors, signal } = options;
  const workspaceDir = join(folder, 'workspace');
  rmSync(workspaceDir, { recursive: true, force: true });
  mkdirSync(workspaceDir);
  const surroundings = { ...unguarded, connectorsProgram: connectors, workspaceDir };
  const bundled = (kind: 'source' | 'destination', { name, configuration }: Connector) => {
    const rowBlocks = blocks ? rowFormats[name] : undefined;
    return {
      ...connectorProgram({ type: 'bundled', name }, kind, surroundings),
      rowBlocks,
      configuration,
      secrets: [],
    };
  };
  const connections = { source: bundled('source', source), destination: bundled('destination', destination) };
  const request = { ...connections, catalog: { streams: [stream] }, records };
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  const program = join(programs, 'sync-process.js');
  const names = { runner: program, source: source.name, destination: destination.name };
  return { ...(await runTimed(process.execPath, [program, folder], { signal, names })), count: records };
}

/** A sync beside its ceiling. */
const rateOf = (work: string, sync: Measured, ceiling: [name: string, Measured], atLeast = 0): Figure =>
  figureOf(work, ['rate', 'records/s'], sync, {
    than: ceiling,
    ...(atLeast > 0 && { target: { of: 'ratio', atLeast } }),
  });

/** The CPU time of a sync, of all processes and servers, beside that of its ceiling. */
const cpuOf = (work: string, sync: Measured | undefined, ceiling: Measured | undefined, atMost?: number): Figure =>
  figureOf(work, ['cpu', 's'], sync, {
    than: ['psql COPY of the same rows', ceiling],
    ...(atMost !== undefined && { target: { of: 'ratio', atMost } }),
  });

const users = 'users';

type Mode = ConfiguredStream['destination_sync_mode'];

const configured = (stream: Stream, sync_mode: ConfiguredStream['sync_mode'], mode: Mode): ConfiguredStream => ({
  ...{ stream, sync_mode, destination_sync_mode: mode, primary_key: [['id']] },
  ...{ generation_id: 1, minimum_generation_id: mode === 'overwrite' ? 1 : 0, sync_id: 1 },
  ...{ inlay_writer: 'benchmark', inlay_epoch: Date.now() },
});

function sampleStream(mode: Mode): ConfiguredStream {
  const sample = sampleStreams.find(({ name }) => name === users);
  if (!sample) throw new Error(`The sample has no stream ${users}.`);
  const { json_schema } = sample;
  const keys = { supported_sync_modes: ['incremental' as const], source_defined_primary_key: [['id']] };
  const stream = configured({ name: users, json_schema, ...keys }, 'incremental', mode);
  return { ...stream, cursor_field: ['updated_at'] };
}

const sampleSource = ({ records }: BenchmarkOptions): Connector => ({
  name: 'sample-data',
  configuration: { count: records },
});

const sendFile = `require('node:fs').createReadStream(process.argv[1]).pipe(process.stdout)`;
const storeInput = `process.stdin.pipe(require('node:fs').createWriteStream(process.argv[1]))`;

/**
 * The ceiling: the bytes that the source writes, sent by a bare process to a second process, which writes them to a file
 * and does not wait for the disk.
 */
export const syncToFiles: Benchmark = {
  name: 'sync-to-files',

  async run(options) {
    const { folder, signal, records } = options;
    const bytes = await writeSourceOutput(options);
    const destination = { name: 'local-files', configuration: { path: 'bench' } };
    const sync = (mode: Mode) => () => runSync(sampleSource(options), destination, sampleStream(mode), options);
    const works = {
      async ceiling() {
        const copy = join(folder, 'copy');
        // The shell that starts both has the scripts in its command line, too, but doesn't run them itself.
        const names = { sender: `-e\0${sendFile}`, receiver: `-e\0${storeInput}` };
        const bare = (script: string, file: string) => [process.execPath, '-e', script, file];
        const measured = await runPipe(bare(sendFile, bytes), bare(storeInput, copy), { signal, names });
        rmSync(copy);
        return { ...measured, count: records };
      },
      append: sync('append'),
      overwrite: sync('overwrite'),
    };
    const { ceiling, ...syncs } = await measureInTurns(works, options);
    return Object.entries(syncs).map(([mode, sync]) =>
      rateOf(`sample-data → local-files, ${mode}`, sync, ['the same bytes through two bare processes', ceiling], 0.5),
    );
  },
};

async function writeSourceOutput(options: BenchmarkOptions): Promise<string> {
  const [config, catalog, output] = ['config.json', 'catalog.json', 'output.jsonl'].map((name) =>
    join(options.folder, name),
  ) as [string, string, string];
  const { name, configuration } = sampleSource(options);
  writeFileSync(config, JSON.stringify(configuration));
  writeFileSync(catalog, JSON.stringify({ streams: [sampleStream('append')] }));
  const file = openSync(output, 'w');
  const args = [options.connectors, name, 'read', '--config', config, '--catalog', catalog];
  const { signal } = options;
  await runTimed(process.execPath, args, { signal, stdio: ['ignore', file, 'inherit'] }).finally(() => closeSync(file));
  return output;
}

/** The ceiling: psql's COPY of the rows that a sync left, into an empty table with the same columns and indexes. */
export const syncToPostgres = onPostgres('sync-to-postgres', async (database, options) => {
  const psql = database.program('psql');
  if (!psql) return [];
  const url = database.serverUrl;
  const figures = [];
  for (const mode of ['append', 'append_dedup'] as const) {
    const rows = join(options.folder, `${mode}.copy`);
    const copy = (command: string) => {
      const args = ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--command', `\\copy ${command} '${rows}'`];
      return runTimed(psql, [...args, url], options);
    };
    const sync = async () => {
      await execute(url, `drop table if exists ${users}`);
      return await counted(url, users, options, () =>
        runSync(sampleSource(options), intoPostgres(url), sampleStream(mode), options),
      );
    };
    await sync();
    await copy(`${users} to`);
    const ceiling = async () => {
      await execute(url, `drop table if exists ceiling; create table ceiling (like ${users} including all)`);
      return await counted(url, 'ceiling', options, () => copy('ceiling from'));
    };
    const measured = await measureInTurns({ ceiling, sync }, options, 'cpu');
    figures.push(cpuOf(`sample-data → destination-postgres, ${mode}`, measured.sync, measured.ceiling, 2.5));
  }
  return figures;
});

const table = 'measurements';

const columns =
  'id int, serial bigint, amount numeric(12, 4), hash text, name text, note text, at timestamptz, is_open boolean, share float, day date';
const makeRows = (count: number) => `
  create table ${table} (${columns}, primary key (id));
  insert into ${table} select n as id, n::bigint * 1000003 as serial, (n % 1000000 / 7.0)::numeric(12, 4) as amount, md5(n::text) as hash,
    'name "' || n || '" of a customer' as name, repeat('x', 40) as note, timestamptz '2024-01-01' + n * interval '1 second' as at,
    n % 2 = 0 as is_open, random() as share, date '2020-01-01' + n % 1000 as day
  from generate_series(1, ${count}) n`;

/** What a sync may take, in times of the ceiling. */
const works = {
  'first overwrite': { mode: 'overwrite', sync_mode: 'full_refresh', atMost: 2 },
  'repeated overwrite': { mode: 'overwrite', sync_mode: 'full_refresh', atMost: 3 },
  append_dedup: { mode: 'append_dedup', sync_mode: 'incremental', atMost: 2.5 },
  /** What blocks of rows save. */
  'first overwrite, as JSON': { mode: 'overwrite', sync_mode: 'full_refresh', atMost: undefined },
} as const;

/**
 * A table with ten columns, replaced and without duplicates. The ceiling: psql's COPY of the same rows from one database
 * into a table of the other with the same columns and no index.
 */
export const postgresToPostgres = onPostgres('postgres-to-postgres', async (database, options) => {
  const psql = database.program('psql');
  if (!psql) return [];
  const from = urlOf(await database.makeEmpty('bench_from'));
  const to = urlOf(await database.makeEmpty('bench_to'));
  await execute(from, makeRows(options.records));
  await execute(from, `vacuum analyze ${table}`);
  const stream = await discoverTable(from);
  const run = (url: string, command: string) => [psql, '--no-psqlrc', '--quiet', '--command', command, url];
  const ceiling = async () => {
    await execute(to, `drop table if exists ${table}; create table ${table} (${columns})`);
    const copy = () => runPipe(run(from, `copy ${table} to stdout`), run(to, `copy ${table} from stdin`), options);
    return await counted(to, table, options, copy);
  };
  const sync = (name: keyof typeof works) => async () => {
    const { mode, sync_mode } = works[name];
    if (name !== 'repeated overwrite') await execute(to, `drop table if exists ${table}`);
    const source = { ...intoPostgres(from), name: 'source-postgres' };
    const move = () =>
      runSync(source, intoPostgres(to), configured(stream, sync_mode, mode), options, !name.endsWith('JSON'));
    return await counted(to, table, options, move);
  };
  const names = (Object.keys(works) as (keyof typeof works)[]).filter((name) => name.includes(options.only));
  const turns: Record<string, () => Promise<Measured>> = { ceiling };
  for (const name of names) turns[name] = sync(name);
  const measured = await measureInTurns(turns, options, 'cpu');
  return names.map((name) =>
    cpuOf(`postgres → destination-postgres, ${name}`, measured[name], measured.ceiling, works[name].atMost),
  );
});

function intoPostgres(url: string): Connector {
  const { hostname, port, username, pathname } = new URL(url);
  const database = pathname.slice(1) || 'postgres';
  const configuration = { host: hostname, port: Number(port), database, username, ssl_mode: { mode: 'disable' } };
  return { name: 'destination-postgres', configuration };
}

/** Gives what was measured, with the work of the server, once all records are known to be in the table. */
async function counted(
  url: string,
  table: string,
  { records }: BenchmarkOptions,
  run: () => Promise<Measured>,
): Promise<Measured> {
  const before = await serverCpuMs(url);
  const measured = await run();
  const cpuMs = (measured.cpuMs ?? 0) + (await serverCpuMs(url)) - before;
  const [row] = await execute<{ count: number }>(url, `select count(*)::int as count from ${table}`);
  if (row?.count !== records) throw new Error(`${row?.count} rows are in the table.`);
  return { ...measured, cpuMs, count: records };
}

/** The CPU time of all processes of a server on this machine. */
async function serverCpuMs(url: string): Promise<number> {
  const query = `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid`;
  const [server] = await execute<{ pid: number }>(url, query);
  return server ? treeCpuSecondsSoFar(server.pid) * 1000 : 0;
}

async function discoverTable(url: string): Promise<Stream> {
  const { streams } = await sourcePostgres.discover(intoPostgres(url).configuration, unguarded);
  const stream = streams.find(({ name }) => name === table);
  if (!stream) throw new Error(`The source has no stream ${table}.`);
  return stream;
}
