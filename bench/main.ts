/*
 * The benchmarks as a program: runs those that are named, or all; prints a table, and writes everything to a JSON file.
 *
 *   --records N    how many records a sync moves (1,000,000)
 *   --rounds N     how often each work is measured (3)
 *   --smoke        few records, once: tells whether the benchmarks work, and nothing about speed
 *   --output FILE  instead of bench/results/<time>.json
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Benchmark, Figure } from './benchmark.ts';
import { tableOf } from './report.ts';
import { benchmark as syncToFiles } from './sync-to-files.ts';
import { benchmark as syncToPostgres } from './sync-to-postgres.ts';

const benchmarks: readonly Benchmark[] = [syncToFiles, syncToPostgres];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string' },
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    output: { type: 'string' },
  },
});
const chosen = benchmarks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length < positionals.length) {
  throw new Error(`There are the benchmarks ${benchmarks.map(({ name }) => name).join(', ')}.`);
}
const records = wholeNumber('--records', values.records ?? (values.smoke ? '2000' : '1000000'));
const rounds = wholeNumber('--rounds', values.rounds ?? (values.smoke ? '1' : '3'));

const programs = dirname(fileURLToPath(import.meta.url));
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-'));
try {
  const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node.js ${process.version}`;
  const loadBefore = loadavg()[0] ?? 0;
  const startedAt = new Date().toISOString();
  const figures: Figure[] = [];
  for (const benchmark of chosen) {
    const options = { records, rounds, folder, programs, signal: interruption.signal };
    figures.push(...(await benchmark.run(options, (line) => console.error(`${benchmark.name}: ${line}`))));
  }
  const report = { startedAt, machine, loadBefore, loadAfter: loadavg()[0] ?? 0, rounds, figures };
  console.log(tableOf(report));
  const output = values.output ?? resolve(programs, '../../../bench/results', `${startedAt.replaceAll(':', '-')}.json`);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\n${output}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${option} must be a whole number of at least 1.`);
  return number;
}
