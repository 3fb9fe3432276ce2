/**
 * Runs the seeded simulation: `npm run simulate -- --seeds N --from S`; one seed replays exactly. `--trace` prints what
 * happens in a schedule. With `--namesakes` another user takes our names; `--quotas` runs schedules about quotas,
 * `--credentials` about credentials, `--attempts` about attempts of jobs.
 * `--without GUARD` removes one of the guards of simulation.mjs first: then the simulation must find a violation.
 */
import { parseArgs } from 'node:util';
import { guards, loadSimulation } from './simulation.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    stop: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    namesakes: { type: 'boolean', default: false },
    quotas: { type: 'boolean', default: false },
    credentials: { type: 'boolean', default: false },
    attempts: { type: 'boolean', default: false },
    without: { type: 'string' },
  },
});
const { seeds, from, trace, without, ...options } = values;
if (without !== undefined && !(without in guards)) {
  console.error(`Unknown guard ${without}. Available guards: ${Object.keys(guards).join(', ')}`);
  process.exit(2);
}
const { simulate } = await loadSimulation(without);
const startedAt = performance.now();
const { failed, summary } = await simulate({
  ...options,
  seeds: Number(seeds),
  from: Number(from),
  trace: trace ? console.log : undefined,
  say: console.log,
  progress: console.error,
});
console.log(`${summary}; ${Math.round((performance.now() - startedAt) / 100) / 10} s`);
process.exitCode = failed > 0 ? 1 : 0;
