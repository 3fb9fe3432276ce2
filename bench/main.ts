/*
 * The benchmarks as a program: runs those that are named, or all; prints a table, and writes everything to a JSON file.
 *
 *   --records N     how many records a sync of data moves (1,000,000)
 *   --connections N how many connections are due at once in due-syncs (500)
 *   --workspaces N  how many workspaces the service knows (1,000,000)
 *   --platform-workspaces N
 *                   how many workspaces the platform has in workspace-sync (100,000)
 *   --rounds N      how often each work is measured (3)
 *   --seconds N     how long each kind of request is sent in a round (2)
 *   --minutes N     how long memory watches the service (half a minute)
 *   --only TEXT     only the kinds of request whose name contains the text
 *   --keep          keep the SQLite files with many workspaces in bench/results for the next run
 *   --profile       write CPU profiles of the service to bench/results
 *   --smoke         little of everything, once: tells whether the benchmarks work, and nothing about speed
 *   --output FILE   instead of bench/results/<time>.json
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchmark as api } from './api.ts';
import { benchmark as apiOnPostgres } from './api-postgres.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { benchmark as consoleScreens } from './console.ts';
import { createDatabases } from './databases.ts';
import { benchmark as declarative } from './declarative.ts';
import { benchmark as dueSyncs } from './due-syncs.ts';
import { benchmark as events } from './events.ts';
import { benchmark as fairShare } from './fair-share.ts';
import { benchmark as growth } from './growth.ts';
import { benchmark as hostileConnectors } from './hostile-connectors.ts';
import { benchmark as jobLog } from './job-log.ts';
import { benchmark as lists } from './lists.ts';
import { benchmark as memory } from './memory.ts';
import { benchmark as postgresToPostgres } from './postgres-to-postgres.ts';
import { benchmark as quotas } from './quotas.ts';
import { benchmark as replicas } from './replicas.ts';
import { tableOf } from './report.ts';
import type { BenchmarkSettings } from './settings.ts';
import { benchmark as syncToFiles } from './sync-to-files.ts';
import { benchmark as syncToPostgres } from './sync-to-postgres.ts';
import { benchmark as templates } from './templates.ts';
import { benchmark as webhooks } from './webhooks.ts';
import { benchmark as workspaceSync } from './workspace-sync.ts';

const benchmarks: readonly Benchmark[] = [
  api,
  apiOnPostgres,
  growth,
  lists,
  consoleScreens,
  jobLog,
  memory,
  replicas,
  workspaceSync,
  quotas,
  events,
  webhooks,
  fairShare,
  hostileConnectors,
  dueSyncs,
  syncToFiles,
  syncToPostgres,
  postgresToPostgres,
  templates,
  declarative,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string' },
    connections: { type: 'string' },
    workspaces: { type: 'string' },
    'platform-workspaces': { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    output: { type: 'string' },
  },
});
const chosen = benchmarks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length < positionals.length) {
  throw new Error(`There are the benchmarks ${benchmarks.map(({ name }) => name).join(', ')}.`);
}
const usual = values.smoke
  ? { records: 2_000, connections: 4, workspaces: 2_000, platformWorkspaces: 500, rounds: 1, loadMs: 50, watchMs: 250 }
  : {
      records: 1_000_000,
      connections: 500,
      workspaces: 1_000_000,
      platformWorkspaces: 100_000,
      rounds: 3,
      loadMs: 2_000,
      watchMs: 30_000,
    };

const programs = dirname(fileURLToPath(import.meta.url));
const results = resolve(programs, '../../../../bench/results');
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const startedAt = new Date().toISOString();
const nameOfRun = startedAt.replaceAll(':', '-');
const settings: BenchmarkSettings = {
  records: wholeNumber('records', usual.records),
  connections: wholeNumber('connections', usual.connections),
  workspaces: wholeNumber('workspaces', usual.workspaces),
  platformWorkspaces: wholeNumber('platform-workspaces', usual.platformWorkspaces),
  rounds: wholeNumber('rounds', usual.rounds),
  loadMs: values.seconds === undefined ? usual.loadMs : wholeNumber('seconds', 0) * 1_000,
  watchMs: values.minutes === undefined ? usual.watchMs : wholeNumber('minutes', 0) * 60_000,
  only: values.only,
  folder: mkdtempSync(join(tmpdir(), 'inlay-bench-')),
  datasets: values.keep ? join(results, 'datasets') : undefined,
  profiles: values.profile ? join(results, nameOfRun) : undefined,
  programs,
  product: resolve(programs, '../bin/inlay.js'),
  connectors: resolve(programs, '../dist/connectors/main.js'),
  signal: interruption.signal,
};
const databases = createDatabases(settings, (line) => console.error(line));
try {
  const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node.js ${process.version}`;
  const loadBefore = loadavg()[0] ?? 0;
  const figures: Figure[] = [];
  for (const benchmark of chosen) {
    figures.push(
      ...(await benchmark.run({ ...settings, databases }, (line) => console.error(`${benchmark.name}: ${line}`))),
    );
  }
  const report = { startedAt, machine, loadBefore, loadAfter: loadavg()[0] ?? 0, rounds: settings.rounds, figures };
  console.log(tableOf(report));
  const output = values.output ?? join(results, `${nameOfRun}.json`);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\n${output}`);
} catch (error) {
  // An interrupted benchmark fails in many ways, and these failures do not matter.
  if (!interruption.signal.aborted) throw error;
  console.error('Interrupted.');
  process.exitCode = 130;
} finally {
  await databases.close();
  rmSync(settings.folder, { recursive: true, force: true });
}

function wholeNumber(
  option: 'records' | 'connections' | 'workspaces' | 'platform-workspaces' | 'rounds' | 'seconds' | 'minutes',
  otherwise: number,
): number {
  const text = values[option];
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${option} must be a whole number of at least 1.`);
  return number;
}
