/*
 * What a bundled connector is: a specification and the commands of the connector protocol as functions. main.ts turns
 * them into a program; the platform talks to that program only through the protocol, as to anybody else's.
 */
import type {
  Catalog,
  ConfiguredCatalog,
  ConnectorSpecification,
  LogLevel,
  RecordMessage,
  State,
  StateMessage,
  StreamDescriptor,
  StreamReport,
  StreamStatus,
  TraceMessage,
} from '../../src/protocol.ts';
import type { TextBuffer } from './text-buffer.ts';

export type Configuration = Record<string, unknown>;

/**
 * The configuration by its fields. The platform has checked it against the connector's specification before a connector
 * sees it, so `Fields` says in TypeScript what the specification says in JSON: the only place that takes this on trust.
 */
export function checkedConfiguration<Fields>(configuration: Configuration): Fields {
  return configuration as Fields;
}

/** What the platform lets a connector touch, whatever its configuration says. */
export interface Surroundings {
  /** The workspace that this run belongs to; undefined for a connector that was started by hand. Not secret. */
  workspaceId?: string | undefined;
  /** The folder of the workspace that this run belongs to: the only place `local-files` writes to. */
  workspaceDir: string | undefined;
  /** Folders the operator lets the `file` source read. */
  readableDirs: readonly string[];
  /** Whether addresses of private networks may be reached; see addresses.ts. */
  allowPrivateNetworks: boolean;
  /** Where the service itself can be reached. No connector reaches it, whatever else is allowed. */
  serviceEndpoints: readonly Endpoint[];
}

/** A host as URLs have it, and a port. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Writes protocol messages. A promise means that the reader is behind: wait for the promise before sending more. */
export interface Emitter {
  record(stream: StreamDescriptor, data: Record<string, unknown>): Promise<void> | undefined;
  /** The same for a source that writes the data itself, at once: a JSON object on one line. */
  recordOf(stream: StreamDescriptor, addData: (to: TextBuffer) => void): Promise<void> | undefined;
  state(state: State): Promise<void> | undefined;
  status(stream: StreamDescriptor, status: StreamStatus): Promise<void> | undefined;
  /** Tells what did not arrive as it was, and how many records did. Reports of one stream are added up. */
  report(report: StreamReport): Promise<void> | undefined;
  log(level: LogLevel, message: string): void;
}

/** What reaches a destination, in order. A stream whose COMPLETE has not come when the input ends is incomplete. */
export type DestinationInput = RecordMessage | StateMessage | TraceMessage;

export interface SourceConnector {
  kind: 'source';
  specification: ConnectorSpecification;
  /** Throws a ConnectorError that tells the customer what to fix. */
  check(config: Configuration, surroundings: Surroundings): Promise<void>;
  discover(config: Configuration, surroundings: Surroundings): Promise<Catalog>;
  /** Emits COMPLETE for every stream it has read to its end, and at least one state for each incremental stream. */
  read(
    config: Configuration,
    catalog: ConfiguredCatalog,
    state: readonly State[],
    emit: Emitter,
    surroundings: Surroundings,
  ): Promise<void>;
}

export interface DestinationConnector {
  kind: 'destination';
  specification: ConnectorSpecification;
  check(config: Configuration, surroundings: Surroundings): Promise<void>;
  /**
   * Passes each state on with `emit.state` once everything before it is safely stored, and in order. Replaces the old
   * records of an `overwrite` stream only after its COMPLETE; until then they stay.
   */
  write(
    config: Configuration,
    catalog: ConfiguredCatalog,
    input: AsyncIterable<DestinationInput[]>,
    emit: Emitter,
    surroundings: Surroundings,
  ): Promise<void>;
}

export type Connector = SourceConnector | DestinationConnector;

/**
 * A failure whose message is meant for the person who set the connector up. `config_error`: they have to change something.
 * `transient_error`: trying again later may help. Any other error thrown by a connector is a bug, a `system_error`.
 */
export class ConnectorError extends Error {
  readonly failureType: 'config_error' | 'transient_error';

  constructor(
    message: string,
    { failureType = 'config_error', ...options }: ErrorOptions & { failureType?: ConnectorError['failureType'] } = {},
  ) {
    super(message, options);
    this.name = 'ConnectorError';
    this.failureType = failureType;
  }
}
