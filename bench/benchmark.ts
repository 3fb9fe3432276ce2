/*
 * What a benchmark is: a name and a function that gives figures. Absolute values differ from machine to machine, so a
 * figure is compared with another figure of the same run: a ceiling, which does only what cannot be avoided, or the
 * same work on less data. The works take turns, so that other work on the machine slows all of them equally; medians
 * are compared. A missed target is shown, but is no failure.
 */
import type { Databases } from './databases.ts';
import { cpuSecondsOf, type Usage } from './process-usage.ts';
import type { BenchmarkSettings, Log } from './settings.ts';

export interface BenchmarkOptions extends BenchmarkSettings {
  databases: Databases;
}

export interface Benchmark {
  name: string;
  /** Gives no figures when something is missing on this machine; then the log says what. */
  run(options: BenchmarkOptions, log: Log): Promise<Figure[]>;
}

export interface Target {
  of: 'value' | 'ratio';
  atLeast?: number;
  atMost?: number;
}

export interface Figure {
  work: string;
  value: number;
  unit: 'records/s' | 'requests/s' | 'workspaces/s' | 'syncs/s' | 'ms' | 'MB';
  reference?: { name: string; value: number };
  /** The value divided by the value of the reference. For a rate and its ceiling, 1 means that it cannot be faster. */
  ratio?: number;
  /**
   * The same ratio for CPU time, which other work on the machine changes less. Undefined where the CPU time of the
   * reference is not known.
   */
  cpuRatio?: number | undefined;
  target?: Target;
  /** The number of records in the median round. */
  records?: number;
  tookMs?: number;
  latency?: { p50Ms: number; p99Ms: number };
  /** The time that processors were busy with one request. */
  cpuMsPerRequest?: number;
  /** How late the service's event loop was: 99 of 100 times it was not later than this. */
  lagP99Ms?: number;
  /** The share of a processor that sending the requests took. Near 1, the sender is the limit and not the service. */
  generatorBusy?: number;
  /** Answers other than 200. */
  failures?: number;
  usage?: Usage;
  note?: string;
}

export function isReached({ value, ratio, target }: Figure): boolean | undefined {
  const judged = target?.of === 'ratio' ? ratio : value;
  if (!target || judged === undefined) return undefined;
  return judged >= (target.atLeast ?? -Infinity) && judged <= (target.atMost ?? Infinity);
}

export interface Measured {
  tookMs: number;
  usage: Usage;
}

/** Each work once a round, in turns. `costOf` decides which round is the median. */
export async function measureInTurns<Name extends string, Result>(
  works: Record<Name, () => Promise<Result>>,
  rounds: number,
  costOf: (result: Result) => number,
): Promise<Record<Name, Result>> {
  const names = Object.keys(works) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await works[name]());
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(measured[name], costOf)])) as Record<Name, Result>;
}

export const tookMs = ({ tookMs }: Measured): number => tookMs;

function medianOf<Result>(results: Result[], costOf: (result: Result) => number): Result {
  const middle = results.toSorted((a, b) => costOf(a) - costOf(b))[Math.floor(results.length / 2)];
  if (middle === undefined) throw new Error('At least one round must be measured.');
  return middle;
}

/** How long one of so many answers takes. */
export async function medianMs(times: number, ask: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const from = performance.now();
    await ask();
    took.push(performance.now() - from);
  }
  return medianOf(took, (ms) => ms);
}

/** The rate of our work and of the ceiling, when both did the same number of things once. */
export function rateOf(
  work: string,
  ours: Measured,
  ceiling: { name: string; measured: Measured },
  { records, unit, target }: { records: number; unit: Figure['unit']; target?: Target },
): Figure {
  const perSecond = ({ tookMs }: Measured) => (records / tookMs) * 1000;
  const ceilingCpuSeconds = cpuSecondsOf(ceiling.measured.usage);
  return {
    work,
    value: perSecond(ours),
    unit,
    reference: { name: ceiling.name, value: perSecond(ceiling.measured) },
    ratio: ceiling.measured.tookMs / ours.tookMs,
    cpuRatio: ceilingCpuSeconds > 0 ? ceilingCpuSeconds / cpuSecondsOf(ours.usage) : undefined,
    ...(target ? { target } : {}),
    records,
    tookMs: ours.tookMs,
    usage: ours.usage,
  };
}
