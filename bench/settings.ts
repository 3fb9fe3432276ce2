/* How a run of the benchmarks is set up. */

/** How much is measured: usually, and so that one sees that the benchmarks work. Each is an option of the command line. */
export const amounts = {
  /** How many records a sync of data moves. */
  records: [1_000_000, 2_000],
  /** How many connections are due at the same moment. */
  connections: [500, 4],
  /** How many workspaces the service knows. */
  workspaces: [1_000_000, 2_000],
  /** How many workspaces the platform has in a sync of workspaces. */
  'platform-workspaces': [100_000, 500],
  /** How often each work is measured. */
  rounds: [3, 1],
  /** How long requests of a kind are sent in a round. */
  seconds: [2, 0.05],
  /** How long the memory of the service is watched. */
  minutes: [0.5, 0.005],
} as const;

export type Amounts = Record<keyof typeof amounts, number>;

/** What the benchmarks measure, how often, and where their files lie. */
export interface BenchmarkSettings extends Amounts {
  /** Only kinds of request whose name contains this text are measured. */
  only: string;
  /** Only databases whose name contains this text, in lower case. */
  database: string;
  /** The commit to compare with; undefined for the last release. */
  commit: string | undefined;
  /** The repository. */
  root: string;
  /** For everything that is written; removed afterwards. */
  folder: string;
  /** Where databases with many workspaces are kept for the next run; undefined if they are not kept. */
  datasets: string | undefined;
  /** Where profiles of the service are written; undefined for no profiles. */
  profiles: string | undefined;
  /** Where the programs of the benchmarks are. */
  programs: string;
  /** The product's command line. */
  product: string;
  /** The product's connectors. */
  connectors: string;
  /** Aborted when the benchmark is interrupted: processes that were started end. */
  signal: AbortSignal;
  log(line: string): void;
}

/** One benchmark. Whatever was started last ends first, after the benchmark, also when the benchmark fails. */
export interface Scope {
  onEnd(end: () => Promise<unknown>): void;
}
