/*
 * What a benchmark is: a name and a function that gives figures. Absolute times differ from machine to machine, so a
 * figure is the ratio of two works that were measured side by side: the ceiling, which does only what cannot be avoided,
 * and ours. Works take turns, so that whatever else the machine does falls on all of them alike; medians are compared.
 */
import { cpuSecondsOf, type Usage } from './process-usage.ts';

export interface BenchmarkOptions {
  /** How much there is to do. */
  records: number;
  /** How often each work is measured. */
  rounds: number;
  /** For everything that is written; removed afterwards. */
  folder: string;
  /** Where the built programs are. */
  programs: string;
  /** Aborted when the benchmark is interrupted: processes that were started end. */
  signal: AbortSignal;
}

export interface Benchmark {
  name: string;
  /** No figures when something is missing on this machine; `log` tells what. */
  run(options: BenchmarkOptions, log: (line: string) => void): Promise<Figure[]>;
}

export interface Figure {
  work: string;
  /** What `ceilingMs` was measured with. */
  ceiling: string;
  records: number;
  /** Medians. */
  tookMs: number;
  ceilingMs: number;
  /** Ceiling to ours: 1 is as fast as it can be. */
  ratio: number;
  /**
   * The same of the time that processors were busy, which other work on the machine changes less. Undefined where that
   * of the ceiling is not known.
   */
  cpuRatio: number | undefined;
  /** Of the median round, by process. */
  usage: Usage;
}

export interface Measured {
  tookMs: number;
  usage: Usage;
}

/** Each work once a round, in turns. */
export async function measureInTurns<Name extends string>(
  works: Record<Name, () => Promise<Measured>>,
  rounds: number,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(works) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Measured[]])) as Record<Name, Measured[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await works[name]());
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(measured[name])])) as Record<Name, Measured>;
}

function medianOf(results: Measured[]): Measured {
  const middle = results.toSorted((a, b) => a.tookMs - b.tookMs)[Math.floor(results.length / 2)];
  if (!middle) throw new Error('At least one round must be measured.');
  return middle;
}

export function figureOf(
  work: string,
  ours: Measured,
  ceiling: { name: string; measured: Measured },
  records: number,
): Figure {
  const ceilingCpuSeconds = cpuSecondsOf(ceiling.measured.usage);
  return {
    work,
    ceiling: ceiling.name,
    records,
    tookMs: ours.tookMs,
    ceilingMs: ceiling.measured.tookMs,
    ratio: ceiling.measured.tookMs / ours.tookMs,
    cpuRatio: ceilingCpuSeconds > 0 ? ceilingCpuSeconds / cpuSecondsOf(ours.usage) : undefined,
    usage: ours.usage,
  };
}
