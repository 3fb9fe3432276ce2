/**
 * Runs schedules and reports. `--seeds N` how many, `--from S` the first; one seed replays exactly. With `--namesakes`
 * somebody else uses our names.
 */
import { parseArgs } from 'node:util';
import { runSchedule } from './schedule.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    stop: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    namesakes: { type: 'boolean', default: false },
  },
});
const first = Number(values.from);
const count = Number(values.seeds);
const startedAt = performance.now();
let failed = 0;
let creates = 0;
let names = 0;
const convergence: number[] = [];
for (let seed = first; seed < first + count; seed++) {
  const outcome = await runSchedule(seed, {
    trace: values.trace ? console.log : undefined,
    namesakes: values.namesakes,
  });
  creates += outcome.creates;
  names += outcome.names;
  convergence.push(outcome.convergedAfterMs);
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
console.log(
  `${convergence.length} schedules, ${failed} with violations; ${creates} creates for ${names} names; ` +
    `converged after ${at(0.5)} s (median), ${at(0.99)} s (p99), ${at(1)} s (max) of virtual time; ` +
    `${Math.round((performance.now() - startedAt) / 100) / 10} s`,
);
process.exitCode = failed > 0 ? 1 : 0;
