/** What the rules of this folder need from outside. */
import type { SpanStarter } from '@inlay/contract/spans';
import type { StorageState } from '@inlay/database/storage-state';
import type { ChangeKind } from '@inlay/protocol/protocol';
import type { ActorsContext } from '../actors/context.ts';
import type { Db, Store } from '../db/open.ts';
import type { ActorRow, WorkspaceRow } from '../db/tables.ts';
import type { Log } from '../log.ts';
import type { OpenJobLog } from '../runner/job-log.ts';
import type { LogRanges } from '../runner/log-ranges.ts';
import type { Runner } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import type { LogRef } from './job-log-parts.store.ts';

/** The logs of one platform: files on SQLite, which one machine uses (file-logs.ts), parts in PostgreSQL (stored-logs.ts). */
export interface JobLogs {
  /** Continues a log that there is. */
  open(ref: LogRef): OpenJobLog;
  read(ref: LogRef): Promise<LogRanges>;
  /** Of jobs that have been deleted. */
  remove(connectionId: string, jobIds: readonly number[]): Promise<void>;
  /** Everything written is stored, as far as that is possible. */
  close(): Promise<void>;
}

/** What decides where a job can run. */
export interface Candidate {
  kind: 'sync' | 'clear';
  workspace: WorkspaceRow;
  source: ActorRow;
  destination: ActorRow;
}

/** Says in a sentence why a job can't run somewhere; undefined if it can. Called in transactions: quick and without effects. */
export type WhyNot = (candidate: Candidate) => string | undefined;

/** Whoever runs attempts: a coordinator in its own process, or a worker. */
export interface Claimant {
  /** A process name, or that of a worker. */
  owner: string;
  /** How many attempts it can run at a time, those that it runs included. */
  slots: number;
  whyNot?: WhyNot | undefined;
}

export interface Workers {
  /** What doesn't run in a coordinator's process. */
  whyNotHere(tx: Db): Promise<WhyNot>;
  /** Those that live and take jobs. */
  list(tx: Db): Promise<Claimant[]>;
}

export interface JobsContext {
  store: Store;
  storage: StorageState;
  runtime: Runtime;
  log: Log;
  tracer: SpanStarter;
  runner: Runner;
  actors: ActorsContext;
  /** Undefined for a platform that knows no workers. */
  workers?: Workers | undefined;
  /** How many run in this process; 0 if only workers run any. */
  maxConcurrentSyncs: number;
  maxConcurrentSyncsPerWorkspace: number;
  /** How many requested syncs can wait per workspace. Scheduled syncs are never refused. */
  maxWaitingPerWorkspace: number;
  /** The longest that one attempt may take. */
  maxAttemptMs: number;
  /** The longest that all attempts of a job may take together. */
  maxJobMs: number;
  /** How long a job keeps its slot while a workspace without any waits for one. */
  turnMs: number;
  /** Called when an attempt starts, with the time that it has waited for a slot. */
  onWaited(waitedMs: number): void;
  /** Called for every successful job with the number of values that did not arrive unchanged, for metrics. */
  onValuesChanged(kind: ChangeKind, count: number): void;
  /** Called when jobs have been queued, started or ended. */
  onJobsChanged(): void;
  /** The logs of attempts; see job-logs.ts. */
  logs: JobLogs;
  /** Notifies the scheduler that there may be something to start or to stop. */
  wake(): void;
}
