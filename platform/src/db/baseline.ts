/**
 * The schema of a new store, in one step instead of the migrations up to `baselineThrough`, whose result it is
 * (server/test/baseline.test.ts compares them). Later migrations run on new stores too, so nothing is added here until a
 * release moves the line. A statement ends where a line isn't indented.
 */
export const baseline = `
create table organizations (
  seq integer primary key autoincrement, organization_id text not null unique, created_at integer not null)
create table workspaces (
  seq integer primary key autoincrement, workspace_id text not null unique,
  organization_id text not null references organizations (organization_id), name text not null,
  name_nfc text not null, data_residency text not null check (data_residency in ('us', 'eu')),
  notifications text not null check (json_valid(notifications)), created_at integer not null,
  deleted_at integer, max_concurrent_syncs integer)
create table connectors (
  seq integer primary key autoincrement, connector_id text not null unique,
  kind text not null check (kind in ('source', 'destination')),
  workspace_id text not null references workspaces (workspace_id), definition_id text not null,
  name text not null, configuration text not null check (json_valid(configuration)),
  resource_allocation text check (json_valid(resource_allocation)), created_at integer not null,
  deleted_at integer, credential text check (json_valid(credential)))
create table connections (
  seq integer primary key autoincrement, connection_id text not null unique,
  workspace_id text not null references workspaces (workspace_id),
  source_id text not null references connectors (connector_id),
  destination_id text not null references connectors (connector_id), name text not null,
  status text not null check (status in ('active', 'inactive', 'deprecated')), cron_expression text,
  configurations text not null check (json_valid(configurations)), namespace_definition text not null,
  namespace_format text, prefix text not null, schema_updates_behavior text not null,
  tags text not null check (json_valid(tags)), created_at integer not null, deleted_at integer,
  status_reason text, next_run_at integer, check ((status = 'deprecated') = (deleted_at is not null)))
create table jobs (
  job_id integer primary key autoincrement,
  connection_id text not null references connections (connection_id),
  workspace_id text not null references workspaces (workspace_id),
  job_type text not null check (job_type in ('sync', 'reset', 'clear')),
  trigger_kind text not null check (trigger_kind in ('manual', 'schedule')),
  status text not null check (status in ('pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled')),
  attempts integer not null default 0, failed_attempts integer not null default 0, next_attempt_at integer,
  records integer not null default 0, bytes integer not null default 0, failure_message text,
  failure_origin text check (failure_origin in ('source', 'destination', 'platform')),
  failure_type text check (failure_type in ('config_error', 'transient_error', 'system_error')),
  created_at integer not null, started_at integer, updated_at integer not null, ended_at integer,
  streams text check (json_valid(streams)), failure_fields text check (json_valid(failure_fields)),
  traceparent text, token_end text check (json_valid(token_end)),
  row_points text check (json_valid(row_points)), cleared_streams text check (json_valid(cleared_streams)),
  check ((status in ('pending', 'incomplete')) = (next_attempt_at is not null)),
  check ((status in ('failed', 'succeeded', 'cancelled')) = (ended_at is not null)))
create table connection_catalogs (
  connection_id text primary key references connections (connection_id),
  catalog text not null check (json_valid(catalog)))
create table connection_streams (
  connection_id text not null references connections (connection_id), namespace text not null,
  name text not null, configured text not null check (json_valid(configured)), generation_id integer not null,
  state text check (json_valid(state)), held text, fields text check (json_valid(fields)),
  place text check (json_valid(place)), anew_because text, primary key (connection_id, namespace, name))
create table connection_states (
  connection_id text primary key references connections (connection_id),
  state text not null check (json_valid(state)))
create table discovered_catalogs (
  source_id text primary key references connectors (connector_id), made_from text not null,
  catalog text not null check (json_valid(catalog)))
create table runner_lease (
  id integer primary key check (id = 1), holder text not null, expires_at integer not null,
  encryption_keys text)
create table job_attempts (
  job_id integer not null references jobs (job_id) on delete cascade,
  workspace_id text not null references workspaces (workspace_id), attempt integer not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'interrupted', 'cancelled')),
  started_at integer not null, ended_at integer, records integer not null default 0,
  bytes integer not null default 0, failure_message text, failure_origin text, failure_type text,
  failure_fields text check (json_valid(failure_fields)), primary key (job_id, attempt),
  check ((status = 'running') = (ended_at is null)))
create table manifests (
  hash text primary key, manifest text not null, specification text not null check (json_valid(specification)))
create table registered_definitions (
  seq integer primary key autoincrement, definition_id text not null unique,
  kind text not null check (kind in ('source', 'destination')), name text not null,
  command text check (json_valid(command)), image text,
  specification text not null check (json_valid(specification)), created_at integer not null, folder text,
  manifest_hash text references manifests (hash), components_file text, icon text,
  check ((command is null) <> (image is null)))
create table declarative_definitions (
  seq integer primary key autoincrement, definition_id text not null unique,
  workspace_id text not null references workspaces (workspace_id), name text not null,
  version integer not null, manifest_hash text not null references manifests (hash),
  created_at integer not null)
create table definition_changes (
  seq integer primary key autoincrement, change_id text not null unique,
  action text not null check (action in ('created', 'deleted')),
  definition text not null check (json_valid(definition)))
create table credential_turns (
  credential_id text not null, workspace_id text not null references workspaces (workspace_id),
  holder text not null, expires_at integer not null, primary key (workspace_id, credential_id))
create index workspaces_by_name on workspaces (name_nfc, organization_id, seq)
create index workspaces_by_organization on workspaces (organization_id, seq)
create index connectors_by_workspace on connectors (workspace_id, kind, seq)
create index connections_by_workspace on connections (workspace_id, seq)
create index connections_by_source on connections (source_id)
create index connections_by_destination on connections (destination_id)
create index connections_by_next_run on connections (next_run_at) where next_run_at is not null
create unique index jobs_open on jobs (connection_id) where ended_at is null
create index jobs_waiting on jobs (next_attempt_at) where next_attempt_at is not null
create index jobs_by_connection on jobs (connection_id, job_id)
create index jobs_by_workspace on jobs (workspace_id, job_id)
create index jobs_by_change on jobs (updated_at, job_id)
create index declarative_definitions_by_workspace on declarative_definitions (workspace_id)
create index declarative_definitions_by_manifest on declarative_definitions (manifest_hash)
create index registered_definitions_by_manifest on registered_definitions (manifest_hash)
create index connections_by_schedule on connections (cron_expression, next_run_at) where next_run_at is not null
`
  .trim()
  .split(/\n(?! )/);

/** The same tables, and the clock that SQLite gets when the file is opened. Lists order by `seq`, which is unique everywhere. */
export const postgresBaseline = [
  'create or replace function now_ms() returns bigint language sql stable as $$select floor(extract(epoch from clock_timestamp()) * 1000)::bigint$$',
  ...baseline.map((statement) =>
    statement
      .replaceAll('integer primary key autoincrement', 'bigint generated by default as identity primary key')
      .replaceAll(/\binteger\b/g, 'bigint')
      // Bytewise order and comparison, whatever locale the database was created with.
      .replaceAll(/\btext\b/g, 'text collate "C"')
      // The rules write these texts with JSON.stringify; PostgreSQL checks JSON only from version 16 on.
      .replaceAll(/ check \(json_valid\(\w+\)\)/g, ''),
  ),
];
