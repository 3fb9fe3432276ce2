/** What the rules of this folder need from outside. */
import type { ActorsContext } from '../actors/context.ts';
import type { Store } from '../db/open.ts';
import type { Log } from '../log.ts';
import type { ChangeKind } from '../protocol.ts';
import type { Runner } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import type { Tracer } from '../tracing.ts';

export interface JobsContext {
  store: Store;
  runtime: Runtime;
  log: Log;
  tracer: Tracer;
  runner: Runner;
  actors: ActorsContext;
  maxConcurrentSyncs: number;
  maxConcurrentSyncsPerWorkspace: number;
  /** How many syncs that were asked for may wait in one workspace. Scheduled syncs are never refused. */
  maxWaitingPerWorkspace: number;
  /** The longest that one attempt may take. */
  maxAttemptMs: number;
  /** Told when an attempt starts, with the time that it has waited for a slot. */
  onWaited(waitedMs: number): void;
  /** Told, for a job that has succeeded, how many values did not arrive as they were: for metrics. */
  onValuesChanged(kind: ChangeKind, count: number): void;
  /** Told when jobs have been queued, started or ended. */
  onJobsChanged(): void;
  /** Where the logs of a connection's jobs are; see job-logs.ts. The folder is made with the first log. */
  logsFolder(connectionId: string): string;
  /** Tells the scheduler that there may be something to start or to stop. */
  wake(): void;
}
