/* The benchmarks as a program: runs those that are named, or all; prints a table, and writes everything to a JSON file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { api, apiOnPostgres } from './api.ts';
import { type Benchmark, untilEnd } from './benchmark.ts';
import { compare } from './compare.ts';
import { consoleScreens } from './console.ts';
import { createDatabases } from './databases.ts';
import { declarative, templates } from './declarative.ts';
import { disk } from './disk.ts';
import { dueSyncs } from './due-syncs.ts';
import { events } from './events.ts';
import { fairShare } from './fair-share.ts';
import { isReached } from './figures.ts';
import { growth } from './growth.ts';
import { hostileConnectors } from './hostile-connectors.ts';
import { jobLog } from './job-log.ts';
import { layersOfRequests } from './layers.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import { quotas } from './quotas.ts';
import { replicas } from './replicas.ts';
import { type Report, tableOf } from './report.ts';
import { type Amounts, amounts, type BenchmarkSettings } from './settings.ts';
import { start } from './start.ts';
import { postgresToPostgres, syncToFiles, syncToPostgres } from './syncs.ts';
import { webhooks } from './webhooks.ts';
import { workers } from './workers.ts';
import { workspaceSync } from './workspace-sync.ts';

const benchmarks: readonly Benchmark[] = [
  ...[api, apiOnPostgres, growth, lists, consoleScreens, jobLog, memory, replicas, workspaceSync, quotas, events],
  ...[webhooks, workers, fairShare, hostileConnectors, dueSyncs, disk, syncToFiles, syncToPostgres, postgresToPostgres],
  ...[templates, declarative, compare, layersOfRequests, start],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...eachAmount(() => ({ type: 'string' as const })),
    /** Only the kinds of request whose name contains the text. */
    only: { type: 'string', default: '' },
    /** "sqlite" or "postgres"; both by default. */
    database: { type: 'string', default: '' },
    /** Keep the SQLite files with many workspaces in bench/results for the next run. */
    keep: { type: 'boolean', default: false },
    /** Write CPU profiles of the service to bench/results. */
    profile: { type: 'boolean', default: false },
    /** A little of everything, once: checks that the benchmarks work, and says nothing about speed. */
    smoke: { type: 'boolean', default: false },
    /** Instead of bench/results/<time>.json. */
    output: { type: 'string' },
  },
});
// "compare" runs alone, because a commit may follow its name.
const [commit] = positionals[0] === compare.name ? positionals.splice(1) : [];
const chosen = benchmarks.filter(({ name, isOnRequest }) =>
  positionals.length === 0 ? values.smoke || !isOnRequest : positionals.includes(name),
);
if (chosen.length < positionals.length) {
  throw new Error(`Available benchmarks: ${benchmarks.map(({ name }) => name).join(', ')}.`);
}

function eachAmount<T>(pick: (option: keyof Amounts) => T) {
  const options = Object.keys(amounts) as (keyof Amounts)[];
  return Object.fromEntries(options.map((option) => [option, pick(option)])) as Record<keyof Amounts, T>;
}

function amountOf(option: keyof Amounts): number {
  const text = values[option];
  const own = chosen.length === 1 ? chosen[0]?.amounts?.[option] : undefined;
  if (text === undefined) return values.smoke ? amounts[option][1] : (own ?? amounts[option][0]);
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${option} must be a whole number of at least 1.`);
  return number;
}

const programs = dirname(fileURLToPath(import.meta.url));
const root = resolve(programs, '../../../..');
const results = join(root, 'bench/results');
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const startedAt = new Date().toISOString();
const nameOfRun = startedAt.replaceAll(':', '-');
const settings: BenchmarkSettings = {
  ...eachAmount(amountOf),
  only: values.only,
  database: values.database,
  commit,
  root,
  folder: mkdtempSync(join(tmpdir(), 'inlay-bench-')),
  datasets: values.keep ? join(results, 'datasets') : undefined,
  profiles: values.profile ? join(results, nameOfRun) : undefined,
  programs,
  product: resolve(programs, '../bin/inlay.js'),
  connectors: resolve(programs, '../dist/connectors/main.js'),
  signal: interruption.signal,
  log: (line) => console.error(line),
};
const databases = createDatabases(settings);
try {
  const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node.js ${process.version}`;
  const loadBefore = loadavg()[0] ?? 0;
  const figures: Report['figures'] = [];
  for (const { name, run } of chosen) {
    const log = (line: string) => console.error(`${name}: ${line}`);
    const given = await untilEnd({ ...settings, databases, log }, run);
    figures.push(...given.map((figure) => ({ benchmark: name, ...figure })));
  }
  const report = { startedAt, machine, loadBefore, loadAfter: loadavg()[0] ?? 0, rounds: settings.rounds, figures };
  console.log(tableOf(report));
  const output = values.output ?? join(results, `${nameOfRun}.json`);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\n${output}`);
  if (figures.some((figure) => figure.spread && isReached(figure) === false)) process.exitCode = 1;
} catch (error) {
  // An interrupted benchmark fails in many ways, and these failures do not matter.
  if (!interruption.signal.aborted) throw error;
  console.error('Interrupted.');
  process.exitCode = 130;
} finally {
  await databases.close();
  rmSync(settings.folder, { recursive: true, force: true });
}
