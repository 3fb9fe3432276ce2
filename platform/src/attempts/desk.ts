/**
 * What an attempt asks of the coordinator. The attempt runs in the coordinator's process and calls it directly, or on a worker
 * anywhere and calls it over HTTPS; the code of the attempt is the same. It knows no database, no schedule and no other
 * attempt.
 *
 * Invariants: every method that writes proves in its transaction that the attempt is current, by its epoch, and throws
 * StaleAttempt if it isn't; then nothing has changed. Nothing that a desk needs is only in its memory: each call of an attempt
 * may reach another coordinator.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { Catalog, ConfiguredCatalog, State, StreamDescriptor } from '@inlay/protocol/protocol';
import type {
  ConfiguredConnector,
  Failure,
  JobLog,
  LostStream,
  Progress,
  StreamNotice,
  SyncOutcome,
} from '../runner/runner.ts';

/** What identifies an attempt, and proves that it is the current one. */
export interface AttemptRef {
  jobId: number;
  attempt: number;
  /**
   * Grows with every attempt of the connection, also across jobs. A destination of ours refuses what comes under a smaller one
   * than it has seen.
   */
  epoch: number;
}

export interface Assignment extends AttemptRef {
  workspaceId: string;
  connectionId: string;
  kind: 'sync' | 'clear';
  traceparent: string | null;
}

/** What is to be moved, as plain data. */
export interface Move {
  /** As the source names its streams. */
  catalog: ConfiguredCatalog;
  naming: Naming;
  /** States as JSON text, each as its source wrote it. */
  state: string[];
  /** By `streamKey`. */
  selectedFields: ReadonlyMap<string, readonly string[]>;
  notices: ReadonlyMap<string, readonly StreamNotice[]>;
}

/** How a connection names streams at its destination. */
export interface Naming {
  prefix: string;
  namespaceDefinition: string;
  namespaceFormat: string | null;
}

export interface Desk {
  readonly assignment: Assignment;
  /** Written to as often as the runner likes; the desk decides when lines travel. */
  readonly log: JobLog;
  /**
   * Gives a connector with its secrets, for as long as `work` uses it. `forMs`: how long an access token should be valid, for a
   * connector that can't ask for another one. Throws a RunFailure if its credential provides no access, and a RunDelayed if
   * nobody can be asked for it.
   */
  useConnector<T>(
    kind: 'source' | 'destination',
    options: { signal: AbortSignal; forMs?: number },
    work: (connector: ConfiguredConnector) => Promise<T>,
  ): Promise<T>;
  /** Decides what is moved, given what the source has now. Throws a RunFailure if the connection doesn't fit it. */
  plan(catalog: Catalog): Promise<Move>;
  /** For a clear. Without streams there is nothing to do. */
  planClearing(): Promise<Move>;
  /** Plans again after the destination has lost what the states of these streams rely on: they are read from their start. */
  planAnew(lost: readonly LostStream[]): Promise<Move>;
  keepHeld(stream: StreamDescriptor, held: string): Promise<void>;
  /**
   * Keeps a state that the destination has confirmed, in order. May return before it is stored, as long as `finish` waits for
   * it and a later call throws what storing it threw.
   */
  keepState(state: State, text: string): Promise<void>;
  /** A connector has renewed its own configuration. Returns when that is stored. */
  keepConfiguration(kind: 'source' | 'destination', configuration: Configuration): Promise<void>;
  /** How far the attempt is; needs no answer. */
  progress(progress: Progress): void;
  /** The last call. The coordinator decides how the job continues or ends. */
  finish(report: AttemptReport): Promise<void>;
}

/** What became of an attempt, as far as the one who ran it can tell. */
export type AttemptReport =
  | {
      status: 'ended';
      outcome: SyncOutcome;
      /** The access token of the source ended, and nobody could replace it while it ran. */
      tokenEnded: boolean;
      /** The run needed a fresh token and nobody could be asked for one: its failure only follows from that. */
      delay?: Failure | undefined;
    }
  /** Failed before anything was moved. `isDelay`: nobody's fault; the job waits and continues. */
  | { status: 'failed'; failure: Failure; isDelay: boolean }
  /** Stopped in the middle, for the reason of its signal; to be continued from the last confirmed state. */
  | { status: 'stopped'; stop: Stop; arrived: Progress };

/**
 * Why an attempt has to stop: its job was cancelled or given to someone else (nothing may be written any more), another
 * workspace gets its turn, a time limit has passed, or the one who runs it is being shut down.
 */
export type Stop = 'lost' | 'turn' | 'attempt_limit' | 'job_limit' | 'closing';

/** The attempt isn't the current one: another one has its job, or the job was cancelled. Nothing was written. */
export class StaleAttempt extends Error {
  override readonly name = 'StaleAttempt';
}
