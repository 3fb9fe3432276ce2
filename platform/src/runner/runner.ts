/*
 * What the platform wants of connectors, whatever they are made of: a specification, a check, a catalog, a sync. The
 * runner knows processes and the protocol; it knows no database, no schedule and no workspace.
 */
import type { Catalog, ConfiguredCatalog, ConnectorSpecification, FailureType, State } from '../protocol.ts';

/** How a connector is started; the command of the protocol and its options are appended to `args`. */
export interface ConnectorProgram {
  program: string;
  args: readonly string[];
  /** The whole environment of the process: nothing of the service's own is inherited. */
  env: Readonly<Record<string, string>>;
}

export interface ConfiguredConnector extends ConnectorProgram {
  configuration: Record<string, unknown>;
}

export interface Failure {
  /** For the person who set the connector up. */
  message: string;
  /** For the log; may quote the connector's own words. */
  internalMessage?: string;
  origin: 'source' | 'destination' | 'platform';
  type: FailureType;
}

/** A connector did not do what it was asked to. */
export class RunFailure extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = 'RunFailure';
  }
}

export interface JobLog {
  write(level: string, origin: Failure['origin'], message: string): void;
}

export interface RunOptions {
  signal?: AbortSignal;
  log?: JobLog;
}

export type CheckOutcome = { status: 'succeeded' } | { status: 'failed'; message: string };

export interface SyncRequest extends RunOptions {
  source: ConfiguredConnector;
  destination: ConfiguredConnector;
  /** As the source names its streams. */
  catalog: ConfiguredCatalog;
  /** How streams are called at the destination. */
  rename: { prefix: string; namespace: (sourceNamespace: string | undefined) => string | undefined };
  state: readonly State[];
  /** Called in order with each state the destination has confirmed; the sync goes on when it has been kept. */
  keepState(state: State): Promise<void>;
  /** A connector has renewed its own configuration, for instance a refresh token. */
  keepConfiguration(kind: 'source' | 'destination', configuration: Record<string, unknown>): Promise<void>;
  onProgress?(progress: Progress): void;
}

export interface Progress {
  records: number;
  bytes: number;
}

export interface SyncOutcome extends Progress {
  status: 'succeeded' | 'failed' | 'cancelled';
  failure?: Failure;
}

export interface Runner {
  readSpecification(connector: ConnectorProgram, options?: RunOptions): Promise<ConnectorSpecification>;
  check(connector: ConfiguredConnector, options?: RunOptions): Promise<CheckOutcome>;
  discover(source: ConfiguredConnector, options?: RunOptions): Promise<Catalog>;
  /** Never throws for a fault of a connector: the outcome tells. */
  sync(request: SyncRequest): Promise<SyncOutcome>;
}
