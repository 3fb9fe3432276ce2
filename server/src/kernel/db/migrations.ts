/**
 * One append-only list of migrations for both databases. A migration that has been released is never edited;
 * the next change is a new entry at the end. The version before keeps working on the result (expand/contract): a migration
 * adds what the next statements need, and a later version removes what no statement uses any more. Both databases get the
 * same tables, so that the same statements run on both; only the names of types differ, and the index of the parts of
 * names. The file is long because released migrations stay, in one order.
 */
import {
  applyPending,
  assertCompatible,
  type OnApplied,
  readHistory,
  type SchemaDefinition,
  type SchemaHistory,
} from '@inlay/database/schema-history';
import { type Kysely, sql } from 'kysely';
import { version } from '../version.ts';
import type { DatabaseKind, Store } from './open.ts';
import type { Tables, TemplateVersionRow } from './tables.ts';

type Step = (db: Kysely<Tables>, kind: DatabaseKind) => Promise<void>;

const migrations: Record<string, Step> = {
  '0001-tokens-and-workspaces': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    // Bytewise order and comparison, whatever locale the database was created with.
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;

    if (kind === 'postgres') {
      // SQLite has these functions itself, or gets them when the file is opened (db/open.ts), under the same names.
      await sql`
        create function now_ms() returns bigint language sql volatile
        as 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint'`.execute(db);
      await sql`
        create function instr(whole text, part text) returns integer language sql immutable
        as 'select strpos(whole, part)'`.execute(db);
    }

    await sql`
      create table organizations (
        id ${uuid} primary key,
        name ${text} not null,
        platform_organization_id ${text} not null,
        created_at bigint not null
      )`.execute(db);

    await sql`
      create table operator_tokens (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        hash ${text} not null unique,
        permission ${text} not null check (permission in ('full', 'read')),
        created_at bigint not null,
        expires_at bigint,
        last_used_at bigint,
        revoked_at bigint
      )`.execute(db);

    await sql`
      create table signing_keys (
        kid ${text} primary key,
        public_jwk ${text} not null,
        sealed_private_key ${text} not null,
        created_at bigint not null,
        retired_at bigint
      )`.execute(db);

    await sql`
      create table workspaces (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        name_folded ${text} not null,
        desired_name ${text},
        status ${text} not null check (status in ('active', 'inactive')),
        lifecycle ${text} not null check (lifecycle in ('live', 'deleting', 'deleted')),
        gen integer not null,
        token_gen integer not null,
        created_at bigint not null,
        updated_at bigint not null,
        deleted_at bigint,
        check ((lifecycle = 'deleted') = (deleted_at is not null))
      )`.execute(db);
    // Two indexes, so that a page filtered by status reads no more rows than an unfiltered one.
    await sql`
      create index workspaces_newest_first on workspaces (organization_id, created_at desc, id desc)
      where lifecycle <> 'deleted'`.execute(db);
    await sql`
      create index workspaces_by_status on workspaces (organization_id, status, created_at desc, id desc)
      where lifecycle <> 'deleted'`.execute(db);

    await sql`
      create table revoked_tokens (
        workspace_id ${uuid} not null references workspaces (id),
        jti ${text} not null,
        revoked_at bigint not null,
        expires_at bigint,
        primary key (workspace_id, jti)
      )`.execute(db);

    await sql`
      create table name_claims (
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        state ${text} not null check (state in ('creating', 'bound')),
        workspace_id ${uuid} references workspaces (id),
        lease_id ${text} not null,
        lease_until bigint not null,
        no_post_before bigint not null,
        attempts integer not null,
        last_error ${text},
        created_at bigint not null,
        primary key (organization_id, name),
        check ((state = 'bound') = (workspace_id is not null))
      )`.execute(db);
    await sql`create index name_claims_by_workspace on name_claims (workspace_id)`.execute(db);
    await sql`create index name_claims_unbound on name_claims (lease_until) where state = 'creating'`.execute(db);

    await sql`
      create table operations (
        workspace_id ${uuid} not null references workspaces (id),
        kind ${text} not null check (kind in ('rename', 'status', 'delete', 'orphan_delete')),
        organization_id ${uuid} not null references organizations (id),
        lease_id ${text},
        lease_until bigint not null,
        next_at bigint not null,
        sending_until bigint not null,
        unsettled_until bigint not null,
        attempts integer not null,
        last_error ${text},
        created_at bigint not null,
        primary key (workspace_id, kind)
      )`.execute(db);
    await sql`create index operations_due on operations (next_at)`.execute(db);

    await sql`
      create table paused_connections (
        workspace_id ${uuid} not null references workspaces (id),
        connection_id ${text} not null,
        primary key (workspace_id, connection_id)
      )`.execute(db);
  },

  '0002-templates': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;

    await sql`
      create table template_tags (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        created_at bigint not null,
        updated_at bigint not null,
        unique (organization_id, name)
      )`.execute(db);

    await sql`
      create table source_templates (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        definition_id ${uuid} not null,
        icon ${text},
        sealed_defaults ${text} not null,
        customization ${text} not null,
        created_at bigint not null,
        updated_at bigint not null,
        deleted_at bigint
      )`.execute(db);
    await sql`
      create table connection_templates (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        destination_name ${text} not null,
        definition_id ${uuid} not null,
        icon ${text},
        sealed_destination_config ${text} not null,
        cron_expression ${text},
        non_breaking_changes_preference ${text} not null
          check (non_breaking_changes_preference in ('ignore', 'disable', 'propagate_columns', 'propagate_fully')),
        sync_on_create integer not null check (sync_on_create in (0, 1)),
        namespace_format ${text},
        prefix ${text},
        created_at bigint not null,
        updated_at bigint not null,
        deleted_at bigint
      )`.execute(db);

    await sql`
      create index source_templates_in_order on source_templates (organization_id, created_at, id)
      where deleted_at is null`.execute(db);
    await sql`
      create table source_template_tags (
        organization_id ${uuid} not null references organizations (id),
        template_id ${uuid} not null references source_templates (id),
        tag_id ${uuid} not null references template_tags (id),
        primary key (template_id, tag_id)
      )`.execute(db);
    await sql`create index source_template_tags_by_tag on source_template_tags (tag_id)`.execute(db);

    await sql`
      create index connection_templates_in_order on connection_templates (organization_id, created_at, id)
      where deleted_at is null`.execute(db);
    await sql`
      create table connection_template_tags (
        organization_id ${uuid} not null references organizations (id),
        template_id ${uuid} not null references connection_templates (id),
        tag_id ${uuid} not null references template_tags (id),
        primary key (template_id, tag_id)
      )`.execute(db);
    await sql`create index connection_template_tags_by_tag on connection_template_tags (tag_id)`.execute(db);
  },

  '0003-pipelines': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const remote = sql`
      id ${uuid} primary key,
      organization_id ${uuid} not null references organizations (id),
      workspace_id ${uuid} not null references workspaces (id),
      platform_id ${text},
      no_post_before bigint not null,
      failure ${text},
      created_at bigint not null,
      deleted_at bigint`;

    await sql`
      create table sources (
        ${remote},
        source_template_id ${uuid} not null references source_templates (id),
        name ${text} not null,
        slug ${text} not null,
        sealed_config ${text} not null,
        version integer not null,
        applied_version integer not null,
        lifecycle ${text} not null check (lifecycle in ('live', 'deleting', 'deleted')),
        due_at bigint,
        lease_id ${text},
        lease_until bigint not null,
        attempts integer not null,
        last_error ${text},
        updated_at bigint not null,
        unique (workspace_id, slug),
        check ((lifecycle = 'deleted') = (deleted_at is not null))
      )`.execute(db);
    await sql`create index sources_due on sources (due_at) where due_at is not null`.execute(db);
    await sql`create index sources_by_template on sources (source_template_id) where lifecycle = 'live'`.execute(db);

    await sql`
      create table destinations (
        ${remote},
        connection_template_id ${uuid} not null references connection_templates (id),
        name ${text} not null,
        lease_id ${text},
        lease_until bigint not null,
        unique (workspace_id, connection_template_id)
      )`.execute(db);

    await sql`
      create table connections (
        ${remote},
        connection_template_id ${uuid} not null references connection_templates (id),
        source_id ${uuid} not null references sources (id),
        destination_id ${uuid} not null references destinations (id),
        cron_expression ${text},
        schema_changes ${text} not null,
        namespace_format ${text} not null,
        prefix ${text} not null,
        first_sync_wanted integer not null check (first_sync_wanted in (0, 1)),
        is_set_up integer not null check (is_set_up in (0, 1)),
        unique (source_id, connection_template_id)
      )`.execute(db);
    await sql`create index connections_by_workspace on connections (workspace_id)`.execute(db);

    await sql`
      create table source_checks (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        status ${text} not null check (status in ('running', 'succeeded', 'failed')),
        error_message ${text},
        created_at bigint not null,
        expires_at bigint not null,
        may_linger integer not null
      )`.execute(db);
    await sql`create index source_checks_old on source_checks (created_at)`.execute(db);
  },

  '0004-workspace-counts': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;

    await sql`
      create table workspace_counts (
        organization_id ${uuid} not null references organizations (id),
        status ${text} not null check (status in ('active', 'inactive')),
        part integer not null,
        count bigint not null,
        primary key (organization_id, status, part)
      )`.execute(db);
    await sql`
      insert into workspace_counts (organization_id, status, part, count)
      select organization_id, status, 0, count(*) from workspaces where lifecycle <> 'deleted'
      group by organization_id, status`.execute(db);
    for (const statement of countingTriggers[kind]) await statement.execute(db);
  },

  '0005-name-parts': async (db, kind) => {
    for (const statement of namePartIndex[kind]) await statement.execute(db);
  },

  '0006-template-looks': async (db) => {
    await sql`alter table source_templates add column description text`.execute(db);
    await sql`alter table source_templates add column own_icon text`.execute(db);
  },

  '0007-lost-creates': async (db) => {
    // Only the beginning of the name: a name from the platform may be longer than an entry of an index.
    await sql`
      create index workspaces_by_name on workspaces (substr(name_folded, 1, 100)) where lifecycle = 'live'`.execute(db);
    await sql`
      create index name_claims_unsettled on name_claims (no_post_before)
      where state = 'bound' and no_post_before > 0`.execute(db);
  },

  '0008-overtaken-renames': async (db) => {
    await sql`alter table workspaces add column name_gen integer not null default 1`.execute(db);
  },

  '0009-settled-names': async (db) => {
    await sql`alter table workspaces add column name_settled_at bigint not null default 0`.execute(db);
    await sql`update workspaces set name_settled_at = updated_at`.execute(db);
  },

  '0010-template-versions': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    for (const table of ['source_templates', 'connection_templates']) {
      await sql`alter table ${sql.table(table)} add column version integer not null default 1`.execute(db);
    }
    await sql`
      create table template_versions (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        kind ${text} not null check (kind in ('source', 'connection')),
        template_id ${uuid} not null,
        number integer not null check (number > 0),
        content ${text} not null,
        sealed_configuration ${text} not null,
        copy_of integer,
        made_by ${uuid} references operator_tokens (id),
        created_at bigint not null,
        unique (template_id, number)
      )`.execute(db);
    for (const version of await firstVersions(db)) await db.insertInto('template_versions').values(version).execute();
  },

  '0011-two-audiences': async (db) => {
    for (const table of ['sources', 'destinations', 'connections']) {
      await sql`alter table ${sql.table(table)} add column customer_failure text`.execute(db);
      await sql`update ${sql.table(table)} set customer_failure = failure`.execute(db);
    }
    await sql`alter table source_checks add column customer_message text`.execute(db);
    await sql`update source_checks set customer_message = error_message`.execute(db);
  },

  '0012-destination-checks': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table destination_checks (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        status ${text} not null check (status in ('running', 'succeeded', 'failed')),
        error_message ${text},
        created_at bigint not null,
        expires_at bigint not null
      )`.execute(db);
    await sql`create index destination_checks_old on destination_checks (created_at)`.execute(db);
    await sql`alter table connection_templates add column checked_at bigint`.execute(db);
    await sql`alter table source_checks add column warnings text`.execute(db);
  },

  '0013-jobs-and-health': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const add = async (table: 'sources' | 'connections', column: ReturnType<typeof sql>) =>
      await sql`alter table ${sql.table(table)} add column ${column}`.execute(db);
    const nobody = sql`default '00000000-0000-0000-0000-000000000000'`;

    await add('sources', sql`definition_id ${uuid} not null ${nobody}`);
    await add('sources', sql`health ${text} not null default 'never_synced'`);
    await sql`
      update sources set definition_id =
        (select definition_id from source_templates where source_templates.id = sources.source_template_id)`.execute(
      db,
    );
    await add('connections', sql`source_template_id ${uuid} not null ${nobody}`);
    await add('connections', sql`definition_id ${uuid} not null ${nobody}`);
    await add('connections', sql`health ${text} not null default 'never_synced'`);
    await add('connections', sql`health_detail ${text} not null default '{}'`);
    await add('connections', sql`platform_state ${text}`);
    await add('connections', sql`platform_reason ${text}`);
    await add('connections', sql`looked_at bigint not null default 0`);
    await add('connections', sql`history_wanted integer not null default 0`);
    // What ran before this release is read from the platform.
    await sql`
      update connections set history_wanted = 1,
        source_template_id = (select source_template_id from sources where sources.id = connections.source_id),
        definition_id = (select definition_id from sources where sources.id = connections.source_id)`.execute(db);

    await sql`
      create table jobs (
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        connection_id ${uuid} not null references connections (id),
        source_id ${uuid} not null,
        source_template_id ${uuid} not null,
        connection_template_id ${uuid} not null,
        definition_id ${uuid} not null,
        id ${text} not null,
        type ${text} not null,
        status ${text} not null
          check (status in ('pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled')),
        started_at bigint not null,
        ended_at bigint,
        attempts integer,
        failed_attempts integer not null,
        failed_at bigint,
        row_count bigint,
        byte_count bigint,
        failure_kind ${text},
        failure_origin ${text},
        failure_whose ${text},
        error ${text},
        customer_error ${text},
        attempt_list ${text},
        streams ${text},
        more_streams integer not null,
        seen_at bigint not null,
        primary key (connection_id, id)
      )`.execute(db);
    // One for each way a list is narrowed, so that a page costs the same however many jobs there are.
    const newest = sql`started_at desc, id desc`;
    await sql`create index jobs_newest on jobs (organization_id, ${newest})`.execute(db);
    await sql`create index jobs_by_status on jobs (organization_id, status, ${newest})`.execute(db);
    await sql`create index jobs_by_definition on jobs (organization_id, definition_id, ${newest})`.execute(db);
    await sql`create index jobs_by_source_template on jobs (source_template_id, ${newest})`.execute(db);
    await sql`create index jobs_by_connection_template on jobs (connection_template_id, ${newest})`.execute(db);
    await sql`create index jobs_of_workspace on jobs (workspace_id, ${newest})`.execute(db);
    await sql`create index jobs_of_source on jobs (source_id, ${newest})`.execute(db);
    await sql`create index jobs_of_connection on jobs (connection_id, ${newest})`.execute(db);
    await sql`create index jobs_outcomes on jobs (connection_id, status, started_at)`.execute(db);
    await sql`create index jobs_by_id on jobs (organization_id, id)`.execute(db);
    await sql`create index jobs_open on jobs (seen_at) where ended_at is null`.execute(db);
    await sql`create index jobs_old on jobs (ended_at) where ended_at is not null`.execute(db);

    const oldest = sql`created_at, id`;
    const isThere = sql`where deleted_at is null`;
    for (const [table, template] of [
      ['connections', 'connection_template_id'],
      ['sources', 'source_template_id'],
    ] as const) {
      const on = (name: string) => sql`create index ${sql.ref(`${table}_${name}`)} on ${sql.table(table)}`;
      await sql`${on('in_order')} (organization_id, ${oldest}) ${isThere}`.execute(db);
      await sql`${on('by_health')} (organization_id, health, ${oldest}) ${isThere}`.execute(db);
      await sql`${on('by_definition')} (organization_id, definition_id, ${oldest}) ${isThere}`.execute(db);
      await sql`${on('in_order_of_template')} (${sql.ref(template)}, ${oldest}) ${isThere}`.execute(db);
      await sql`${on('in_order_of_workspace')} (workspace_id, ${oldest}) ${isThere}`.execute(db);
    }
    await sql`
      create index connections_of_source_template on connections (source_template_id, ${oldest}) ${isThere}`.execute(
      db,
    );
    await sql`create index connections_by_platform_id on connections (platform_id)`.execute(db);
    await sql`create index connections_to_look_at on connections (looked_at) ${isThere}`.execute(db);
    await sql`create index connections_without_history on connections (id) where history_wanted = 1`.execute(db);

    await sql`
      create table job_hours (
        organization_id ${uuid} not null references organizations (id),
        hour bigint not null,
        status ${text} not null,
        jobs bigint not null,
        row_count bigint not null,
        byte_count bigint not null,
        primary key (organization_id, hour, status)
      )`.execute(db);
    await sql`
      create table job_watch (
        id integer primary key check (id = 1),
        read_until bigint not null,
        lease_id ${text},
        lease_until bigint not null
      )`.execute(db);
    await sql`insert into job_watch (id, read_until, lease_until) values (1, now_ms(), 0)`.execute(db);
  },

  '0014-rollouts': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const add = async (table: string, column: string, fallback: number) =>
      await sql`
        alter table ${sql.table(table)} add column ${sql.ref(column)} integer not null default ${sql.lit(fallback)}
      `.execute(db);
    for (const table of ['sources', 'destinations', 'connections']) {
      await add(table, 'template_version', 0);
      await add(table, 'applied_template_version', 0);
    }
    await add('connections', 'version', 1);
    await add('connections', 'applied_version', 1);
    await add('connections', 'streams_anew', 0);
    await sql`
      create table rollouts (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        kind ${text} not null check (kind in ('source', 'connection')),
        template_id ${uuid} not null,
        version integer not null,
        state ${text} not null check (state in ('running', 'paused', 'stopped', 'finished')),
        state_reason ${text},
        plan ${text} not null,
        stage integer not null,
        made_by ${uuid} references operator_tokens (id),
        created_at bigint not null,
        ended_at bigint,
        lease_id ${text},
        lease_until bigint not null
      )`.execute(db);
    await sql`create index rollouts_of_template on rollouts (template_id, created_at desc, id desc)`.execute(db);
    await sql`create index rollouts_running on rollouts (lease_until) where state = 'running'`.execute(db);
    // One at a time, so that two do not count the same workspaces.
    await sql`create unique index rollouts_open on rollouts (template_id) where state in ('running', 'paused')`.execute(
      db,
    );
    await sql`
      create table rollout_items (
        rollout_id ${uuid} not null references rollouts (id),
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        stage integer not null,
        state ${text} not null check (state in ('waiting', 'changing', 'done', 'failed', 'skipped')),
        reason ${text},
        failed_before integer not null,
        primary key (rollout_id, workspace_id)
      )`.execute(db);
    await sql`create index rollout_items_by_state on rollout_items (rollout_id, state, stage, workspace_id)`.execute(
      db,
    );
    await sql`create index rollout_items_changing on rollout_items (rollout_id) where state = 'changing'`.execute(db);
    await sql`
      create index connections_of_template on connections (connection_template_id, workspace_id)
      where deleted_at is null`.execute(db);
  },

  '0016-quotas': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table quotas (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        limits ${text} not null,
        updated_at bigint not null
      )`.execute(db);
    await sql`
      create table usage_days (
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        day bigint not null,
        syncs bigint not null,
        row_count bigint not null,
        byte_count bigint not null,
        primary key (workspace_id, day)
      )`.execute(db);
    const day = sql`ended_at / 86400000 * 86400000`;
    await sql`
      insert into usage_days (organization_id, workspace_id, day, syncs, row_count, byte_count)
      select organization_id, workspace_id, ${day}, count(*), coalesce(sum(row_count), 0), coalesce(sum(byte_count), 0)
      from jobs where ended_at is not null
      group by organization_id, workspace_id, ${day}`.execute(db);
    await sql`create index jobs_open_of_workspace on jobs (workspace_id) where ended_at is null`.execute(db);
  },

  '0017-lists-of-workspaces': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`alter table workspaces add column health ${text} not null default 'never_synced'`.execute(db);
    await sql`alter table connections add column status ${text} not null default 'pending'`.execute(db);
    // As pipelines/health.ts orders them.
    await sql`
      update workspaces set health = coalesce((
        select health from connections where workspace_id = workspaces.id and deleted_at is null
        order by case health when 'failing' then 1 when 'needs_attention' then 2 when 'never_synced' then 3
          when 'running' then 4 when 'healthy' then 5 else 6 end
        limit 1), 'never_synced')
      where exists (select 1 from connections where workspace_id = workspaces.id and deleted_at is null)`.execute(db);
    // As pipelines/connection-status.ts has it.
    await sql`
      update connections set status = case
        when is_set_up = 1 and platform_state is null
          and (select status from workspaces where workspaces.id = connections.workspace_id) = 'active' then 'active'
        when is_set_up = 1 then 'inactive'
        when failure is not null
          or (select failure from destinations where destinations.id = connections.destination_id) is not null
          then 'failed'
        else 'pending' end`.execute(db);
    // SQLite has it; see pipelines/lists.store.ts.
    if (kind === 'postgres') {
      await sql`
        create function likely(condition boolean) returns boolean language sql immutable parallel safe
        as 'select condition'`.execute(db);
    }
    await sql`
      create index workspaces_by_health on workspaces (organization_id, health, created_at desc, id desc)
      where lifecycle <> 'deleted'`.execute(db);
    await sql`
      create index connections_by_status on connections (organization_id, status, created_at, id)
      where deleted_at is null`.execute(db);
    await sql`
      create index jobs_failing on jobs (organization_id, started_at desc, id desc)
      where status = 'failed' or (ended_at is null and failed_attempts > 0)`.execute(db);
  },

  '0018-overview': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`alter table workspaces add column unwell_since bigint`.execute(db);
    await sql`
      update workspaces set unwell_since = now_ms() where health in ('failing', 'needs_attention')`.execute(db);
    await sql`
      create index workspaces_unwell on workspaces (organization_id, health, unwell_since, id)
      where unwell_since is not null and lifecycle <> 'deleted'`.execute(db);
    await sql`
      create index jobs_open_of_organization on jobs (organization_id, status, started_at)
      where ended_at is null`.execute(db);
    await sql`
      create table health_counts (
        organization_id ${uuid} not null references organizations (id),
        kind ${text} not null check (kind in ('connections', 'sources', 'workspaces')),
        health ${text} not null,
        part integer not null,
        count bigint not null,
        primary key (organization_id, kind, health, part)
      )`.execute(db);
    for (const counted of countedByHealth) await countByHealth(db, counted);
    if (kind === 'postgres') await countHealthFunction.execute(db);
    for (const counted of countedByHealth) {
      for (const statement of healthCountingTriggers[kind](counted)) await statement.execute(db);
    }
  },

  '0019-template-plans': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table template_plans (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        kind ${text} not null check (kind in ('source', 'connection')),
        template_id ${uuid} not null,
        base_version integer not null,
        sealed_request ${text} not null,
        summary ${text},
        items integer not null,
        made_by ${uuid} references operator_tokens (id),
        created_at bigint not null,
        expires_at bigint not null
      )`.execute(db);
    await sql`create index template_plans_of_template on template_plans (template_id, created_at desc, id desc)`.execute(
      db,
    );
    await sql`create index template_plans_expired on template_plans (expires_at)`.execute(db);
    await sql`
      create table template_plan_items (
        plan_id ${uuid} not null references template_plans (id),
        organization_id ${uuid} not null references organizations (id),
        item_id ${uuid} not null,
        workspace_id ${uuid} not null references workspaces (id),
        source_id ${uuid} not null,
        connections integer not null,
        template_version integer not null,
        seen bigint not null,
        outcome ${text} not null check (outcome in ('changes', 'unchanged', 'needs_customer', 'breaks')),
        reason ${text},
        drops_streams integer not null,
        moves_tables integer not null,
        detail ${text} not null,
        primary key (plan_id, item_id)
      )`.execute(db);
    await sql`
      create index template_plan_items_by_outcome on template_plan_items (plan_id, outcome, item_id)`.execute(db);
  },

  '0020-logs-of-jobs': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const bytes = kind === 'postgres' ? sql`bytea` : sql`blob`;
    await sql`
      create table job_logs (
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        connection_id ${uuid} not null,
        job_id ${text} not null,
        attempt integer not null,
        part integer not null,
        end_offset bigint not null,
        ended_at bigint not null,
        content ${bytes} not null,
        primary key (connection_id, job_id, attempt, part),
        foreign key (connection_id, job_id) references jobs (connection_id, id) on delete cascade
      )`.execute(db);
    await sql`create index job_logs_old on job_logs (ended_at)`.execute(db);
    await sql`create index job_logs_of_workspace on job_logs (workspace_id)`.execute(db);
    await sql`
      create table job_logs_wanted (
        workspace_id ${uuid} not null references workspaces (id),
        connection_id ${uuid} not null,
        job_id ${text} not null,
        due_at bigint not null,
        primary key (connection_id, job_id),
        foreign key (connection_id, job_id) references jobs (connection_id, id) on delete cascade
      )`.execute(db);
    await sql`create index job_logs_due on job_logs_wanted (due_at)`.execute(db);
    await sql`create index job_logs_wanted_of_workspace on job_logs_wanted (workspace_id)`.execute(db);
  },

  '0021-own-choices': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const add = async (table: string, column: string, type: ReturnType<typeof sql>) =>
      await sql`alter table ${sql.table(table)} add column ${sql.ref(column)} ${type}`.execute(db);
    for (const column of ['paused', 'status_version', 'applied_status_version', 'removal_due', 'own_schedule']) {
      await add('connections', column, sql`integer not null default 0`);
    }
    await add('connections', 'own_streams', text);
    await add('connections', 'customer_may_change', text);
    await add('connection_templates', 'customer_may_change', text);
    await sql`
      create table connection_catalogs (
        connection_id ${uuid} primary key references connections (id),
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        streams ${text} not null,
        read_at bigint not null
      )`.execute(db);
  },

  '0022-retired-templates': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`alter table rollouts add column action ${text} not null default 'version'`.execute(db);
  },

  '0023-quota-holds': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`alter table workspaces add column held_since bigint`.execute(db);
    await sql`alter table connections add column slowed_cron ${text}`.execute(db);
    await sql`alter table quotas add column review_after ${uuid}`.execute(db);
    await sql`create index quotas_to_review on quotas (id) where review_after is not null`.execute(db);
    await sql`
      create table quota_holds (
        workspace_id ${uuid} primary key references workspaces (id),
        organization_id ${uuid} not null references organizations (id),
        quota ${text} not null,
        quota_limit bigint not null,
        used bigint not null,
        until bigint not null
      )`.execute(db);
    await sql`create index quota_holds_by_end on quota_holds (until)`.execute(db);
  },

  '0024-sync-limits': async (db) => {
    await sql`alter table workspaces add column sync_limit bigint`.execute(db);
    await sql`alter table workspaces add column sync_limit_kept integer not null default 0`.execute(db);
  },

  '0025-idempotency-keys': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    await sql`
      create table idempotency_keys (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        slot text not null,
        claim ${uuid} not null,
        lease_until bigint not null,
        applied_at bigint,
        answered_at bigint,
        sealed_record text not null,
        expires_at bigint not null,
        unique (organization_id, slot)
      )`.execute(db);
    await sql`create index idempotency_keys_by_end on idempotency_keys (expires_at)`.execute(db);
  },

  '0026-old-counts': async (db) => {
    await sql`create index usage_days_by_day on usage_days (day)`.execute(db);
    await sql`create index job_hours_by_hour on job_hours (hour)`.execute(db);
  },

  '0027-log': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    const serial =
      kind === 'postgres'
        ? sql`bigint generated always as identity primary key`
        : sql`integer primary key autoincrement`;
    // What an entry says of itself. The audit trail's columns are here from the beginning, so that no row is ever rewritten.
    const said = sql`
        id ${uuid} not null,
        organization_id ${uuid} not null,
        type ${text} not null,
        workspace_id ${uuid},
        workspace_name ${text},
        data ${text} not null,
        recorded_at bigint not null,
        actor_kind ${text} not null,
        actor_id ${text},
        actor_name ${text},
        request_id ${text},
        trace_id ${text},
        outcome ${text} not null,
        patch ${text},
        personal_commitment ${text}`;
    await sql`create table log_pending (number ${serial}, is_event integer not null, ${said})`.execute(db);
    await sql`
      create table log_entries (
        ${said},
        trail_position bigint not null,
        position bigint,
        sequenced_at bigint not null,
        hash ${text},
        primary key (organization_id, trail_position)
      )`.execute(db);
    await sql`create unique index log_entries_by_id on log_entries (id)`.execute(db);
    for (const [name, columns] of [
      ['position', sql`organization_id, position`],
      ['type', sql`organization_id, type, position`],
      ['workspace', sql`organization_id, workspace_id, type, position`],
      ['workspace_position', sql`organization_id, workspace_id, position`],
      ['time', sql`organization_id, sequenced_at, position`],
    ] as const) {
      const unique = name === 'position' ? sql`unique` : sql``;
      await sql`
        create ${unique} index ${sql.raw(`log_entries_by_${name}`)} on log_entries (${columns})
        where position is not null`.execute(db);
    }
    await sql`
      create table log_heads (
        organization_id ${uuid} primary key,
        position bigint not null,
        trail_position bigint not null,
        sequenced_at bigint not null,
        hash ${text}
      )`.execute(db);
    await sql`
      create table log_sequencer (
        id integer primary key check (id = 1),
        lease_id ${uuid},
        lease_until bigint not null
      )`.execute(db);
    await sql`insert into log_sequencer (id, lease_until) values (1, 0)`.execute(db);

    await sql`alter table sources add column needs_attention integer not null default 0`.execute(db);
    await sql`
      update sources set needs_attention = 1
      where lifecycle = 'live' and id in (
        select source_id from connections where health = 'needs_attention' and deleted_at is null)`.execute(db);
    await sql`
      create table quota_notices (
        workspace_id ${uuid} not null references workspaces (id),
        organization_id ${uuid} not null references organizations (id),
        quota ${text} not null,
        level ${text} not null,
        quota_limit bigint not null,
        period bigint not null,
        primary key (workspace_id, quota, level, quota_limit, period)
      )`.execute(db);
  },

  '0028-webhooks': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table webhook_endpoints (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} references workspaces (id),
        url ${text} not null,
        description ${text},
        types ${text} not null,
        workspace_ids ${text},
        tags ${text},
        sealed_headers ${text} not null,
        signing ${text} not null,
        sealed_keys ${text} not null,
        rate integer,
        ordered integer not null,
        enabled integer not null,
        disabled_reason ${text},
        disabled_at bigint,
        read_until bigint not null,
        lease_id ${uuid},
        lease_until bigint not null,
        not_before bigint not null,
        failing_since bigint,
        failing_told integer not null,
        last_delivered_at bigint,
        created_at bigint not null,
        updated_at bigint not null
      )`.execute(db);
    await sql`create index webhook_endpoints_by_owner on webhook_endpoints (organization_id, workspace_id)`.execute(db);
    await sql`
      create table webhook_deliveries (
        endpoint_id ${uuid} not null references webhook_endpoints (id),
        organization_id ${uuid} not null,
        event_id ${uuid} not null,
        position bigint not null,
        event_type ${text} not null,
        state ${text} not null,
        attempts integer not null,
        next_at bigint,
        created_at bigint not null,
        delivered_at bigint,
        attempt_list ${text} not null,
        primary key (endpoint_id, position)
      )`.execute(db);
    await sql`
      create index webhook_deliveries_by_time on webhook_deliveries (endpoint_id, created_at, event_id)`.execute(db);
    await sql`
      create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_at)
      where state = 'pending'`.execute(db);
    await sql`
      create index webhook_deliveries_by_age on webhook_deliveries (created_at) where state <> 'pending'`.execute(db);
  },

  '0029-audit': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    // Patches and personal fields wait in `log_pending`; with its position, an entry gets commitments to them instead.
    await sql`alter table log_pending drop column personal_commitment`.execute(db);
    await sql`alter table log_pending add column personal ${text}`.execute(db);
    await sql`alter table log_entries drop column patch`.execute(db);
    await sql`alter table log_entries drop column personal_commitment`.execute(db);
    await sql`alter table log_entries add column commitments ${text}`.execute(db);
    await sql`
      create table log_personal (
        entry_id ${uuid} not null,
        field ${text} not null,
        organization_id ${uuid} not null,
        salt ${text} not null,
        value ${text} not null,
        primary key (entry_id, field)
      )`.execute(db);

    for (const column of ['checkpoint_position', 'checkpoint_at', 'cut_until', 'events_after']) {
      await sql`alter table log_heads add column ${sql.ref(column)} bigint not null default 0`.execute(db);
    }
    // Entries removed before this version had no checkpoint. Readers get the same answer as before.
    await sql`
      update log_heads set events_after = coalesce(
        (select min(position) - 1 from log_entries where log_entries.organization_id = log_heads.organization_id),
        position)`.execute(db);
    await sql`
      create table audit_keys (
        kid ${text} primary key,
        public_jwk ${text} not null,
        sealed_private_key ${text} not null,
        created_at bigint not null
      )`.execute(db);
    await sql`
      create table audit_checkpoints (
        organization_id ${uuid} not null,
        position bigint not null,
        hash ${text} not null,
        signed_at bigint not null,
        key_id ${text} not null,
        signature ${text} not null,
        primary key (organization_id, position)
      )`.execute(db);

    await sql`drop index log_entries_by_time`.execute(db);
    for (const [name, columns, condition] of [
      ['time', sql`organization_id, sequenced_at, trail_position`, sql``],
      ['trail_type', sql`organization_id, type, trail_position`, sql``],
      [
        'trail_workspace',
        sql`organization_id, workspace_id, type, trail_position`,
        sql`where workspace_id is not null`,
      ],
      ['trail_actor', sql`organization_id, actor_id, trail_position`, sql`where actor_id is not null`],
      ['trail_refused', sql`organization_id, trail_position`, sql`where outcome = 'refused'`],
    ] as const) {
      await sql`
        create index ${sql.raw(`log_entries_by_${name}`)} on log_entries (${columns}) ${condition}`.execute(db);
    }
    for (const statement of auditGuards[kind]) await statement.execute(db);
  },

  '0030-template-categories': async (db) => {
    await sql`alter table source_templates add column category text`.execute(db);
  },

  '0031-own-source-definitions': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table source_definitions (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        name ${text} not null,
        icon ${text},
        version integer not null,
        created_at bigint not null,
        updated_at bigint not null,
        deleted_at bigint
      )`.execute(db);
    await sql`create index source_definitions_by_organization on source_definitions (organization_id)`.execute(db);
    await sql`
      create table source_definition_versions (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        definition_id ${uuid} not null references source_definitions (id),
        number integer not null,
        sealed_manifest ${text} not null,
        content ${text} not null,
        created_at bigint not null,
        unique (definition_id, number)
      )`.execute(db);
    await sql`
      create table placed_definitions (
        id ${uuid} primary key references sources (id),
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        applied_version integer not null,
        platform_id ${text},
        no_post_before bigint not null,
        failure ${text},
        customer_failure ${text},
        created_at bigint not null,
        deleted_at bigint
      )`.execute(db);
    await sql`create index placed_definitions_by_workspace on placed_definitions (workspace_id)`.execute(db);
    await sql`alter table sources add column definition_version integer not null default 0`.execute(db);
    await sql`
      create index sources_by_own_definition on sources (organization_id, definition_id, definition_version)
      where definition_version > 0`.execute(db);
  },

  '0032-changes-of-connectors': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    await sql`
      create table definition_changes_told (
        change_id ${uuid} primary key,
        told_at bigint not null
      )`.execute(db);
  },

  '0033-requests-of-jobs': async (db) => {
    await sql`alter table jobs add column request_id text`.execute(db);
    await sql`alter table jobs add column trace_id text`.execute(db);
  },

  '0034-oauth-clients': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table oauth_clients (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        callback_key ${text} not null unique,
        name ${text} not null,
        preset ${text},
        issuer ${text},
        provider ${text},
        client_id ${text} not null,
        sealed_secrets ${text} not null,
        secret_expires_at bigint,
        secret_hosts ${text} not null,
        authorization_params ${text} not null,
        token_params ${text} not null,
        created_at bigint not null,
        updated_at bigint not null
      )`.execute(db);
    await sql`create index oauth_clients_by_organization on oauth_clients (organization_id, created_at)`.execute(db);
  },

  '0035-sign-ins': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table credentials (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        oauth_client_id ${uuid} not null,
        source_template_id ${uuid} not null,
        grant_kind ${text} not null,
        owner ${text} not null,
        state ${text} not null,
        reason ${text},
        sealed_tokens ${text} not null,
        generation bigint not null,
        access_expires_at bigint,
        refresh_due_at bigint,
        failures integer not null,
        used_at bigint,
        scopes ${text} not null,
        provider_values ${text} not null,
        account_id ${text},
        account_label ${text},
        tried_generation bigint,
        tries integer not null,
        lease_id ${uuid},
        lease_until bigint not null,
        last_error ${text},
        revoke_due_at bigint,
        revoke_tries integer not null,
        revocation ${text},
        created_at bigint not null,
        updated_at bigint not null,
        signed_in_at bigint not null,
        ended_at bigint
      )`.execute(db);
    await sql`create index credentials_by_workspace on credentials (workspace_id, created_at)`.execute(db);
    await sql`create index credentials_by_client on credentials (oauth_client_id, account_id)`.execute(db);
    await sql`
      create index credentials_to_refresh on credentials (refresh_due_at) where refresh_due_at is not null`.execute(db);
    await sql`
      create index credentials_to_revoke on credentials (revoke_due_at) where revoke_due_at is not null`.execute(db);
    await sql`
      create table oauth_flows (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        oauth_client_id ${uuid} not null,
        source_template_id ${uuid} not null,
        source_id ${uuid},
        token_id ${text},
        origin ${text},
        is_framed integer not null,
        customer_label ${text},
        return_to ${text},
        state ${text} not null,
        start_hash ${text} not null unique,
        state_hash ${text} unique,
        cookie_hash ${text},
        sealed_secrets ${text} not null,
        issuer ${text},
        scopes ${text} not null,
        provider_values ${text} not null,
        credential_id ${uuid},
        account_label ${text},
        missing_scopes ${text} not null,
        failure ${text},
        failure_detail ${text},
        link_until bigint,
        is_test integer not null,
        created_at bigint not null,
        expires_at bigint not null,
        ended_at bigint
      )`.execute(db);
    await sql`create index oauth_flows_by_workspace on oauth_flows (workspace_id, created_at)`.execute(db);
    await sql`create index oauth_flows_by_end on oauth_flows (expires_at)`.execute(db);
    await sql`alter table sources add column credential_id ${uuid}`.execute(db);
    await sql`
      create index sources_by_credential on sources (credential_id) where credential_id is not null`.execute(db);
    await sql`alter table source_templates add column oauth ${text}`.execute(db);
    await sql`alter table oauth_clients add column sealed_account_key ${text} not null default ''`.execute(db);
    await sql`alter table oauth_clients add column definition_id ${uuid}`.execute(db);
  },

  '0036-roles-of-operator-tokens': async (db) => {
    await sql`alter table operator_tokens add column role text`.execute(db);
  },

  '0037-console': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table console_sessions (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        hash ${text} not null unique,
        kind ${text} not null,
        permission ${text} not null,
        label ${text} not null,
        token_id ${uuid} references operator_tokens (id),
        link_id ${uuid},
        issuer ${text},
        subject ${text},
        created_at bigint not null,
        last_used_at bigint not null,
        ends_at bigint not null,
        ended_at bigint
      )`.execute(db);
    await sql`
      create index console_sessions_by_organization
      on console_sessions (organization_id, created_at) where ended_at is null`.execute(db);
    await sql`create index console_sessions_by_end on console_sessions (ends_at)`.execute(db);
    await sql`
      create table console_links (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        hash ${text} not null unique,
        permission ${text} not null,
        label ${text} not null,
        created_at bigint not null,
        expires_at bigint not null,
        used_at bigint
      )`.execute(db);
    await sql`create index console_links_by_end on console_links (expires_at)`.execute(db);
    await sql`
      create table console_sign_ins (
        id ${uuid} primary key,
        state_hash ${text} not null unique,
        cookie_hash ${text} not null,
        replaces_organization_id ${uuid},
        replaces_session_id ${uuid},
        created_at bigint not null,
        expires_at bigint not null
      )`.execute(db);
    await sql`create index console_sign_ins_by_end on console_sign_ins (expires_at)`.execute(db);
  },

  '0038-causes-and-stale-connections': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    // Filled when the health of a connection is next worked out: every connection is looked at from time to time.
    for (const column of [
      sql`cause ${text}`,
      sql`attention_by ${text}`,
      sql`unwell_since bigint`,
      sql`stale_at bigint`,
    ]) {
      await sql`alter table connections add column ${column}`.execute(db);
    }
    // What follows the sort key is there so that causes are counted in the index alone.
    await sql`
      create index connections_by_cause
      on connections (organization_id, cause, created_at, id, unwell_since, health, attention_by)
      where cause is not null and deleted_at is null`.execute(db);
    await sql`
      create index connections_by_attention on connections (organization_id, attention_by, created_at, id)
      where attention_by is not null and deleted_at is null`.execute(db);
    await sql`
      create index connections_stale on connections (organization_id, stale_at, id)
      where stale_at is not null and deleted_at is null`.execute(db);
  },

  '0039-orders-of-workspaces': async (db) => {
    await sql`alter table workspaces add column active_at bigint not null default 0`.execute(db);
    await sql`
      update workspaces set active_at = coalesce(
        (select max(started_at) from jobs where jobs.workspace_id = workspaces.id), 0)`.execute(db);
    // As pipelines/workspace-list.store.ts sorts. With the health as well, so that a page of those that fail is not sorted.
    for (const [name, key] of [
      ['name', sql`substr(name_folded, 1, 100), id`],
      ['activity', sql`active_at desc, id desc`],
    ] as const) {
      const on = (which: string) =>
        sql`create index ${sql.ref(`workspaces_in_order_of_${name}${which}`)} on workspaces`;
      await sql`${on('')} (organization_id, ${key}) where lifecycle <> 'deleted'`.execute(db);
      await sql`${on('_by_health')} (organization_id, health, ${key}) where lifecycle <> 'deleted'`.execute(db);
    }
    await sql`
      create index workspaces_unwell_first
      on workspaces (organization_id, coalesce(unwell_since, 9007199254740991), id)
      where lifecycle <> 'deleted'`.execute(db);
  },

  '0040-warnings-of-oauth-secrets': async (db) => {
    await sql`alter table oauth_clients add column secret_warned_days integer`.execute(db);
  },

  '0041-numbers-and-their-lists': async (db, kind) => {
    // Stable, as SQLite's is in effect: PostgreSQL looks for a time in an index only if it may ask for the time once. As a
    // volatile function it was asked again for every entry of the index.
    if (kind === 'postgres') {
      await sql`
        create or replace function now_ms() returns bigint language sql stable
        as 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint'`.execute(db);
    }
    await sql`alter table connections add column is_leaving integer not null default 0`.execute(db);
    await sql`
      update connections set is_leaving = 1
      where source_id in (select id from sources where lifecycle <> 'live')`.execute(db);
    for (const statement of leavingTriggers[kind]) await statement.execute(db);

    const onConnections = kind === 'postgres' ? sql` on connections` : sql``;
    await sql`drop trigger connections_health_added${onConnections}`.execute(db);
    await sql`drop trigger connections_health_changed${onConnections}`.execute(db);
    if (kind === 'postgres') {
      await sql`drop function connections_count_added_health(), connections_count_changed_health()`.execute(db);
    }
    for (const statement of healthCountingTriggers[kind](listedConnections)) await statement.execute(db);
    await sql`delete from health_counts where kind = 'connections'`.execute(db);
    await countByHealth(db, listedConnections);

    // As in 0038, without the connections that no list shows.
    const isListed = sql`deleted_at is null and is_leaving = 0`;
    for (const name of ['by_cause', 'by_attention', 'stale']) {
      await sql`drop index ${sql.ref(`connections_${name}`)}`.execute(db);
    }
    await sql`
      create index connections_by_cause
      on connections (organization_id, cause, created_at, id, unwell_since, health, attention_by)
      where cause is not null and ${isListed}`.execute(db);
    await sql`
      create index connections_by_attention on connections (organization_id, attention_by, created_at, id)
      where attention_by is not null and ${isListed}`.execute(db);
    await sql`
      create index connections_stale on connections (organization_id, stale_at, id)
      where stale_at is not null and ${isListed}`.execute(db);

    // The jobs behind the numbers of hours and days, and those that wait.
    const lastEnded = sql`ended_at desc, id desc) where ended_at is not null`;
    await sql`create index jobs_ended on jobs (organization_id, ${lastEnded}`.execute(db);
    await sql`create index jobs_ended_by_status on jobs (organization_id, status, ${lastEnded}`.execute(db);
    await sql`
      create index jobs_waiting on jobs (organization_id, started_at desc, id desc)
      where ended_at is null and status <> 'running'`.execute(db);
    await sql`
      create index log_entries_by_trail_actor_kind on log_entries (organization_id, actor_kind, trail_position)`.execute(
      db,
    );
    await sql`
      create index log_entries_by_trail_of_workspace on log_entries (organization_id, workspace_id, trail_position)
      where workspace_id is not null`.execute(db);
    await sql`
      create index webhook_deliveries_by_state
      on webhook_deliveries (endpoint_id, state, created_at, event_id)`.execute(db);
    await sql`alter table job_logs add column first_error_offset bigint`.execute(db);
    await sql`alter table jobs add column row_points text`.execute(db);
  },

  '0042-replicas': async (db) => {
    await sql`
      create table replicas (
        id text primary key,
        host text not null,
        version text not null,
        started_at bigint not null,
        last_seen_at bigint not null
      )`.execute(db);
  },

  '0043-orders-by-status': async (db) => {
    await sql`drop index jobs_ended`.execute(db);
    await sql`
      create index jobs_ended on jobs (organization_id, coalesce(ended_at, -1) desc, id desc)
      where ended_at is not null`.execute(db);
    // With every column that is requested, also those of the condition: SQLite then counts causes in the index alone.
    await sql`drop index connections_by_cause`.execute(db);
    await sql`
      create index connections_by_cause
      on connections (organization_id, cause, created_at, id, unwell_since, attention_by, deleted_at, is_leaving)
      where cause is not null and deleted_at is null and is_leaving = 0`.execute(db);
    // As in 0039: a page of inactive customers, of which there are few, is not looked for among all.
    for (const [name, key] of [
      ['name', sql`substr(name_folded, 1, 100), id`],
      ['activity', sql`active_at desc, id desc`],
      ['trouble', sql`coalesce(unwell_since, 9007199254740991), id`],
    ] as const) {
      await sql`
        create index ${sql.ref(`workspaces_in_order_of_${name}_by_status`)} on workspaces (organization_id, status, ${key})
        where lifecycle <> 'deleted'`.execute(db);
    }
  },

  '0044-authors-of-manifests': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    await sql`alter table source_definition_versions add column copy_of integer`.execute(db);
    await sql`
      alter table source_definition_versions add column made_by ${uuid} references operator_tokens (id)`.execute(db);
    // With the lifecycle as well: sources of a version are counted in the index alone.
    await sql`drop index sources_by_own_definition`.execute(db);
    await sql`
      create index sources_by_own_definition on sources (organization_id, definition_id, definition_version, lifecycle)
      where definition_version > 0`.execute(db);
  },

  '0045-people-who-made-versions': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    for (const table of ['template_versions', 'source_definition_versions'] as const) {
      // Not a reference: sessions are deleted a week after their end.
      await sql`alter table ${sql.table(table)} add column session_id ${uuid}`.execute(db);
      await sql`alter table ${sql.table(table)} add column session_label text`.execute(db);
    }
  },

  '0046-cause-retries': async (db, kind) => {
    const uuid = kind === 'postgres' ? sql`uuid` : sql`text`;
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table cause_retries (
        id ${uuid} primary key,
        organization_id ${uuid} not null references organizations (id),
        cause ${text} not null,
        message ${text},
        state ${text} not null check (state in ('running', 'stopped', 'finished')),
        state_reason ${text},
        has_more integer not null,
        request_id ${text},
        trace_id ${text},
        created_at bigint not null,
        ended_at bigint,
        due_at bigint not null,
        lease_id ${text},
        lease_until bigint not null
      )`.execute(db);
    await sql`
      create index cause_retries_newest on cause_retries (organization_id, created_at desc, id desc)`.execute(db);
    await sql`create index cause_retries_running on cause_retries (due_at) where state = 'running'`.execute(db);
    await sql`create index cause_retries_ended on cause_retries (ended_at) where ended_at is not null`.execute(db);
    // One at a time, so that no connection is in two of them.
    await sql`
      create unique index cause_retries_open on cause_retries (organization_id, cause) where state = 'running'`.execute(
      db,
    );
    await sql`
      create table cause_retry_items (
        retry_id ${uuid} not null references cause_retries (id),
        organization_id ${uuid} not null references organizations (id),
        workspace_id ${uuid} not null references workspaces (id),
        connection_id ${uuid} not null references connections (id),
        state ${text} not null check (state in ('waiting', 'starting', 'started', 'skipped', 'refused')),
        code ${text},
        last_job_id ${text},
        look_at bigint,
        job_id ${text},
        primary key (retry_id, connection_id)
      )`.execute(db);
    await sql`create index cause_retry_items_by_state on cause_retry_items (retry_id, state, connection_id)`.execute(
      db,
    );
  },
  // Providers could say anything about the life of a token, and a time that no calendar has cannot be shown. Ten years are
  // the most that is believed since.
  '0047-lives-of-tokens': async (db) => {
    const most = sql.lit(3_650 * 86_400_000);
    await sql`
      update credentials set access_expires_at = updated_at + ${most}
      where access_expires_at > updated_at + ${most}`.execute(db);
    await sql`
      update credentials set refresh_due_at = updated_at + ${most}
      where refresh_due_at > updated_at + ${most}`.execute(db);
  },
  '0048-resumed-sign-ins': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`alter table oauth_flows add column sealed_entered ${text} not null default ''`.execute(db);
    await sql`alter table oauth_flows add column offer_later integer not null default 0`.execute(db);
  },
  // Tokens that earlier versions handed over to a platform. If it is Inlay's own, nobody refreshes them there: once they have
  // ended, the customer is asked to sign in again (oauth/refresh.worker.ts).
  '0049-ends-of-handed-over-tokens': async (db) => {
    await sql`
      update credentials set refresh_due_at = access_expires_at
      where owner = 'platform' and sealed_tokens = '' and state = 'connected' and access_expires_at is not null`.execute(
      db,
    );
  },
  // Null in a checkpoint of an earlier version: its signature says nothing of cuts.
  '0050-signed-cuts': async (db, kind) => {
    await sql`alter table audit_checkpoints add column cut text`.execute(db);
    for (const statement of statedCutGuard[kind]) await statement.execute(db);
    await sql`create index audit_checkpoints_by_time on audit_checkpoints (organization_id, signed_at)`.execute(db);
    await sql`alter table audit_keys add column binds_time integer not null default 0`.execute(db);
  },
  '0051-encryption-keys-of-replicas': async (db) => {
    await sql`alter table replicas add column process text`.execute(db);
    await sql`alter table replicas add column encryption_keys text`.execute(db);
  },
  '0052-ids-of-jobs-on-the-platform': async (db) => {
    await sql`alter table jobs add column platform_id text`.execute(db);
    // Their ids were handed out, and stay.
    await sql`update jobs set platform_id = id`.execute(db);
    await sql`create unique index jobs_by_platform_id on jobs (connection_id, platform_id)`.execute(db);
  },
  '0053-destinations-and-clocks': async (db) => {
    await sql`
      create index destinations_of_template on destinations (connection_template_id, workspace_id)
      where deleted_at is null`.execute(db);
    for (const table of ['destinations', 'credentials']) {
      await sql`
        create index ${sql.ref(`${table}_leased`)} on ${sql.table(table)} (lease_until) where lease_id is not null`.execute(
        db,
      );
    }
    await sql`alter table job_watch add column clock_at bigint not null default 0`.execute(db);
  },

  '0054-unconfirmed-contents': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    for (const table of ['sources', 'destinations', 'connections', 'placed_definitions']) {
      await sql`alter table ${sql.table(table)} add column unconfirmed ${text}`.execute(db);
    }
  },

  '0055-reserved-syncs': async (db) => {
    await sql`alter table connections add column starting_until bigint not null default 0`.execute(db);
  },
  '0056-confirmed-addresses': async (db) => {
    await sql`alter table source_definitions add column confirmed_addresses text`.execute(db);
  },
  '0057-definition-copies': async (db) => {
    await sql`alter table placed_definitions rename to definition_copies`.execute(db);
    await sql`drop index placed_definitions_by_workspace`.execute(db);
    await sql`create index definition_copies_by_workspace on definition_copies (workspace_id)`.execute(db);
  },
  '0058-codes-of-failures': async (db) => {
    const remote = ['sources', 'destinations', 'connections', 'definition_copies'];
    for (const table of remote) await sql`alter table ${sql.table(table)} add column failure_reasons text`.execute(db);
    for (const table of ['jobs', 'source_checks', 'destination_checks', 'cause_retries']) {
      await sql`alter table ${sql.table(table)} add column reasons text`.execute(db);
    }
    await sql`alter table cause_retries add column stop_code text`.execute(db);
    // Who has to act was read from these two sentences until now.
    for (const [text, code] of Object.entries(codesOfTexts)) {
      const reasons = JSON.stringify({ operator: null, customer: { code, parameters: {} } });
      for (const table of remote) {
        await sql`update ${sql.table(table)} set failure_reasons = ${reasons} where customer_failure = ${text}`.execute(
          db,
        );
      }
      const told = `"customerWhat":${JSON.stringify(text)}`;
      await sql`
        update connections set health_detail = replace(health_detail, ${told}, ${`${told},"reasons":${reasons}`})
        where health = 'needs_attention'`.execute(db);
    }
  },
  '0059-scheduled-backups': async (db, kind) => {
    const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
    await sql`
      create table scheduled_backups (
        id integer primary key check (id = 1),
        ran_at bigint not null,
        made_at bigint,
        lease_id ${text},
        lease_until bigint not null
      )`.execute(db);
    await sql`insert into scheduled_backups (id, ran_at, lease_until) values (1, now_ms(), 0)`.execute(db);
  },
};

const codesOfTexts = {
  'There is a problem on our side, and our team can see it. You do not have to change anything.': 'problem_on_our_side',
  'The access to your account has ended. Sign in again to go on.': 'sign_in_ended',
};

/** Columns of later migrations are not there yet. */
type FirstVersion = Omit<TemplateVersionRow, 'session_id' | 'session_label'>;

/** Versions of existing templates in their current state. Earlier states were not recorded. */
async function firstVersions(db: Kysely<Tables>): Promise<FirstVersion[]> {
  const tagsOf = async (table: 'source_template_tags' | 'connection_template_tags', id: string) => {
    const { rows } = await sql<{ name: string }>`
      select name from ${sql.table(table)} join template_tags on template_tags.id = tag_id
      where template_id = ${id} order by name`.execute(db);
    return rows.map(({ name }) => name);
  };
  const versions: FirstVersion[] = [];
  const first = { number: 1, copy_of: null, made_by: null } as const;
  for (const row of await db.selectFrom('source_templates').selectAll().execute()) {
    const { id, organization_id, name, description, own_icon: icon, created_at } = row;
    const tags = await tagsOf('source_template_tags', id);
    const content = { name, description, icon, customization: JSON.parse(row.customization), tags };
    versions.push({
      ...{ id, organization_id, template_id: id, kind: 'source', ...first, created_at },
      content: JSON.stringify(content),
      sealed_configuration: row.sealed_defaults,
    });
  }
  for (const row of await db.selectFrom('connection_templates').selectAll().execute()) {
    const { id, organization_id, destination_name, cron_expression, namespace_format, prefix, created_at } = row;
    const content = {
      destination_name,
      cron_expression,
      non_breaking_changes_preference: row.non_breaking_changes_preference,
      sync_on_create: row.sync_on_create === 1,
      namespace_format,
      prefix,
      tags: await tagsOf('connection_template_tags', id),
    };
    versions.push({
      ...{ id, organization_id, template_id: id, kind: 'connection', ...first, created_at },
      content: JSON.stringify(content),
      sealed_configuration: row.sealed_destination_config,
    });
  }
  return versions;
}

/**
 * These triggers keep `workspace_counts` right, in the transaction that changes a workspace. On PostgreSQL each session
 * adds to its own part of the count, so that two sessions that create workspaces at once do not wait for each other.
 */
const countingTriggers = {
  sqlite: [
    sql`
      create trigger workspaces_added after insert on workspaces when new.lifecycle <> 'deleted' begin
        insert into workspace_counts (organization_id, status, part, count)
        values (new.organization_id, new.status, 0, 1)
        on conflict (organization_id, status, part) do update set count = count + 1;
      end`,
    sql`
      create trigger workspaces_changed after update of status, lifecycle on workspaces
      when old.status <> new.status or old.lifecycle <> new.lifecycle begin
        update workspace_counts set count = count - 1
        where organization_id = old.organization_id and status = old.status and old.lifecycle <> 'deleted';
        insert into workspace_counts (organization_id, status, part, count)
        select new.organization_id, new.status, 0, 1 where new.lifecycle <> 'deleted'
        on conflict (organization_id, status, part) do update set count = count + 1;
      end`,
  ],
  postgres: [
    sql`
      create function count_added_workspaces() returns trigger language plpgsql as '
      begin
        insert into workspace_counts (organization_id, status, part, count)
        select organization_id, status, pg_backend_pid() % 256, count(*) from added where lifecycle <> ''deleted''
        group by organization_id, status order by organization_id, status
        on conflict (organization_id, status, part) do update set count = workspace_counts.count + excluded.count;
        return null;
      end'`,
    sql`
      create trigger workspaces_added after insert on workspaces referencing new table as added
      for each statement execute function count_added_workspaces()`,
    sql`
      create function count_changed_workspace() returns trigger language plpgsql as '
      begin
        insert into workspace_counts (organization_id, status, part, count)
        select organization_id, status, pg_backend_pid() % 256, sum(change) from (values
          (old.organization_id, old.status, case old.lifecycle when ''deleted'' then 0 else -1 end),
          (new.organization_id, new.status, case new.lifecycle when ''deleted'' then 0 else 1 end)
        ) as changes (organization_id, status, change)
        group by organization_id, status having sum(change) <> 0 order by organization_id, status
        on conflict (organization_id, status, part) do update set count = workspace_counts.count + excluded.count;
        return null;
      end'`,
    sql`
      create trigger workspaces_changed after update of status, lifecycle on workspaces for each row
      when (old.status <> new.status or old.lifecycle <> new.lifecycle) execute function count_changed_workspace()`,
  ],
};

interface CountedByHealth {
  table: 'connections' | 'sources' | 'workspaces';
  /** What decides, beside the health, whether a row is counted. */
  columns: readonly string[];
  isCounted(row: string): string;
}

/** What `health_counts` counts: the rows that lists show. */
const countedByHealth: readonly CountedByHealth[] = [
  { table: 'connections', columns: ['deleted_at'], isCounted: (row) => `${row}deleted_at is null` },
  { table: 'sources', columns: ['lifecycle'], isCounted: (row) => `${row}lifecycle = 'live'` },
  { table: 'workspaces', columns: ['lifecycle'], isCounted: (row) => `${row}lifecycle <> 'deleted'` },
];

/** Since 0041: no list shows a connection whose source is being deleted. */
const listedConnections: CountedByHealth = {
  table: 'connections',
  columns: ['deleted_at', 'is_leaving'],
  isCounted: (row) => `${row}deleted_at is null and ${row}is_leaving = 0`,
};

async function countByHealth(db: Kysely<Tables>, { table, isCounted }: CountedByHealth): Promise<void> {
  await sql`
    insert into health_counts (organization_id, kind, health, part, count)
    select organization_id, ${sql.lit(table)}, health, 0, count(*) from ${sql.table(table)}
    where ${sql.raw(isCounted(''))} group by organization_id, health`.execute(db);
}

/**
 * These triggers keep `health_counts` right. A transaction may change the health of many connections, so on PostgreSQL it
 * must not wait for the counts of another: it adds to any part that nobody has locked, or to a new part. There are never
 * more parts than transactions at the same time.
 */
const healthCountingTriggers = {
  sqlite({ table, columns, isCounted }: CountedByHealth) {
    const name = (what: string) => sql.raw(`${table}_${what}`);
    const added = sql.raw(`
      insert into health_counts (organization_id, kind, health, part, count)
      select new.organization_id, '${table}', new.health, 0, 1 where ${isCounted('new.')}
      on conflict (organization_id, kind, health, part) do update set count = count + 1;`);
    return [
      sql`create trigger ${name('health_added')} after insert on ${sql.table(table)} begin ${added} end`,
      sql`
        create trigger ${name('health_changed')} after update of health, ${sql.raw(columns.join(', '))} on ${sql.table(table)}
        when old.health <> new.health or (${sql.raw(isCounted('old.'))}) <> (${sql.raw(isCounted('new.'))}) begin
          update health_counts set count = count - 1
          where organization_id = old.organization_id and kind = ${sql.lit(table)} and health = old.health
            and ${sql.raw(isCounted('old.'))};
          ${added}
        end`,
    ];
  },
  postgres({ table, columns, isCounted }: CountedByHealth) {
    const doubled = (condition: string) => sql.raw(condition.replaceAll("'", "''"));
    const name = (what: string) => sql.raw(`${table}_${what}`);
    return [
      sql`
        create function ${name('count_added_health')}() returns trigger language plpgsql as '
        begin
          perform count_health(organization_id, ''${sql.raw(table)}'', health, count(*)) from added
          where ${doubled(isCounted(''))} group by organization_id, health;
          return null;
        end'`,
      sql`
        create trigger ${name('health_added')} after insert on ${sql.table(table)} referencing new table as added
        for each statement execute function ${name('count_added_health')}()`,
      sql`
        create function ${name('count_changed_health')}() returns trigger language plpgsql as '
        begin
          if ${doubled(isCounted('old.'))} then
            perform count_health(old.organization_id, ''${sql.raw(table)}'', old.health, -1);
          end if;
          if ${doubled(isCounted('new.'))} then
            perform count_health(new.organization_id, ''${sql.raw(table)}'', new.health, 1);
          end if;
          return null;
        end'`,
      sql`
        create trigger ${name('health_changed')}
        after update of health, ${sql.raw(columns.join(', '))} on ${sql.table(table)}
        for each row
        when (old.health <> new.health or (${sql.raw(isCounted('old.'))}) <> (${sql.raw(isCounted('new.'))}))
        execute function ${name('count_changed_health')}()`,
    ];
  },
};

/** Only for PostgreSQL, and used by its triggers. */
const countHealthFunction = sql`
  create function count_health(organization uuid, what text, state text, change bigint)
  returns void language plpgsql as '
  declare free integer;
  begin
    select part into free from health_counts
    where organization_id = organization and kind = what and health = state limit 1 for update skip locked;
    if not found then
      free := floor(random() * 2000000000);
      insert into health_counts (organization_id, kind, health, part, count)
      values (organization, what, state, free, 0) on conflict do nothing;
    end if;
    update health_counts set count = count + change
    where organization_id = organization and kind = what and health = state and part = free;
  end'`;

/** These triggers keep `connections.is_leaving` right, in the transaction that changes a source. */
const leavingTriggers = {
  sqlite: [
    sql`
      create trigger sources_leaving after update of lifecycle on sources
      when (old.lifecycle = 'live') <> (new.lifecycle = 'live') begin
        update connections set is_leaving = case new.lifecycle when 'live' then 0 else 1 end where source_id = new.id;
      end`,
  ],
  postgres: [
    sql`
      create function follow_leaving_source() returns trigger language plpgsql as '
      begin
        update connections set is_leaving = case new.lifecycle when ''live'' then 0 else 1 end where source_id = new.id;
        return null;
      end'`,
    sql`
      create trigger sources_leaving after update of lifecycle on sources for each row
      when ((old.lifecycle = 'live') <> (new.lifecycle = 'live')) execute function follow_leaving_source()`,
  ],
};

const digitOf = (place: number) => `instr('0123456789abcdef', substr(id, ${place}, 1)) - 1`;
const slot = `(created_at * 4096 + (${digitOf(1)}) * 256 + (${digitOf(2)}) * 16 + ${digitOf(3)})`;
const slotOfNew = sql.raw(slot.replaceAll(/\b(created_at|id)\b/g, 'new.$1'));
const wordsOfSlot = sql`group_concat('o' || substr(organization_id, 1, 8) || ' ' || status || name_parts(name_folded), ' ')`;
// The text of a slot is rebuilt from all workspaces in the slot, of any organization. Mostly that is only the workspace
// that changed.
const slotMadeAnew = sql`
  begin
    delete from workspace_names where rowid = ${slotOfNew};
    insert into workspace_names (rowid, parts)
    select ${slotOfNew}, ${wordsOfSlot} from organizations cross join workspaces
    where workspaces.organization_id = organizations.id and workspaces.created_at = new.created_at
      and workspaces.id >= substr(new.id, 1, 3) and workspaces.id < substr(new.id, 1, 3) || 'g' and lifecycle <> 'deleted'
    having count(*) > 0;
  end`;

/** db/name-parts.ts explains these indexes. */
const namePartIndex = {
  sqlite: [
    sql`
      create virtual table workspace_names
      using fts5 (parts, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`,
    // Small pages: a search spends most of its time in a page, looking for the next slot that has all the words.
    sql`insert into workspace_names (workspace_names, rank) values ('pgsz', 512)`,
    sql`
      insert into workspace_names (rowid, parts)
      select ${sql.raw(slot)} as slot, ${wordsOfSlot} from workspaces where lifecycle <> 'deleted' group by slot order by slot`,
    sql`create trigger workspaces_named after insert on workspaces ${slotMadeAnew}`,
    sql`
      create trigger workspaces_renamed after update of name_folded, status, lifecycle on workspaces
      when old.name_folded <> new.name_folded or old.status <> new.status or old.lifecycle <> new.lifecycle
      ${slotMadeAnew}`,
  ],
  postgres: [
    sql`
      create function name_parts(organization uuid, name text) returns tsvector language sql immutable parallel safe
      as 'select array_to_tsvector(
        array(select substr(name, place, 3) from generate_series(1, length(name)) as place)
        || (''o'' || substr(organization::text, 1, 8)))'`,
    sql`
      alter table workspaces
      add column name_parts tsvector not null generated always as (name_parts(organization_id, name_folded)) stored`,
    sql`create index workspaces_by_name_part on workspaces using gin (name_parts) where lifecycle <> 'deleted'`,
  ],
};

/** New databases start with the result of the migrations up to this one (db/baseline.ts). */
const baselineThrough = '0058-codes-of-failures';

/** Raise it in the change that adds a migration after which earlier versions fail. */
const oldestCompatible = '1.0.0';

/** Longer than any migration takes on a large database. */
const patienceMs = 600_000;

/**
 * Brings the database to this version, and returns the names of the migrations it applied. All of them run in one
 * exclusive transaction, so that only one of several processes migrates, and a failure leaves nothing behind. The lock
 * ends with the transaction: no other kind of lock is safe behind a transaction pooler.
 */
export async function migrate(
  store: Pick<Store, 'kind' | 'db' | 'exclusively'>,
  onApplied?: OnApplied,
): Promise<string[]> {
  const history = await readSchemaHistory(store);
  assertCompatible(history, version);
  // Nearly every start finds nothing to do, and waits for nobody.
  if (history.pending.length === 0) return [];
  return await store.exclusively((tx) => applyPending(tx, schemaOf(store.kind), onApplied), patienceMs);
}

export const readSchemaHistory = ({ kind, db }: Pick<Store, 'kind' | 'db'>): Promise<SchemaHistory> =>
  readHistory(db, schemaOf(kind));

export const schemaOf = (kind: DatabaseKind): SchemaDefinition<Kysely<Tables>> => ({
  version,
  oldestCompatible,
  table: 'migrations',
  createTable: 'create table if not exists migrations (name text primary key, applied_at bigint not null)',
  now: 'now_ms()',
  migrations: Object.fromEntries(
    Object.entries(migrations).map(([name, step]) => [name, (tx: Kysely<Tables>) => step(tx, kind)]),
  ),
  // Loaded here and not at the start, because only a new database needs it.
  baseline: { through: baselineThrough, load: async () => (await import('./baseline.ts')).baselineOf(kind) },
});

/**
 * These triggers refuse to change or delete what the audit trail consists of. There is one way through, for retention: the
 * beginning of a trail, up to a checkpoint that is stored. They stop mistakes. `inlay audit verify` finds what someone does
 * who drops them, or who cuts what retention would have kept.
 */
const auditGuards = {
  sqlite: [
    ...(['log_entries', 'log_personal', 'audit_checkpoints'] as const).map(
      (table) => sql`
        create trigger ${sql.raw(`${table}_unchanged`)} before update on ${sql.table(table)} begin
          select raise(abort, 'The audit trail is never changed.');
        end`,
    ),
    sql`
      create trigger log_entries_kept before delete on log_entries
      when not exists (
        select 1 from log_heads where organization_id = old.organization_id and cut_until >= old.trail_position
      ) begin
        select raise(abort, 'Of the audit trail, only a beginning behind a checkpoint is deleted.');
      end`,
    sql`
      create trigger audit_checkpoints_kept before delete on audit_checkpoints
      when not exists (
        select 1 from log_heads where organization_id = old.organization_id and cut_until > old.position
      ) begin
        select raise(abort, 'Of the checkpoints of the audit trail, only those before its beginning are deleted.');
      end`,
    sql`
      create trigger log_heads_cut before update of cut_until on log_heads
      when new.cut_until <> old.cut_until and (new.cut_until < old.cut_until or not exists (
        select 1 from audit_checkpoints
        where organization_id = new.organization_id and position = new.cut_until
      )) begin
        select raise(abort, 'The audit trail is cut only at a checkpoint.');
      end`,
  ],
  postgres: [
    sql`
      create function refuse_audit_change() returns trigger language plpgsql as '
      begin
        raise exception ''The audit trail is never changed.'';
      end'`,
    ...(['log_entries', 'log_personal', 'audit_checkpoints'] as const).map(
      (table) => sql`
        create trigger ${sql.raw(`${table}_unchanged`)} before update on ${sql.table(table)}
        for each row execute function refuse_audit_change()`,
    ),
    ...(['log_entries', 'audit_checkpoints'] as const).map(
      (table) => sql`
        create trigger ${sql.raw(`${table}_not_emptied`)} before truncate on ${sql.table(table)}
        for each statement execute function refuse_audit_change()`,
    ),
    sql`
      create function keep_audit_entry() returns trigger language plpgsql as '
      begin
        if not exists (
          select 1 from log_heads where organization_id = old.organization_id and cut_until >= old.trail_position
        ) then
          raise exception ''Of the audit trail, only a beginning behind a checkpoint is deleted.'';
        end if;
        return old;
      end'`,
    sql`
      create trigger log_entries_kept before delete on log_entries
      for each row execute function keep_audit_entry()`,
    sql`
      create function keep_audit_checkpoint() returns trigger language plpgsql as '
      begin
        if not exists (
          select 1 from log_heads where organization_id = old.organization_id and cut_until > old.position
        ) then
          raise exception
            ''Of the checkpoints of the audit trail, only those before its beginning are deleted.'';
        end if;
        return old;
      end'`,
    sql`
      create trigger audit_checkpoints_kept before delete on audit_checkpoints
      for each row execute function keep_audit_checkpoint()`,
    sql`
      create function cut_audit_at_checkpoint() returns trigger language plpgsql as '
      begin
        if new.cut_until < old.cut_until or not exists (
          select 1 from audit_checkpoints
          where organization_id = new.organization_id and position = new.cut_until
        ) then
          raise exception ''The audit trail is cut only at a checkpoint.'';
        end if;
        return new;
      end'`,
    sql`
      create trigger log_heads_cut before update of cut_until on log_heads for each row
      when (new.cut_until <> old.cut_until) execute function cut_audit_at_checkpoint()`,
  ],
};

/**
 * A trail is cut only where a stored checkpoint says so. A replica of an earlier version, which does not sign cuts, leaves
 * retention to the others.
 */
const isStatedCut = sql`
  new.cut_until > old.cut_until and exists (
    select 1 from audit_checkpoints
    where organization_id = new.organization_id and cut like '{"position":' || new.cut_until || ',%'
  )`;
const statedCutGuard = {
  sqlite: [
    sql`drop trigger log_heads_cut`,
    sql`
      create trigger log_heads_cut before update of cut_until on log_heads
      when new.cut_until <> old.cut_until and not (${isStatedCut}) begin
        select raise(abort, 'The audit trail is cut only where a checkpoint says so.');
      end`,
  ],
  postgres: [
    sql`
      create or replace function cut_audit_at_checkpoint() returns trigger language plpgsql as $$
      begin
        if not (${isStatedCut}) then
          raise exception 'The audit trail is cut only where a checkpoint says so.';
        end if;
        return new;
      end $$`,
  ],
};
