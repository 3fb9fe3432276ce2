/*
 * The connector protocol (version 0): what connectors and the runner say to each other, one JSON object a line. Both
 * sides must ignore properties they do not know, so the types name only what this platform uses.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';

export type SyncMode = 'full_refresh' | 'incremental';
export type DestinationSyncMode = 'append' | 'overwrite' | 'append_dedup';

export interface ConnectorSpecification {
  /** JSON Schema (draft 07) of the configuration, with the annotations forms are drawn from. */
  connectionSpecification: JsonSchema;
  documentationUrl?: string;
  supported_destination_sync_modes?: DestinationSyncMode[];
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
  /** Grows when a stream is read anew from the start; records of a generation below the minimum are to be removed. */
  generation_id: number;
  minimum_generation_id: number;
  sync_id: number;
}

export interface ConfiguredCatalog {
  streams: ConfiguredStream[];
}

/** A value that could not be kept as it was. */
export interface FieldChange {
  field: string;
  change: 'NULLED' | 'TRUNCATED';
  reason: string;
}

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

export interface LogMessage {
  type: 'LOG';
  log: { level: LogLevel; message: string; stack_trace?: string };
}

export type FailureType = 'config_error' | 'transient_error' | 'system_error';
export type StreamStatus = 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE';

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
    };
    stream_status?: { stream_descriptor: StreamDescriptor; status: StreamStatus };
  };
}

export interface ControlMessage {
  type: 'CONTROL';
  control: { type: 'CONNECTOR_CONFIG'; emitted_at: number; connectorConfig: { config: Record<string, unknown> } };
}

export type Message =
  | RecordMessage
  | StateMessage
  | LogMessage
  | TraceMessage
  | ControlMessage
  | { type: 'SPEC'; spec: ConnectorSpecification }
  | { type: 'CONNECTION_STATUS'; connectionStatus: { status: 'SUCCEEDED' | 'FAILED'; message?: string } }
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
