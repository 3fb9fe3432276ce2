/**
 * The connector protocol (version 0): what connectors and the runner say to each other, one JSON object a line. Both
 * sides must ignore properties they do not know, so the types name only what this platform uses.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export type SyncMode = 'full_refresh' | 'incremental';
export type DestinationSyncMode = 'append' | 'overwrite' | 'append_dedup';

export interface ConnectorSpecification {
  /** JSON Schema (draft 07) of the configuration, with the annotations forms are drawn from. */
  connectionSpecification: JsonSchema;
  documentationUrl?: string;
  /** How users give consent on the API's website. */
  advanced_auth?: Record<string, unknown>;
  supported_destination_sync_modes?: DestinationSyncMode[];
  /** An extension of this platform: the format of rows in blocks that the connector sends or takes; see row-blocks.ts. */
  inlay_row_blocks?: string;
}

export interface StreamDescriptor {
  name: string;
  namespace?: string;
}

export interface Stream extends StreamDescriptor {
  json_schema: JsonSchema;
  supported_sync_modes: SyncMode[];
  source_defined_cursor?: boolean;
  default_cursor_field?: string[];
  source_defined_primary_key?: string[][];
  /** Whether an interrupted sync can resume. */
  is_resumable?: boolean;
}

export interface Catalog {
  streams: Stream[];
}

export interface ConfiguredStream {
  stream: Stream;
  sync_mode: SyncMode;
  destination_sync_mode: DestinationSyncMode;
  cursor_field?: string[];
  primary_key?: string[][];
  /**
   * Incremented when a stream is read from the start again; records of generations below the minimum are to be removed.
   */
  generation_id: number;
  minimum_generation_id: number;
  sync_id: number;
  /**
   * An extension of this platform, only for a stream that continues from a state: the destination's last
   * `StreamHolding.held`, or null if there was none.
   */
  inlay_held?: string | null;
  /** An extension of this platform, only for a source: it may send rows of the stream in blocks of this format. */
  inlay_row_blocks?: string;
  /**
   * Extensions of this platform, only for a destination, always together: the connection that writes, and a number that grows
   * with each of its attempts. A destination that keeps the highest number it has seen refuses an earlier attempt, which may
   * still be running on a machine that nobody reaches.
   */
  inlay_writer?: string;
  inlay_epoch?: number;
}

export interface ConfiguredCatalog {
  streams: ConfiguredStream[];
}

/**
 * The longest record, as the line that its source writes. A longer one is skipped and counted, whatever its source: no
 * process has to buffer it, and every destination accepts the rest.
 */
export const maxRecordBytes = 20_000_000;

/** Records that were skipped because they are too long. */
export interface SkippedRecords {
  count: number;
  /** Identifies the first ones: `id 7`, or their location. */
  keys: string[];
}

/** A value that could not be kept unchanged. */
export interface FieldChange {
  field: string;
  change: 'NULLED' | 'TRUNCATED';
  reason: string;
}

/**
 * Whether records of a stream may have fields that its schema does not name: `additionalProperties: true`, which every source
 * says that infers a schema from a sample. A destination keeps such fields. Where a schema does not say so, its fields are
 * declared, and a destination may leave others out; it counts them as `left_out`.
 */
export function hasFurtherFields({ json_schema }: Stream): boolean {
  return json_schema.additionalProperties === true;
}

/** What happened to values that did not arrive unchanged. */
export const changeKinds = ['nulled', 'shortened', 'not_a_number', 'left_out'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/**
 * Values of one field that did not arrive unchanged. `nulled`: replaced by null. `shortened`: truncated.
 * `not_a_number`: the source wrote NaN or an infinity, which JSON lacks; read as null. `left_out`: the catalog does not
 * have the field, and the destination has no place for it.
 */
export interface ValueChange {
  field: string;
  kind: ChangeKind;
  count: number;
  /** Location of the first one: `record 17`, `line 20 of orders.csv`. Never the value itself. */
  example: string;
}

/** A connector's report about one stream, besides its records. Several reports for one stream are added up. */
export interface StreamReport {
  stream_descriptor: StreamDescriptor;
  /** From a destination: rows stored, and rows removed by a record of the source. */
  records_written?: number;
  records_deleted?: number;
  values_changed?: ValueChange[];
  /** From a source: records with a value in a field that the last sync did not read are sent again. */
  new_fields_sent?: boolean;
  /** From a source that skips records larger than `maxRecordBytes`. */
  records_skipped?: SkippedRecords;
}

/**
 * A destination's statement about where it stores a stream, so that the next sync notices if someone removed it. Sent
 * before the states that rely on it.
 */
export interface StreamHolding {
  stream_descriptor: StreamDescriptor;
  /**
   * Identifies the storage place and whether it holds anything. Opaque to the platform, which stores it with the state.
   */
  held?: string;
  /**
   * What `inlay_held` speaks of is gone, or has been emptied. The destination has stored nothing and ends; the stream
   * has to be read from its start.
   */
  lost?: 'gone' | 'emptied';
  /** The place was emptied, and the stream continues: appended rows are not refilled. */
  is_emptied?: boolean;
}

export const streamHoldingType = 'inlay_stream_holding';

/** The protocol has no message for reports. Connectors may send their own analytics, which others ignore. */
export const streamReportType = 'inlay_stream_report';

export interface RecordMessage {
  type: 'RECORD';
  record: {
    stream: string;
    namespace?: string;
    data: Record<string, unknown>;
    emitted_at: number;
    meta?: { changes?: FieldChange[] };
  };
}

const ranges = [
  { from: 0, unitsPerMs: 1 },
  { from: 1e9, unitsPerMs: 1e-3 },
  { from: 1e11, unitsPerMs: 1 },
  { from: 1e14, unitsPerMs: 1e3 },
  { from: 1e17, unitsPerMs: 1e6 },
];
const endOfRanges = 1e20;

/**
 * The milliseconds that an `emitted_at` means. The protocol asks for milliseconds, and programs also write seconds,
 * microseconds and nanoseconds: each means a time between 1973 and 5138 in one unit alone. Numbers below 1e9 are taken for
 * milliseconds. Undefined for anything else.
 */
export function emittedAtMs(value: unknown): number | undefined {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= endOfRanges) return undefined;
  const { unitsPerMs } = ranges.findLast(({ from }) => (value as number) >= from) as (typeof ranges)[number];
  return unitsPerMs < 1 ? (value as number) * 1000 : Math.floor((value as number) / unitsPerMs);
}

export interface StreamState {
  stream_descriptor: StreamDescriptor;
  stream_state?: object;
}

export interface State {
  /** Absent: LEGACY. */
  type?: 'STREAM' | 'GLOBAL' | 'LEGACY';
  stream?: StreamState;
  global?: { shared_state?: object; stream_states: StreamState[] };
  data?: object;
  sourceStats?: { recordCount: number };
  destinationStats?: { recordCount: number };
}

export interface StateMessage {
  type: 'STATE';
  state: State;
}

export const logLevels = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'] as const;
export type LogLevel = (typeof logLevels)[number];

interface LogMessage {
  type: 'LOG';
  log: { level: LogLevel; message: string; stack_trace?: string };
}

/**
 * A finding of a check that is not a failure but worth knowing before relying on the source. `one_record`: there is one
 * object where a list of records was expected; `record_path` is the likely path of the list, if any.
 */
export interface CheckWarning {
  code: string;
  /** Human-readable. */
  message: string;
  /** The settings to look at, as in `inlay_fields`. */
  fields?: string[];
  stream?: string;
  record_path?: string;
}

export type FailureType = 'config_error' | 'transient_error' | 'system_error';
export type StreamStatus = 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE';
/** Why a stream is in its status. `RATE_LIMITED`: the API lets it wait. */
export type StreamStatusReason = { type: 'RATE_LIMITED' };

export interface TraceMessage {
  type: 'TRACE';
  trace: {
    type: 'ERROR' | 'ESTIMATE' | 'STREAM_STATUS' | 'ANALYTICS';
    emitted_at: number;
    error?: {
      message: string;
      internal_message?: string;
      stack_trace?: string;
      failure_type?: FailureType;
      stream_descriptor?: StreamDescriptor;
      /** An addition of this platform: the settings at fault, most likely first, with dots for what is inside others. */
      inlay_fields?: string[];
    };
    stream_status?: { stream_descriptor: StreamDescriptor; status: StreamStatus; reasons?: StreamStatusReason[] };
    /** The value of a report is a `StreamReport` as JSON text, as the protocol asks for a text. */
    analytics?: { type: string; value?: string };
  };
}

interface ControlMessage {
  type: 'CONTROL';
  control: { type: 'CONNECTOR_CONFIG'; emitted_at: number; connectorConfig: { config: Record<string, unknown> } };
}

/**
 * An addition of this platform, between its own engine and its runner: the engine asks for a fresh access token, and reads
 * the answer as a line of its standard input. `not_generation`: the API has refused the token of this generation.
 */
export const tokenRequestType = 'INLAY_TOKEN_REQUEST';

export interface TokenRequest {
  type: typeof tokenRequestType;
  not_generation?: number;
}

/** `expires_in_ms` is null where nobody knows when the token ends. */
export type TokenAnswer =
  | { values: Readonly<Record<string, string>>; generation: number; expires_in_ms: number | null }
  | { failure: { message: string; failure_type: 'config_error' | 'transient_error'; inlay_fields?: string[] } };

/** Names the configuration fields that hold values from the OAuth credential. */
export interface OfferedCredential {
  generation: number;
  access_token?: string | undefined;
  expires_in_ms: number | null;
  fields: Readonly<Record<string, readonly string[]>>;
}

// An addition of this platform: the header of a block of rows; see row-blocks.ts.

export const rowsType = 'INLAY_ROWS';

/** A type of PostgreSQL's own; `other` for any other, whose values are texts. */
export interface RowColumn {
  name: string;
  type: string;
  is_array?: true;
}

export interface RowsHeader {
  stream: string;
  namespace?: string;
  /** Of all rows, in milliseconds; at most a second before the last one was read. */
  emitted_at: number;
  columns: readonly RowColumn[];
  /** How many rows follow. */
  count: number;
  /** How long the messages of their records would be, without line ends. */
  bytes: number;
  /** How long the rows are. */
  length: number;
  /** Whether a date or time is infinite or outside the years 1 to 9999. */
  has_far_times?: true;
}

export interface RowsMessage {
  type: typeof rowsType;
  rows: RowsHeader;
}

export type Message =
  | TokenRequest
  | RowsMessage
  | RecordMessage
  | StateMessage
  | LogMessage
  | TraceMessage
  | ControlMessage
  | { type: 'SPEC'; spec: ConnectorSpecification }
  | {
      type: 'CONNECTION_STATUS';
      connectionStatus: {
        status: 'SUCCEEDED' | 'FAILED';
        message?: string;
        /** Additions of this platform: of a failure the settings at fault, of a success what should be known. */
        inlay_fields?: string[];
        inlay_warnings?: CheckWarning[];
      };
    }
  | { type: 'CATALOG'; catalog: Catalog };

/** A key for maps: streams are the same when name and namespace are. Connectors may write an absent namespace as null. */
export function streamKey({ name, namespace }: { name: string; namespace?: string | null | undefined }): string {
  return namespace ? `${namespace}\0${name}` : name;
}

/**
 * How a record begins as the bundled connectors write it; `<milliseconds>,"data":{…}}}` follows. The runner passes on
 * a record that begins so without parsing it.
 */
export function recordHead({ name, namespace }: StreamDescriptor): string {
  const space = namespace === undefined ? '' : `,"namespace":${JSON.stringify(namespace)}`;
  return `{"type":"RECORD","record":{"stream":${JSON.stringify(name)}${space},"emitted_at":`;
}

/**
 * The same beginning up to the data, as it stands in the bytes of a line: by it a record of the bundled connectors is
 * known without parsing. Records come in long rows that all begin alike, of one stream and one millisecond, so a reader
 * tries the beginning of the last record first. Any other line is for a parser.
 */
export class RecordBeginning {
  /** Name of its stream. */
  readonly name: string;
  readonly namespace: string | undefined;
  /** In milliseconds, whatever the original unit. */
  readonly emittedAt: number;
  readonly isInMs: boolean;
  /** Byte lengths: up to the milliseconds, and up to the data. */
  readonly headLength: number;
  readonly dataAt: number;
  readonly #words: Float64Array;
  /** Overlaps with the previous one. */
  readonly #lastWordAt: number;
  readonly #lastWord: number;

  private constructor(bytes: Buffer, [, head = '', name = '', namespace, emittedAt]: RegExpExecArray) {
    this.name = utf8(name);
    this.namespace = namespace === undefined ? undefined : utf8(namespace);
    const written = Number(emittedAt);
    this.emittedAt = emittedAtMs(written) ?? written;
    this.isInMs = this.emittedAt === written;
    this.headLength = head.length;
    this.dataAt = bytes.length - 1;
    this.#words = Float64Array.from({ length: Math.floor(bytes.length / wordBytes) }, (_, index) =>
      bytes.readDoubleLE(index * wordBytes),
    );
    this.#lastWordAt = bytes.length - wordBytes;
    this.#lastWord = bytes.readDoubleLE(this.#lastWordAt);
  }

  /** The line between the two positions, unless it is not in our own form. */
  static read(block: Buffer, start: number, end: number): RecordBeginning | undefined {
    const match = ownBeginning.exec(block.toString('latin1', start, Math.min(end, start + longestBeginning)));
    return match ? new RecordBeginning(block.subarray(start, start + match[0].length), match) : undefined;
  }

  /**
   * Whether the line between the two places begins so. Eight bytes are compared at a time, as a number, which for text
   * is exact: no eight bytes are zero, which has two forms, and NaN equals nothing and leaves the line to a parser.
   */
  begins(block: DataView, start: number, end: number): boolean {
    if (start + this.dataAt >= end) return false;
    const words = this.#words;
    for (let index = 0, at = start; index < words.length; index++, at += wordBytes) {
      if (block.getFloat64(at, true) !== words[index]) return false;
    }
    return block.getFloat64(start + this.#lastWordAt, true) === this.#lastWord;
  }
}

const wordBytes = 8;
/** A longer one is left to a parser. */
const longestBeginning = 1024;

/** One character a byte. A name in which JSON escapes something is left to a parser. */
const ownBeginning =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not allowed in a JSON string
  /^(\{"type":"RECORD","record":\{"stream":"([^"\\\0-\x1f]*)"(?:,"namespace":"([^"\\\0-\x1f]*)")?,"emitted_at":)(\d{1,15}),"data":\{/;

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}

// What the program of the bundled connectors says of a manifest.

export interface Place {
  /** Path in the manifest, such as `streams[3].retriever.requester`; empty for the whole manifest. */
  path: string;
  message: string;
}

export interface DescribedStream {
  name: string;
  path: string;
  /** Whether it stands for streams that are generated at run time. */
  isDynamic: boolean;
  /** The components used in it. */
  uses: string[];
  /** What keeps it from running; empty if it runs. */
  errors: Place[];
}

export interface ManifestDescription {
  /** The manifest as JSON in one line, with YAML's aliases put in place. */
  manifest: string;
  /** Language version, as stated by the manifest. */
  version: string;
  specification: ConnectorSpecification;
  streams: DescribedStream[];
  /** What the engine does not know, and what it therefore passes over. */
  warnings: Place[];
  /** What keeps all streams from running. */
  errors: Place[];
  /** Where it may send secrets: see manifests/src/manifest/secret-addresses.ts. */
  addresses: string[];
}
