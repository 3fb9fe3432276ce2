/**
 * Runs schedules and reports. `--seeds N` how many, `--from S` the first; one seed replays exactly. With `--namesakes`
 * somebody else uses our names; with `--quotas` the schedules are about quotas.
 */
import { parseArgs } from 'node:util';
import { runQuotaSchedule } from './quota-schedule.ts';
import { runSchedule } from './schedule.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    stop: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    namesakes: { type: 'boolean', default: false },
    quotas: { type: 'boolean', default: false },
  },
});
const first = Number(values.from);
const count = Number(values.seeds);
const startedAt = performance.now();
const trace = values.trace ? console.log : undefined;
let run = 0;
let failed = 0;
const convergence: number[] = [];
const counts: Record<string, number> = {};
const add = (what: string, by: number) => {
  counts[what] = (counts[what] ?? 0) + by;
};

async function runOne(seed: number): Promise<{ violations: string[] }> {
  if (values.quotas) {
    const outcome = await runQuotaSchedule(seed, trace);
    add('sources made', outcome.made);
    add('refused', outcome.refused);
    return outcome;
  }
  const outcome = await runSchedule(seed, { trace, namesakes: values.namesakes });
  add('creates', outcome.creates);
  add('names', outcome.names);
  convergence.push(outcome.convergedAfterMs);
  return outcome;
}

for (let seed = first; seed < first + count; seed++) {
  const outcome = await runOne(seed);
  run++;
  if (outcome.violations.length > 0) {
    failed++;
    if (failed <= 10)
      console.log(`seed ${seed}:\n${[...new Set(outcome.violations)].map((violation) => `  ${violation}`).join('\n')}`);
    if (values.stop) break;
  }
  if ((seed - first + 1) % 10_000 === 0) console.error(`${seed - first + 1} schedules, ${failed} failed`);
}
convergence.sort((a, b) => a - b);
const at = (share: number) => Math.round((convergence[Math.floor((convergence.length - 1) * share)] ?? 0) / 1000);
const what = values.quotas
  ? `${counts['sources made']} sources made, ${counts.refused} refused`
  : `${counts.creates} creates for ${counts.names} names; ` +
    `converged after ${at(0.5)} s (median), ${at(0.99)} s (p99), ${at(1)} s (max) of virtual time`;
console.log(
  `${run} schedules, ${failed} with violations; ${what}; ${Math.round((performance.now() - startedAt) / 100) / 10} s`,
);
process.exitCode = failed > 0 ? 1 : 0;
