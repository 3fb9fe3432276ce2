/*
 * Absolute values differ from machine to machine, so a figure is compared with another figure of the same run: a ceiling,
 * which does only what cannot be avoided, or the same work on less data. The works take turns, so that other work on the
 * machine slows all of them equally; medians are compared. A missed target is shown, but is no failure.
 */
import type { Usage } from './process-usage.ts';
import type { BenchmarkSettings } from './settings.ts';

/** What one round of a work gave. */
export interface Measured {
  tookMs: number;
  /** How many things were done in this time. */
  count?: number;
  /** CPU time of all of them. */
  cpuMs?: number | undefined;
  /** Latency of single responses. */
  p50Ms?: number;
  p99Ms?: number;
  /** How late the service's event loop was: 99 of 100 times it was not later than this. */
  lagP99Ms?: number | undefined;
  /** The share of a processor that sending the requests took. Near 1, the sender is the limit and not the service. */
  generatorBusy?: number;
  /** Answers other than 200. */
  failures?: number;
  peakMegabytes?: number;
  /** What one takes on disk. */
  bytes?: number;
  usage?: Usage;
}

export interface Target {
  of: 'value' | 'ratio';
  atLeast?: number;
  atMost?: number;
}

export type Spread = readonly [low: number, high: number];

export interface Figure {
  work: string;
  value: number;
  unit: 'records/s' | 'requests/s' | 'workspaces/s' | 'syncs/s' | 'µs' | 'ms' | 's' | 'MB' | 'kB';
  reference?: { name: string; value: number };
  /** The value divided by the value of the reference. For a rate and its ceiling, 1 means that it cannot be faster. */
  ratio?: number;
  /** Contains the ratio with a probability of 95 %. A target for the ratio is missed only if all of it is worse than 1. */
  spread?: Spread;
  /**
   * The same ratio for CPU time, which other work on the machine changes less. Undefined where a CPU time is not known.
   */
  cpuRatio?: number | undefined;
  target?: Target;
  measured?: Measured;
  /** What the value consists of. */
  parts?: Record<string, number>;
  note?: string;
}

/** What a figure shows of a round. */
const values = {
  rate: ({ count = 1, tookMs }: Measured) => (count / tookMs) * 1000,
  /** The time of one. */
  each: ({ count = 1, tookMs }: Measured) => tookMs / count,
  median: ({ p50Ms = 0 }: Measured) => p50Ms,
  p99: ({ p99Ms = 0 }: Measured) => p99Ms,
  peak: ({ peakMegabytes = 0 }: Measured) => peakMegabytes,
  cpu: ({ cpuMs = 0 }: Measured) => cpuMs / 1000,
  disk: ({ bytes = 0 }: Measured) => bytes / 1000,
};

export function figureOf(
  work: string,
  [shown, unit]: [keyof typeof values, Figure['unit']],
  measured: Measured | undefined,
  { than, target, note }: { than?: [name: string, Measured | undefined]; target?: Target; note?: string } = {},
): Figure {
  if (!measured) throw new Error(`${work} was not measured.`);
  const value = values[shown](measured);
  const figure: Figure = { work, value, unit, measured, ...(target && { target }), ...(note && { note }) };
  const [name = '', reference] = than ?? [];
  if (!reference) return figure;
  const cpuEach = ({ cpuMs = 0, count = 1 }: Measured) => cpuMs / count;
  const cpuRatio = shown === 'rate' ? cpuEach(reference) / cpuEach(measured) : cpuEach(measured) / cpuEach(reference);
  return {
    ...figure,
    reference: { name, value: values[shown](reference) },
    ratio: value / values[shown](reference),
    cpuRatio: cpuRatio > 0 && Number.isFinite(cpuRatio) ? cpuRatio : undefined,
  };
}

/** Undefined without a target, and without the reference that a target for a ratio needs. */
export function isReached({ value, ratio, spread, target }: Figure): boolean | undefined {
  const judged = target?.of === 'ratio' ? ratio : value;
  if (!target || judged === undefined) return undefined;
  if (spread && spread[0] <= 1) return true;
  return judged >= (target.atLeast ?? -Infinity) && judged <= (target.atMost ?? Infinity);
}

/** Each work once a round, in turns. Gives the median round of each, by default by how long it took. */
export async function measureInTurns<Name extends string, Result extends Measured>(
  works: Record<Name, () => Promise<Result>>,
  { rounds }: Pick<BenchmarkSettings, 'rounds'>,
  by: keyof typeof values = 'each',
): Promise<Record<Name, Result>> {
  const names = Object.keys(works) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await works[name]());
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(measured[name], by)])) as Record<Name, Result>;
}

/** The same works on little and on much data. `describe` says what is measured. */
export async function compareSizes(
  [few, many]: [few: number, many: number],
  worksOn: (size: number) => Promise<Record<string, () => Promise<Measured>>>,
  describe: (name: string) => string,
  { shown = 'each', atMost }: { shown?: keyof typeof values; atMost: number },
  settings: BenchmarkSettings,
): Promise<Figure[]> {
  const [onFew, onMany] = [await worksOn(few), await worksOn(many)];
  const works: typeof onMany = {};
  for (const [name, work] of Object.entries(onMany)) {
    Object.assign(works, { [`${name}, few`]: onFew[name], [`${name}, many`]: work });
  }
  const measured = await measureInTurns(works, settings);
  return Object.keys(onMany).map((name) =>
    figureOf(describe(name), [shown, 'ms'], measured[`${name}, many`], {
      than: [`with ${numberText(few)}`, measured[`${name}, few`]],
      target: { of: 'ratio', atMost },
    }),
  );
}

function medianOf<Result extends Measured>(results: Result[], by: keyof typeof values = 'each'): Result {
  const middle = results.toSorted((a, b) => values[by](a) - values[by](b))[Math.floor(results.length / 2)];
  if (middle === undefined) throw new Error('At least one round must be measured.');
  return middle;
}

export async function timed(work: () => Promise<unknown>, count = 1): Promise<Measured> {
  const startedAt = performance.now();
  await work();
  return { tookMs: performance.now() - startedAt, count };
}

/** How long one of so many answers takes. */
export async function medianAnswer(times: number, ask: () => Promise<unknown>): Promise<Measured> {
  const answers: Measured[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await timed(ask));
  return medianOf(answers);
}

export const numberText = (count: number): string => count.toLocaleString('en');
