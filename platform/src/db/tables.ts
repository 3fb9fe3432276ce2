/**
 * The tables of the platform's database. Times are milliseconds since the epoch; JSON is stored as text. The rules
 * define what the rows mean.
 */
import type { Generated } from 'kysely';

/** `seq` orders lists by creation, also within one millisecond. */
interface Row {
  seq: number;
  created_at: number;
  deleted_at: number | null;
}

export interface WorkspaceRow extends Row {
  workspace_id: string;
  organization_id: string;
  name: string;
  /** The name in Unicode normalization form C, only for look-ups: `name` itself stays as sent. */
  name_nfc: string;
  data_residency: string;
  notifications: string;
  /** How many of its syncs may run at the same time, where that is less than the settings allow; null: as they say. */
  max_concurrent_syncs: number | null;
  /** When an attempt of one of its jobs was started last. */
  last_turn: number;
  /** The labels that a worker must have to run something of it, as a JSON object; null: anywhere. */
  worker_labels: string | null;
}

/** A source or a destination. The table keeps the name it was made with, `connectors`. */
export interface ActorRow extends Row {
  connector_id: string;
  kind: 'source' | 'destination';
  workspace_id: string;
  definition_id: string;
  name: string;
  /** A JSON string: the configuration, sealed. See actors/sealed-configuration.ts. */
  configuration: string;
  resource_allocation: string | null;
  /** A JSON `ActorCredential`, which names a credential and contains no secret; null for most. */
  credential: string | null;
  /** 1: all secrets of the configuration are the customer's own; 0: some may be the operator's. */
  is_customers_own: number;
}

export interface ConnectionRow extends Row {
  connection_id: string;
  workspace_id: string;
  source_id: string;
  destination_id: string;
  name: string;
  status: 'active' | 'inactive' | 'deprecated';
  /** Quartz expression, in UTC; null means the connection runs only when asked. */
  cron_expression: string | null;
  configurations: string;
  namespace_definition: string;
  namespace_format: string | null;
  prefix: string;
  schema_updates_behavior: string;
  tags: string;
  /** Why the platform itself has made the connection inactive. */
  status_reason: string | null;
  /** When the schedule starts the next job; null for a connection that is inactive or runs only when asked. */
  next_run_at: number | null;
  /** Of its last attempt; see AttemptRef in attempts/desk.ts. */
  epoch: number;
}

export interface JobRow {
  job_id: number;
  connection_id: string;
  workspace_id: string;
  job_type: 'sync' | 'reset' | 'clear';
  trigger_kind: 'manual' | 'schedule';
  /** What a job of the type clear or reset empties, as a JSON list of stream descriptors; null for all streams. */
  cleared_streams: string | null;
  /** The trace that its attempts are part of; null for a job of an earlier version. */
  traceparent: string | null;
  /** `incomplete`: an attempt ended without success and another one follows. */
  status: 'pending' | 'running' | 'incomplete' | 'failed' | 'succeeded' | 'cancelled';
  /** How many were started, those that the platform itself broke off included; only the failed ones are limited. */
  attempts: number;
  failed_attempts: number;
  next_attempt_at: number | null;
  /** For the current or last attempt; for a successful job, for the attempt that succeeded. */
  records: number;
  bytes: number;
  /** How the rows came, as a JSON `RowPoints` (jobs/row-points.ts); null for a job of an earlier version. */
  row_points: string | null;
  /** The outcome of each stream's records, as a JSON `StreamsMoved`; null for a job that has not succeeded. */
  streams: string | null;
  failure_message: string | null;
  failure_origin: 'source' | 'destination' | 'platform' | null;
  failure_type: 'config_error' | 'transient_error' | 'system_error' | null;
  /** The settings at fault, as a JSON list of texts; null where they are not known. */
  failure_fields: string | null;
  /** How far streams were when an access token ended in the middle of the job last; see jobs/token-ends.ts. */
  token_end: string | null;
  /**
   * Who runs its attempt: a coordinator, by its process name, or a worker. Also set while the processes of a cancelled attempt are
   * being stopped. Null otherwise, and for an attempt of an earlier version.
   */
  owner: string | null;
  /** When the owner is taken for dead, unless it is heard of. On the database's clock. */
  lease_until: number | null;
  /** Of its last attempt. */
  epoch: number;
  /** Why its attempt is to stop, until its owner has ended it. */
  stop: 'turn' | 'attempt_limit' | 'job_limit' | null;
  created_at: number;
  started_at: number | null;
  updated_at: number;
  ended_at: number | null;
}

/** One try of a job. */
export interface JobAttemptRow {
  job_id: number;
  workspace_id: string;
  attempt: number;
  /** `interrupted`: stopped by the platform itself, which is not a failure. */
  status: 'running' | 'succeeded' | 'failed' | 'interrupted' | 'cancelled';
  started_at: number;
  ended_at: number | null;
  records: number;
  bytes: number;
  failure_message: JobRow['failure_message'];
  failure_origin: JobRow['failure_origin'];
  failure_type: JobRow['failure_type'];
  failure_fields: JobRow['failure_fields'];
  /** What its end needs of what was planned, as a JSON `Planned` (jobs/desk.ts). */
  plan: string | null;
}

/** One for each stream a connection has ever moved. */
export interface ConnectionStreamRow {
  connection_id: string;
  /** Empty for a stream without one. */
  namespace: string;
  name: string;
  /** The stream of the configured catalog it was last run with. */
  configured: string;
  generation_id: number;
  /** The state that the source sent last for this stream, as it wrote it, once the destination had confirmed it. */
  state: string | null;
  /** What the destination last said about the place where it stores the stream; null where it says nothing. */
  held: string | null;
  /** The fields requested for every stored record, as a JSON list; null if all fields are, or if unknown. */
  fields: string | null;
  /** How the destination calls the stream, as a JSON list of namespace and name; null for a row of an earlier version. */
  place: string | null;
  /** Why the current generation was started, until it is complete; null if there is nothing to report. */
  anew_because: ReadAnewCause | null;
}

/** Why a stream that could have continued from its state is read from its start. */
export type ReadAnewCause =
  | 'key_changed'
  | 'cursor_changed'
  | 'mode_changed'
  | 'place_changed'
  | 'destination_gone'
  | 'destination_emptied'
  | 'refreshed'
  | 'state_shared';

export interface CoordinatorRow {
  /** A process name; see process-names.ts. */
  name: string;
  seen_at: number;
  /** Ids of its encryption keys; the first one seals. */
  encryption_keys: string;
  version: string;
  /** How many attempts it runs itself. */
  slots: number;
}

export interface RegisteredDefinitionRow {
  seq: number;
  definition_id: string;
  kind: 'source' | 'destination';
  name: string;
  /** The program and its arguments; null for a Docker image. */
  command: string | null;
  image: string | null;
  /** Working directory of the command; null for an image, and for a command of a version that had none. */
  folder: string | null;
  specification: string;
  /** For declarative connectors; null for others. */
  manifest_hash: string | null;
  /** The file with the code that the manifest names. */
  components_file: string | null;
  icon: string | null;
  created_at: number;
}

/** A source that a workspace has as a manifest. */
export interface DeclarativeDefinitionRow {
  seq: number;
  definition_id: string;
  workspace_id: string;
  name: string;
  /** Counts up with every new manifest. */
  version: number;
  manifest_hash: string;
  created_at: number;
}

/** Whole lines of the log of an attempt, in the order of `part`; see jobs/stored-logs.ts. */
export interface JobLogPartRow {
  job_id: number;
  workspace_id: string;
  attempt: number;
  part: number;
  /** Of its lines, uncompressed. */
  bytes: number;
  lines: number;
  /** How many lines were removed here; the only line of the part says so. */
  dropped: number;
  content: string;
}

/** A machine that runs attempts, or an enrolment that machines can join with; see workers/workers.ts. */
export interface WorkerRow {
  worker_id: string;
  /** The reusable enrolment it joined with. */
  enrolment_id: string | null;
  name: string;
  /** A JSON object of texts. */
  labels: string;
  /** A JSON list; null for all workspaces. */
  workspace_ids: string | null;
  is_trusted: number;
  allows_private_networks: number;
  is_reusable: number;
  /** Of the token that a machine joins with, and when that token ends; null where it doesn't. */
  enrolment_hash: string | null;
  enrolment_ends_at: number | null;
  /** Of the worker's own token; null until a machine has joined. */
  token_hash: string | null;
  version: string | null;
  slots: number;
  free_slots: number;
  /** A JSON list of the connectors that only some machines have. */
  connectors: string;
  is_draining: number;
  created_at: number;
  seen_at: number | null;
  revoked_at: number | null;
}

/** A question that a worker answers while its caller waits; see workers/tasks.ts. Both sides say again and again that they are there. */
export interface WorkerTaskRow {
  task_id: string;
  workspace_id: string;
  request: string;
  answer: string | null;
  worker_id: string | null;
  worker_until: number;
  caller_until: number;
  created_at: number;
}

/** How much of an attempt has arrived from its worker: the number of its latest checkpoint, and how many lines of its log. */
export interface WorkerAttemptRow {
  job_id: number;
  attempt: number;
  checkpoint: number;
  log_lines: number;
}

type JobDefaults =
  | 'job_id'
  | 'attempts'
  | 'failed_attempts'
  | 'records'
  | 'bytes'
  | 'streams'
  | 'failure_fields'
  | 'token_end'
  | 'owner'
  | 'lease_until'
  | 'epoch'
  | 'stop';
type AttemptDefaults =
  | 'ended_at'
  | 'records'
  | 'bytes'
  | 'failure_message'
  | 'failure_origin'
  | 'failure_type'
  | 'failure_fields'
  | 'plan';
type Numbered<R extends Row> = Omit<R, 'seq'> & { seq: Generated<number> };

export interface Tables {
  organizations: { seq: Generated<number>; organization_id: string; created_at: number };
  workspaces: Omit<Numbered<WorkspaceRow>, 'last_turn'> & { last_turn: Generated<number> };
  connectors: Numbered<ActorRow>;
  connections: Omit<Numbered<ConnectionRow>, 'epoch'> & { epoch: Generated<number> };
  jobs: Omit<JobRow, JobDefaults> & { [Column in JobDefaults]: Generated<JobRow[Column]> };
  job_attempts: Omit<JobAttemptRow, AttemptDefaults> & {
    [Column in AttemptDefaults]: Generated<JobAttemptRow[Column]>;
  };
  /** The source's catalog that a connection was last run with; what is discovered is compared with it. */
  connection_catalogs: { connection_id: string; catalog: string };
  connection_streams: ConnectionStreamRow;
  /** The state of a source that keeps one for all its streams together. */
  connection_states: { connection_id: string; state: string };
  /** `made_from` identifies the configuration and connector that a catalog belongs to. */
  discovered_catalogs: { source_id: string; made_from: string; catalog: string };
  registered_definitions: Omit<RegisteredDefinitionRow, 'seq'> & { seq: Generated<number> };
  /** Outbox of changes for the log's owner; `definition` is JSON. See definitions/registered-definitions.ts. */
  definition_changes: {
    seq: Generated<number>;
    change_id: string;
    action: 'created' | 'deleted';
    definition: string;
  };
  declarative_definitions: Omit<DeclarativeDefinitionRow, 'seq'> & { seq: Generated<number> };
  /** `manifest` is sealed; `hash` is of its text. */
  manifests: { hash: string; manifest: string; specification: string };
  /** On SQLite, the only coordinator of the file; see jobs/coordinators.ts. */
  runner_lease: { id: 1; holder: string; expires_at: number; encryption_keys: string | null };
  /** The processes that coordinate attempts; see jobs/coordinators.ts. */
  coordinators: CoordinatorRow;
  job_log_parts: JobLogPartRow;
  /** Checks of connectors; see actors/check-queue.ts. `outcome` is sealed. */
  checks: { check_id: string; owner: string; outcome: string; alive_until: number; created_at: number };
  /** A copy from a file that is unfinished; see db/migrate-store.ts. */
  store_moves: { source: string; started_at: number };
  /** Which run uses a credential that only one process may use at a time; see actors/credential-turns.ts. */
  credential_turns: { workspace_id: string; credential_id: string; holder: string; expires_at: number };
  workers: WorkerRow;
  worker_attempts: WorkerAttemptRow;
  worker_tasks: WorkerTaskRow;
}
