/**
 * The history of the platform's tables. Append only: a migration that has run on someone's machine is never edited,
 * and the keys sort in the order they were written. All pending ones run in a single transaction. The version before keeps
 * working on the result. From 0018 on, each runs on SQLite and PostgreSQL alike: columns are `bigint` or `text`.
 */
import type { DatabaseKind } from '@inlay/database/open-database';
import type { SchemaDefinition } from '@inlay/database/schema-history';
import { type Kysely, sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import type { Tables } from './tables.ts';

/** New stores start with the result of the migrations up to this one (db/baseline.ts). */
const baselineThrough = '0017-encryption-keys-of-the-runner';

/** Raise it in the change that adds a migration after which earlier versions fail. */
const oldestCompatible = '1.0.0';

export const migrations: Record<string, (db: Kysely<Tables>) => Promise<void>> = {
  '0001-organizations-workspaces-connectors-connections': async (db) => {
    await run(
      db,
      `create table organizations (
        seq integer primary key autoincrement,
        organization_id text not null unique,
        created_at integer not null
      )`,
      `create table workspaces (
        seq integer primary key autoincrement,
        workspace_id text not null unique,
        organization_id text not null references organizations (organization_id),
        name text not null,
        name_nfc text not null,
        data_residency text not null check (data_residency in ('us', 'eu')),
        notifications text not null check (json_valid(notifications)),
        created_at integer not null,
        deleted_at integer
      )`,
      // With the organization behind the name: looking a name up within one organization must not read all its rows.
      `create index workspaces_by_name on workspaces (name_nfc, organization_id, seq)`,
      `create index workspaces_by_organization on workspaces (organization_id, seq)`,
      `create table connectors (
        seq integer primary key autoincrement,
        connector_id text not null unique,
        kind text not null check (kind in ('source', 'destination')),
        workspace_id text not null references workspaces (workspace_id),
        definition_id text not null,
        name text not null,
        configuration text not null check (json_valid(configuration)),
        resource_allocation text check (json_valid(resource_allocation)),
        created_at integer not null,
        deleted_at integer
      )`,
      `create index connectors_by_workspace on connectors (workspace_id, kind, seq)`,
      `create table connections (
        seq integer primary key autoincrement,
        connection_id text not null unique,
        workspace_id text not null references workspaces (workspace_id),
        source_id text not null references connectors (connector_id),
        destination_id text not null references connectors (connector_id),
        name text not null,
        status text not null check (status in ('active', 'inactive', 'deprecated')),
        cron_expression text,
        configurations text not null check (json_valid(configurations)),
        namespace_definition text not null,
        namespace_format text,
        prefix text not null,
        schema_updates_behavior text not null,
        tags text not null check (json_valid(tags)),
        created_at integer not null,
        deleted_at integer,
        check ((status = 'deprecated') = (deleted_at is not null))
      )`,
      `create index connections_by_workspace on connections (workspace_id, seq)`,
      `create index connections_by_source on connections (source_id)`,
      `create index connections_by_destination on connections (destination_id)`,
    );
  },
  '0002-jobs-states-definitions': async (db) => {
    await run(
      db,
      `alter table connections add column status_reason text`,
      `alter table connections add column next_run_at integer`,
      `create index connections_by_next_run on connections (next_run_at) where next_run_at is not null`,
      `create table jobs (
        job_id integer primary key autoincrement,
        connection_id text not null references connections (connection_id),
        workspace_id text not null references workspaces (workspace_id),
        job_type text not null check (job_type in ('sync', 'reset', 'clear')),
        trigger_kind text not null check (trigger_kind in ('manual', 'schedule')),
        status text not null
          check (status in ('pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled')),
        attempts integer not null default 0,
        failed_attempts integer not null default 0,
        next_attempt_at integer,
        records integer not null default 0,
        bytes integer not null default 0,
        failure_message text,
        failure_origin text check (failure_origin in ('source', 'destination', 'platform')),
        failure_type text check (failure_type in ('config_error', 'transient_error', 'system_error')),
        created_at integer not null,
        started_at integer,
        updated_at integer not null,
        ended_at integer,
        check ((status in ('pending', 'incomplete')) = (next_attempt_at is not null)),
        check ((status in ('failed', 'succeeded', 'cancelled')) = (ended_at is not null))
      )`,
      // One sync of a connection at a time, for all who ask.
      `create unique index jobs_open on jobs (connection_id) where ended_at is null`,
      `create index jobs_waiting on jobs (next_attempt_at) where next_attempt_at is not null`,
      `create index jobs_by_connection on jobs (connection_id, job_id)`,
      `create index jobs_by_workspace on jobs (workspace_id, job_id)`,
      `create table connection_catalogs (
        connection_id text primary key references connections (connection_id),
        catalog text not null check (json_valid(catalog))
      )`,
      `create table connection_streams (
        connection_id text not null references connections (connection_id),
        namespace text not null,
        name text not null,
        configured text not null check (json_valid(configured)),
        generation_id integer not null,
        state text check (json_valid(state)),
        primary key (connection_id, namespace, name)
      )`,
      `create table connection_states (
        connection_id text primary key references connections (connection_id),
        state text not null check (json_valid(state))
      )`,
      `create table discovered_catalogs (
        source_id text primary key references connectors (connector_id),
        made_from text not null,
        catalog text not null check (json_valid(catalog))
      )`,
      `create table registered_definitions (
        seq integer primary key autoincrement,
        definition_id text not null unique,
        kind text not null check (kind in ('source', 'destination')),
        name text not null,
        command text check (json_valid(command)),
        image text,
        specification text not null check (json_valid(specification)),
        created_at integer not null,
        check ((command is null) <> (image is null))
      )`,
      `create table runner_lease (
        id integer primary key check (id = 1),
        holder text not null,
        expires_at integer not null
      )`,
    );
  },
  '0003-whole-stream-states': async (db) => {
    // A state is kept whole from now on, with whatever its source has written beside the part that says how far it is.
    await run(
      db,
      `update connection_streams set state = json_object(
        'type', 'STREAM',
        'stream', json_object(
          'stream_descriptor',
          json(case namespace
            when '' then json_object('name', name) else json_object('name', name, 'namespace', namespace)
          end),
          'stream_state', json(state)
        )
      ) where state is not null`,
    );
  },
  '0004-folders-of-registered-definitions': async (db) => {
    await run(db, 'alter table registered_definitions add column folder text');
  },
  '0005-streams-of-jobs': async (db) => {
    await run(db, `alter table jobs add column streams text check (json_valid(streams))`);
  },
  '0006-fields-of-failures': async (db) => {
    await run(db, `alter table jobs add column failure_fields text check (json_valid(failure_fields))`);
  },
  '0007-attempts-of-jobs': async (db) => {
    await run(
      db,
      `create table job_attempts (
        job_id integer not null references jobs (job_id) on delete cascade,
        workspace_id text not null references workspaces (workspace_id),
        attempt integer not null,
        status text not null check (status in ('running', 'succeeded', 'failed', 'interrupted', 'cancelled')),
        started_at integer not null,
        ended_at integer,
        records integer not null default 0,
        bytes integer not null default 0,
        failure_message text,
        failure_origin text,
        failure_type text,
        failure_fields text check (json_valid(failure_fields)),
        primary key (job_id, attempt),
        check ((status = 'running') = (ended_at is null))
      )`,
      // For those who ask what has changed since they asked last.
      `create index jobs_by_change on jobs (updated_at, job_id)`,
    );
  },
  '0008-limits-of-workspaces': async (db) => {
    await run(db, 'alter table workspaces add column max_concurrent_syncs integer');
  },
  '0009-traces-of-jobs': async (db) => {
    await run(db, 'alter table jobs add column traceparent text');
  },
  '0010-declarative-definitions': async (db) => {
    await run(
      db,
      // Many workspaces have the same manifest, so its text is kept once. It is sealed: someone may have written a secret in.
      `create table manifests (
        hash text primary key,
        manifest text not null,
        specification text not null check (json_valid(specification))
      )`,
      `create table declarative_definitions (
        seq integer primary key autoincrement,
        definition_id text not null unique,
        workspace_id text not null references workspaces (workspace_id),
        name text not null,
        version integer not null,
        manifest_hash text not null references manifests (hash),
        created_at integer not null
      )`,
      `create index declarative_definitions_by_workspace on declarative_definitions (workspace_id)`,
      `create index declarative_definitions_by_manifest on declarative_definitions (manifest_hash)`,
      // A connector that an operator adds may be a manifest with code beside it.
      `alter table registered_definitions add column manifest_hash text references manifests (hash)`,
      `alter table registered_definitions add column components_file text`,
      `alter table registered_definitions add column icon text`,
      `create index registered_definitions_by_manifest on registered_definitions (manifest_hash)`,
    );
  },
  '0011-changes-of-registered-definitions': async (db) => {
    await run(
      db,
      `create table definition_changes (
        seq integer primary key autoincrement,
        change_id text not null unique,
        action text not null check (action in ('created', 'deleted')),
        definition text not null check (json_valid(definition))
      )`,
    );
  },
  '0012-credentials-of-sources': async (db) => {
    await run(
      db,
      `alter table connectors add column credential text check (json_valid(credential))`,
      `alter table jobs add column token_end text check (json_valid(token_end))`,
      `create table credential_turns (
        credential_id text not null,
        workspace_id text not null references workspaces (workspace_id),
        holder text not null,
        expires_at integer not null,
        primary key (workspace_id, credential_id)
      )`,
    );
  },
  '0013-rows-over-time': async (db) => {
    await run(db, `alter table jobs add column row_points text check (json_valid(row_points))`);
  },
  '0014-what-destinations-hold': async (db) => {
    await run(
      db,
      `alter table connection_streams add column held text`,
      `alter table connection_streams add column fields text check (json_valid(fields))`,
      `alter table connection_streams add column place text check (json_valid(place))`,
      `alter table connection_streams add column anew_because text`,
    );
  },
  '0015-streams-to-clear': async (db) => {
    await run(db, `alter table jobs add column cleared_streams text check (json_valid(cleared_streams))`);
  },
  '0016-schedules-by-expression': async (db) => {
    await run(
      db,
      `create index connections_by_schedule on connections (cron_expression, next_run_at) where next_run_at is not null`,
    );
  },
  '0017-encryption-keys-of-the-runner': async (db) => {
    await run(db, `alter table runner_lease add column encryption_keys text`);
  },
  // From here on, migrations run on SQLite and PostgreSQL alike: only the types bigint and text.
  '0018-leases-of-attempts': async (db) => {
    await run(
      db,
      `alter table jobs add column owner text`,
      `alter table jobs add column lease_until bigint`,
      `alter table jobs add column epoch bigint not null default 0`,
      `alter table jobs add column stop text`,
      `alter table connections add column epoch bigint not null default 0`,
      `alter table workspaces add column last_turn bigint not null default 0`,
      `alter table job_attempts add column plan text`,
      `create index jobs_held on jobs (lease_until) where owner is not null`,
      `create table coordinators (
        name text not null primary key,
        seen_at bigint not null,
        encryption_keys text not null,
        version text not null,
        slots bigint not null
      )`,
    );
  },
  '0019-shared-by-coordinators': async (db) => {
    await run(
      db,
      // The log of an attempt, where there is no disk that every coordinator has. The content is compressed, as base64.
      `create table job_log_parts (
        job_id bigint not null references jobs (job_id) on delete cascade,
        workspace_id text not null references workspaces (workspace_id),
        attempt bigint not null,
        part bigint not null,
        bytes bigint not null,
        lines bigint not null,
        dropped bigint not null,
        content text not null,
        primary key (job_id, attempt, part)
      )`,
      // The coordinator that is asked for the outcome of a check may be another one than runs it.
      `create table checks (
        check_id text not null primary key,
        owner text not null,
        outcome text not null,
        alive_until bigint not null,
        created_at bigint not null
      )`,
      `create index checks_by_age on checks (created_at)`,
      // While a store is copied here from a file. The table is empty before and afterwards.
      `create table store_moves (
        source text not null primary key,
        started_at bigint not null
      )`,
    );
  },
  '0020-workers': async (db) => {
    await run(
      db,
      // A worker, an enrolment that no machine has used yet, or one that any number of machines may use.
      `create table workers (
        worker_id text primary key,
        enrolment_id text,
        name text not null,
        labels text not null,
        workspace_ids text,
        is_trusted bigint not null,
        allows_private_networks bigint not null,
        is_reusable bigint not null,
        enrolment_hash text,
        enrolment_ends_at bigint,
        token_hash text,
        version text,
        slots bigint not null,
        free_slots bigint not null,
        connectors text not null,
        is_draining bigint not null,
        created_at bigint not null,
        seen_at bigint,
        revoked_at bigint
      )`,
      `create index workers_by_enrolment on workers (enrolment_id)`,
      // What a worker has sent of an attempt, so that a request that arrives twice or too late changes nothing.
      `create table worker_attempts (
        job_id bigint not null,
        attempt bigint not null,
        checkpoint bigint not null,
        log_lines bigint not null,
        primary key (job_id, attempt)
      )`,
    );
  },
  '0021-placement': async (db) => {
    await run(
      db,
      // The labels that a worker must have to run something of this workspace, as a JSON object; null: anywhere.
      `alter table workspaces add column worker_labels text`,
      // Whether all secrets of its configuration are the customer's own. Nobody has said so of those there are.
      `alter table connectors add column is_customers_own bigint not null default 0`,
      // A question that a worker answers while its caller waits. Request and answer are sealed.
      `create table worker_tasks (
        task_id text primary key,
        workspace_id text not null references workspaces (workspace_id),
        request text not null,
        answer text,
        worker_id text,
        worker_until bigint not null,
        caller_until bigint not null,
        created_at bigint not null
      )`,
    );
  },
};

async function run(db: Kysely<Tables>, ...statements: string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The table is the one of Kysely's migrator, which earlier builds used. */
export const schema: SchemaDefinition<Kysely<Tables>> = {
  version: manifest.version,
  oldestCompatible,
  table: 'kysely_migration',
  createTable:
    'create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
  now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  migrations,
  // Loaded here and not at the start, because only a new database needs it.
  baseline: { through: baselineThrough, load: async () => (await import('./baseline.ts')).baseline },
};

/** Every store on PostgreSQL begins with the baseline: the migrations before it know SQLite only. */
export function schemaOf(kind: DatabaseKind): SchemaDefinition<Kysely<Tables>> {
  if (kind === 'sqlite') return schema;
  return {
    ...schema,
    now: `to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    baseline: { ...schema.baseline, load: async () => (await import('./baseline.ts')).postgresBaseline },
  };
}
