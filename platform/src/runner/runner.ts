/**
 * What the platform wants of connectors, whatever they are made of: a specification, a check, a catalog, a sync. The
 * runner knows processes and the protocol; it knows no database, no schedule and no workspace.
 */
import type { TraceContext } from '@inlay/contract/text/trace-context';
import type {
  Catalog,
  ChangeKind,
  CheckWarning,
  ConfiguredCatalog,
  ConnectorSpecification,
  FailureType,
  SkippedRecords,
  State,
  StreamDescriptor,
  StreamHolding,
  ValueChange,
} from '@inlay/protocol/protocol';

/** How a connector is started; the command of the protocol and its options are appended to the arguments. */
export interface ConnectorProgram {
  kind: 'source' | 'destination';
  program: string;
  /** A function if the program must know the folder that the options point into: containers mount it. */
  args: readonly string[] | ((filesDir: string) => readonly string[]);
  /**
   * How configuration, catalog and state reach it. `input`: together in the first line of its standard input, so that
   * they are never on disk. By default each as a file that an option names, which every connector understands.
   */
  handover?: 'input' | 'files';
  /** A line that it gets before everything else on its standard input: what it is, such as a manifest. */
  preamble?: string;
  /** Whether it can ask for a fresh access token while it runs; see token-desk.ts. */
  asksForTokens?: boolean;
  /** Whether records of this source are valid JSON by how they are made, so that nobody has to check them. */
  isRecordTextValid?: boolean;
  /** The format of rows in blocks that its specification names; see protocol/src/row-blocks.ts. */
  rowBlocks?: string | undefined;
  /** The folder it runs in; by default one of the runner's own. */
  workingDir?: string;
  /** The whole environment of the process: nothing of the service's own is inherited. */
  env: Readonly<Record<string, string>>;
  /** Arguments with which the program removes what outlives its process when that is killed: a container. */
  removalArgs?: (filesDir: string) => readonly string[];
}

export interface ConfiguredConnector extends ConnectorProgram {
  configuration: Record<string, unknown>;
  /** The values of the configuration that no log line and no failure may show. */
  secrets: readonly string[];
  /** Where the configuration contains values from a customer's sign-in. */
  signIn?: SignIn;
  /** Set if questions are answered on another machine than this. */
  elsewhere?: Elsewhere | undefined;
}

/** Runs a connector on another machine. Throws a RunFailure, and the reason of the signal. */
export interface Elsewhere {
  check(signal: AbortSignal | undefined): Promise<CheckOutcome>;
  discover(signal: AbortSignal | undefined): Promise<Catalog>;
}

export interface SignIn {
  /** Generation of the access token in the configuration; incremented with every new one. */
  generation: number;
  /** When that token ends; null where nobody knows. */
  expiresAt: number | null;
  startedAt: number;
  /** What the configuration has at the fields. */
  values: Readonly<Record<string, string>>;
  /** Where in the configuration each value is. */
  fields: Readonly<Record<string, readonly string[]>>;
  /** Whether the connector has the refresh token and refreshes tokens itself. */
  handsOver: boolean;
  /** Another token than that of a generation, or one that is valid for long enough. Throws a RunFailure. */
  fresh(options: { notGeneration?: number }): Promise<FreshToken>;
  /** Takes the tokens out of a configuration that the connector has renewed. Throws a RunFailure. */
  takeBack(configuration: Record<string, unknown>): Promise<void>;
  /** Set if the run needed a fresh token and the keeper could not be reached. A failure is then only a consequence. */
  delay?: Failure | undefined;
}

export interface FreshToken extends Pick<SignIn, 'generation' | 'expiresAt'> {
  values: Readonly<Record<string, string>>;
  /** Those of the values that no log line may show. */
  secrets: readonly string[];
}

export interface Failure {
  /** For the person who configured the connector. */
  message: string;
  /** For the log; can quote the connector. */
  internalMessage?: string;
  origin: 'source' | 'destination' | 'platform';
  type: FailureType;
  /** The settings at fault, most likely first, where the connector names them. */
  fields?: string[];
}

/** A connector did not do what it was asked to. */
export class RunFailure extends Error {
  override readonly name: string = 'RunFailure';

  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/**
 * The connector could not get what it needs, through nobody's fault: the run is repeated without counting as a failed
 * attempt.
 */
export class RunDelayed extends RunFailure {
  override readonly name = 'RunDelayed';
}

export interface JobLog {
  write(level: string, origin: Failure['origin'], message: string): void;
}

export interface RunOptions {
  /** The trace that the run is part of, where it is another one than that of the request. */
  trace?: TraceContext;
  signal?: AbortSignal;
  log?: JobLog;
  /** A connector has renewed its own configuration, for instance a refresh token. */
  keepConfiguration?(kind: ConnectorProgram['kind'], configuration: Record<string, unknown>): Promise<void>;
}

/** Called for every process that starts, for traces. */
export type ProcessWatch = (process: {
  kind: ConnectorProgram['kind'];
  command: string;
  trace: TraceContext | undefined;
}) =>
  | {
      /** Becomes the variable TRACEPARENT of the process. */
      traceparent: string;
      end(ending: { code: number | null; signal: NodeJS.Signals | null }): void;
    }
  | undefined;

export type CheckOutcome =
  | { status: 'succeeded'; warnings?: CheckWarning[] }
  | { status: 'failed'; message: string; fields?: string[] };

/** What is asked of a destination, whatever feeds it. */
export interface WriteRequest extends RunOptions {
  destination: ConfiguredConnector;
  /** As the source names its streams. */
  catalog: ConfiguredCatalog;
  /** How streams are called at the destination. */
  rename: { prefix: string; namespace: (sourceNamespace: string | undefined) => string | undefined };
  /** On whose behalf the destination writes; it refuses a writer whose epoch is smaller than one it has seen. */
  writer?: { connectionId: string; epoch: number };
}

export interface SyncRequest extends WriteRequest {
  source: ConfiguredConnector;
  /** What was kept of earlier syncs: states as JSON text, each as its source wrote it. */
  state: readonly string[];
  /**
   * Keyed by `streamKey`: the top-level fields to sync. Streams that are not listed sync all fields. The runner removes
   * the others from the connectors' schemas and from records.
   */
  selectedFields?: ReadonlyMap<string, readonly string[]>;
  /** What is known about streams before they are read, by `streamKey`; the outcome repeats it. */
  notices?: ReadonlyMap<string, readonly StreamNotice[]>;
  /**
   * Called with what the destination says about the place of a stream, before any state that relies on it; see
   * `StreamHolding`.
   */
  keepHeld?(stream: StreamDescriptor, held: string): Promise<void>;
  /**
   * Called in order with each state that the destination has confirmed; the sync continues when the state has been
   * stored. `text` is the state exactly as the source wrote it; store this.
   */
  keepState(state: State, text: string): Promise<void>;
  onProgress?(progress: Progress): void;
}

/** Records passed to the destination, counted as the source wrote them. */
export interface Progress {
  records: number;
  bytes: number;
}

/** The code of a notice that a source makes untrue where it sends the records of new fields again. */
export const fieldsMissingCode = 'fields_missing';

/** Something worth knowing about a stream that is not a failure. */
export interface StreamNotice {
  code: string;
  /** Human-readable. */
  message: string;
  /** The fields that it is about. */
  fields?: string[];
}

/** The outcome of the records of one stream, as the source names it. */
export interface StreamOutcome {
  stream: StreamDescriptor;
  /** Records that were passed to the destination. */
  recordsEmitted: number;
  /** As the destination reports; absent when it does not. */
  recordsWritten?: number;
  recordsDeleted?: number;
  /** An overwrite left what was there before: the source did not say whether it had read the stream to its end. */
  notReplaced?: true;
  /** Absent where there is nothing to say. */
  notices?: StreamNotice[];
  /** Records that are too large to be moved. */
  recordsSkipped?: SkippedRecords;
  /** Values that did not arrive unchanged, fields with the most values first. */
  valuesChanged: ValueChange[];
  /** The same for fields beyond those: at least so many fields, and exactly so many values. */
  moreChanged?: { fields: number; values: number };
}

export interface StreamsMoved {
  /** In catalog order; `moreStreams` further ones are omitted. */
  streams: StreamOutcome[];
  moreStreams: number;
  /** How many values did not arrive unchanged in all streams, by what happened to them. */
  changedValues: Partial<Record<ChangeKind, number>>;
}

/** After a success, records and bytes are what is at the destination; else what was passed to it. */
export interface SyncOutcome extends Progress, StreamsMoved {
  /** `lost`: nothing was moved, because the destination no longer has what the states of `lostStreams` rely on. */
  status: 'succeeded' | 'failed' | 'cancelled' | 'lost';
  lostStreams?: LostStream[];
  /** After a successful sync, by `streamKey`: streams whose earlier rows are kept because they may be incomplete. */
  notReplaced?: ReadonlySet<string>;
  /** Present when the status is `failed`. */
  failure?: Failure;
  /** After a failed or cancelled sync: what reached the destination anyway. */
  arrived?: Progress;
  /** After a failed sync: streams that the source started but did not report as complete. */
  unfinished?: StreamDescriptor[];
}

export interface LostStream {
  stream: StreamDescriptor;
  how: NonNullable<StreamHolding['lost']>;
}

/**
 * When a promise of these is settled, every process that was started is gone and its files are removed. The first three
 * throw a RunFailure for a connector that does not answer, and the signal's reason when it is aborted.
 */
export interface Runner {
  readSpecification(connector: ConnectorProgram, options?: RunOptions): Promise<ConnectorSpecification>;
  check(connector: ConfiguredConnector, options?: RunOptions): Promise<CheckOutcome>;
  discover(source: ConfiguredConnector, options?: RunOptions): Promise<Catalog>;
  /** Never throws for faults of a connector; the outcome reports them. */
  sync(request: SyncRequest): Promise<SyncOutcome>;
  /** As a sync whose source has no records: empties the streams that are configured to be overwritten. */
  clear(request: WriteRequest): Promise<SyncOutcome>;
  /** From now on, a process that is asked to exit gets little time. */
  closeSoon(): void;
}
