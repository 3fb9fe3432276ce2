/*
 * What a bundled connector is: a specification, and the commands of the connector protocol as functions. main.ts turns
 * them into a program; the platform talks to it only through the protocol, as to any other connector.
 */
import type {
  Catalog,
  CheckWarning,
  ConfiguredCatalog,
  ConnectorSpecification,
  FailureType,
  LogLevel,
  RecordMessage,
  RowColumn,
  State,
  StateMessage,
  StreamDescriptor,
  StreamHolding,
  StreamReport,
  StreamStatus,
  StreamStatusReason,
  TraceMessage,
} from './protocol.ts';
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
  /** Addresses of the service itself. No connector may reach it, whatever else is allowed. */
  serviceEndpoints: readonly Endpoint[];
  /**
   * Set if the configuration has an access token from a sign-in, and fresh ones are available while the connector runs.
   */
  signIn?: SignedIn | undefined;
}

/** The sign-in whose access token a run uses; see sign-in.ts. */
export interface SignedIn {
  /** Where in the configuration each value is. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Generation of the current token; incremented with every fresh one. */
  readonly generation: number;
  readonly accessToken: string | undefined;
  /** Hears of the values of every fresh token. */
  onFresh(listener: (values: Readonly<Record<string, string>>) => void): void;
  /** Before a request: the generation of a token that is valid. Throws a ConnectorError if there is none. */
  ready(): Promise<number>;
  /** The API has refused the token of a generation. Whether there is another one now, so that it can be asked again. */
  replace(generation: number): Promise<boolean>;
  /** The API has accepted the token of a generation. */
  accepted(generation: number): void;
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
  /** Rows of a stream whose configuration offers it. Rows that follow one another become one block. */
  rows?(stream: StreamDescriptor, rows: Rows): Promise<void> | undefined;
  state(state: State): Promise<void> | undefined;
  status(stream: StreamDescriptor, status: StreamStatus, reasons?: StreamStatusReason[]): Promise<void> | undefined;
  /** Reports a stream that failed while others continue. */
  failure?(stream: StreamDescriptor, failure: StreamFailure): Promise<void> | undefined;
  /** Asks to keep a configuration that has changed on the way, such as a refresh token that works once. */
  configuration?(config: Configuration): Promise<void> | undefined;
  /** Reports values that did not arrive unchanged, and the number of records. Reports for one stream are added up. */
  report(report: StreamReport): Promise<void> | undefined;
  /** For destinations: reports how the next sync identifies what is stored of a stream, or that it is lost. */
  holding?(holding: StreamHolding): Promise<void> | undefined;
  log(level: LogLevel, message: string): void;
}

export interface Rows {
  /** The same object for all rows of a stream. */
  columns: readonly RowColumn[];
  /** Whole rows, each with its line end. The bytes stay as they are from now on. */
  lines: Buffer;
  count: number;
  /** The length of their records' messages. */
  bytes: number;
  hasFarTimes: boolean;
}

export interface StreamFailure {
  message: string;
  failureType: FailureType;
  /** For the operator's log. */
  internalMessage?: string;
  /** The settings at fault, as in a ConnectorError. */
  fields?: readonly string[];
}

/**
 * What reaches a destination, in order. A stream whose COMPLETE has not come when the input ends is incomplete. A
 * destination whose specification names a format of row blocks also gets each `RowBlock` as one of these.
 */
export type DestinationInput = RecordMessage | StateMessage | TraceMessage;

export interface SourceConnector {
  kind: 'source';
  specification: ConnectorSpecification;
  /** The settings that say what is read: a failure that names no settings is about these. */
  subject: readonly string[];
  /** Throws a ConnectorError that says what to fix. Returns warnings about a source that works, if any. */
  check(config: Configuration, surroundings: Surroundings): Promise<CheckWarning[] | undefined>;
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
   * Passes each state on with `emit.state` once everything before it is safely stored, in order. Replaces the old
   * records of an `overwrite` stream only after its COMPLETE; until then they are kept.
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
  #fields: readonly string[] | undefined;

  constructor(message: string, { failureType = 'config_error', fields, ...options }: ConnectorErrorOptions = {}) {
    super(message, options);
    this.name = 'ConnectorError';
    this.failureType = failureType;
    this.#fields = fields;
  }

  /**
   * The settings at fault, most likely first, with dots for what is inside others. From them, and not from the words, the
   * platform knows whether the failure is for the customer or for the operator.
   */
  get fields(): readonly string[] | undefined {
    return this.#fields;
  }

  /** Names the settings at fault, unless they are named already. */
  about(...fields: string[]): this {
    if (fields.length > 0) this.#fields ??= fields;
    return this;
  }
}

interface ConnectorErrorOptions extends ErrorOptions {
  failureType?: ConnectorError['failureType'];
  fields?: readonly string[] | undefined;
}

/** Names the settings at fault for a failure of the work that does not name any. */
export async function blaming<T>(fields: string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConnectorError ? error.about(...fields) : error;
  }
}
