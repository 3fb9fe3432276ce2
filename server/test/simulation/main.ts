/** Runs schedules and sums them up. Loaded as one bundle (scripts/simulation.mjs), for `npm run simulate` and its test. */
import { runAttemptSchedule } from './attempt-schedule.ts';
import { type CredentialOptions, runCredentialSchedule } from './credential-schedule.ts';
import { runQuotaSchedule } from './quota-schedule.ts';
import { runSchedule } from './schedule.ts';

export interface SimulationOptions {
  seeds: number;
  from?: number;
  /** After the first violation. */
  stop?: boolean;
  /** Someone else uses our names. */
  namesakes?: boolean;
  /** The schedules are about quotas. */
  quotas?: boolean;
  /** The schedules are about credentials; with this many replicas and credentials, or a few. */
  credentials?: boolean | CredentialOptions;
  /** The schedules are about attempts of jobs. */
  attempts?: boolean;
  /** Gets what happens in each schedule. */
  trace?: ((line: string) => void) | undefined;
  /** Gets the violations of the first ten seeds that have any. */
  say?: (text: string) => void;
  /** Gets how far a long run has come. */
  progress?: (text: string) => void;
}

export interface SimulationResult {
  run: number;
  failed: number;
  summary: string;
}

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seeds, from = 1, stop, namesakes = false, quotas, credentials, attempts, trace, say, progress } = options;
  let run = 0;
  let failed = 0;
  const convergence: number[] = [];
  const counts: Record<string, number> = {};
  const add = (what: string, by: number) => {
    counts[what] = (counts[what] ?? 0) + by;
  };

  async function runOne(seed: number): Promise<{ violations: string[] }> {
    if (quotas) {
      const outcome = await runQuotaSchedule(seed, trace);
      add('sources made', outcome.made);
      add('refused', outcome.refused);
      return outcome;
    }
    if (credentials) {
      const size = credentials === true ? undefined : credentials;
      const outcome = await runCredentialSchedule(seed, trace, size);
      add('sent', outcome.sent);
      add('refreshed', outcome.refreshed);
      add('ended', outcome.ended);
      return outcome;
    }
    if (attempts) {
      const outcome = await runAttemptSchedule(seed, trace);
      add('attempts', outcome.attempts);
      add('succeeded', outcome.succeeded);
      add('fenced', outcome.fenced);
      return outcome;
    }
    const outcome = await runSchedule(seed, { trace, namesakes });
    add('creates', outcome.creates);
    add('names', outcome.names);
    convergence.push(outcome.convergedAfterMs);
    return outcome;
  }

  for (let seed = from; seed < from + seeds; seed++) {
    const { violations } = await runOne(seed);
    run++;
    if (violations.length > 0) {
      failed++;
      if (failed <= 10) say?.(`seed ${seed}:\n${[...new Set(violations)].map((text) => `  ${text}`).join('\n')}`);
      if (stop) break;
    }
    if (run % 10_000 === 0) progress?.(`${run} schedules, ${failed} failed`);
  }
  convergence.sort((a, b) => a - b);
  const at = (share: number) => Math.round((convergence[Math.floor((convergence.length - 1) * share)] ?? 0) / 1000);
  const what = attempts
    ? `${counts.attempts} attempts, ${counts.succeeded} jobs succeeded, ${counts.fenced} late writes refused`
    : credentials
      ? `${counts.sent} refresh tokens sent, ${counts.refreshed} refreshed, ${counts.ended} grants ended`
      : quotas
        ? `${counts['sources made']} sources made, ${counts.refused} refused`
        : `${counts.creates} creates for ${counts.names} names; ` +
          `converged after ${at(0.5)} s (median), ${at(0.99)} s (p99), ${at(1)} s (max) of virtual time`;
  return { run, failed, summary: `${run} schedules, ${failed} with violations; ${what}` };
}
