/** How a run of the benchmarks is set up: what they measure, how often, and where their files lie. */
export interface BenchmarkSettings {
  /** How many records a sync of data moves. */
  records: number;
  /** How many connections are due at the same moment. */
  connections: number;
  /** How many workspaces the service knows. */
  workspaces: number;
  /** How many workspaces the platform has in a sync of workspaces. */
  platformWorkspaces: number;
  /** How often each work is measured. */
  rounds: number;
  /** How long requests are sent at a time. */
  loadMs: number;
  /** How long the memory of the service is watched. */
  watchMs: number;
  /** Only kinds of request whose name contains this text are measured. */
  only: string;
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
}

export type Log = (line: string) => void;
