/**
 * The schema of a new database, in one step instead of the migrations up to `baselineThrough`, whose result it is
 * (server/test/baseline.test.ts compares them). Later migrations run on new databases too, so nothing is added here until a
 * release moves the line. A statement ends where a line isn't indented. The file is long because it is the whole schema.
 */
import type { DatabaseKind } from './open.ts';

export function baselineOf(kind: DatabaseKind): string[] {
  const texts =
    kind === 'postgres'
      ? [postgresFunctions, tables(postgresTypes), indexes, postgresTriggers]
      : [tables(sqliteTypes), indexes, sqliteTriggers];
  const statements = texts.flatMap((text) => text.trim().split(/\n(?! )/));
  // PostgreSQL takes them in one request.
  return kind === 'postgres' ? [statements.join(';\n')] : statements;
}

const sqliteTypes = { uuid: 'text', text: 'text', bytes: 'blob', serial: 'integer primary key autoincrement' };
const postgresTypes = {
  uuid: 'uuid',
  // Bytewise order and comparison, whatever locale the database was created with.
  text: 'text collate "C"',
  bytes: 'bytea',
  serial: 'bigint generated always as identity primary key',
};

const tables = ({ uuid, text, bytes, serial }: typeof sqliteTypes) => `
create table organizations (
  id ${uuid} primary key, name ${text} not null, platform_organization_id ${text} not null,
  created_at bigint not null)
create table operator_tokens (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  name ${text} not null, hash ${text} not null unique,
  permission ${text} not null check (permission in ('full', 'read')), created_at bigint not null,
  expires_at bigint, last_used_at bigint, revoked_at bigint, role text)
create table signing_keys (
  kid ${text} primary key, public_jwk ${text} not null, sealed_private_key ${text} not null,
  created_at bigint not null, retired_at bigint)
create table workspaces (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  name ${text} not null, name_folded ${text} not null, desired_name ${text},
  status ${text} not null check (status in ('active', 'inactive')),
  lifecycle ${text} not null check (lifecycle in ('live', 'deleting', 'deleted')), gen integer not null,
  token_gen integer not null, created_at bigint not null, updated_at bigint not null, deleted_at bigint,
  name_gen integer not null default 1, name_settled_at bigint not null default 0,
  health ${text} not null default 'never_synced', unwell_since bigint, held_since bigint, sync_limit bigint,
  sync_limit_kept integer not null default 0, active_at bigint not null default 0,
  check ((lifecycle = 'deleted') = (deleted_at is not null)))
create table revoked_tokens (
  workspace_id ${uuid} not null references workspaces (id), jti ${text} not null, revoked_at bigint not null,
  expires_at bigint, primary key (workspace_id, jti))
create table name_claims (
  organization_id ${uuid} not null references organizations (id), name ${text} not null,
  state ${text} not null check (state in ('creating', 'bound')),
  workspace_id ${uuid} references workspaces (id), lease_id ${text} not null, lease_until bigint not null,
  no_post_before bigint not null, attempts integer not null, last_error ${text}, created_at bigint not null,
  primary key (organization_id, name), check ((state = 'bound') = (workspace_id is not null)))
create table operations (
  workspace_id ${uuid} not null references workspaces (id),
  kind ${text} not null check (kind in ('rename', 'status', 'delete', 'orphan_delete')),
  organization_id ${uuid} not null references organizations (id), lease_id ${text},
  lease_until bigint not null, next_at bigint not null, sending_until bigint not null,
  unsettled_until bigint not null, attempts integer not null, last_error ${text}, created_at bigint not null,
  primary key (workspace_id, kind))
create table paused_connections (
  workspace_id ${uuid} not null references workspaces (id), connection_id ${text} not null,
  primary key (workspace_id, connection_id))
create table template_tags (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  name ${text} not null, created_at bigint not null, updated_at bigint not null,
  unique (organization_id, name))
create table source_templates (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  name ${text} not null, definition_id ${uuid} not null, icon ${text}, sealed_defaults ${text} not null,
  customization ${text} not null, created_at bigint not null, updated_at bigint not null, deleted_at bigint,
  description text, own_icon text, version integer not null default 1, category text, oauth ${text})
create table connection_templates (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  destination_name ${text} not null, definition_id ${uuid} not null, icon ${text},
  sealed_destination_config ${text} not null, cron_expression ${text},
  non_breaking_changes_preference ${text} not null check (non_breaking_changes_preference in ('ignore', 'disable', 'propagate_columns', 'propagate_fully')),
  sync_on_create integer not null check (sync_on_create in (0, 1)), namespace_format ${text}, prefix ${text},
  created_at bigint not null, updated_at bigint not null, deleted_at bigint,
  version integer not null default 1, checked_at bigint, customer_may_change ${text})
create table source_template_tags (
  organization_id ${uuid} not null references organizations (id),
  template_id ${uuid} not null references source_templates (id),
  tag_id ${uuid} not null references template_tags (id), primary key (template_id, tag_id))
create table connection_template_tags (
  organization_id ${uuid} not null references organizations (id),
  template_id ${uuid} not null references connection_templates (id),
  tag_id ${uuid} not null references template_tags (id), primary key (template_id, tag_id))
create table sources (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), platform_id ${text},
  no_post_before bigint not null, failure ${text}, created_at bigint not null, deleted_at bigint,
  source_template_id ${uuid} not null references source_templates (id), name ${text} not null,
  slug ${text} not null, sealed_config ${text} not null, version integer not null,
  applied_version integer not null,
  lifecycle ${text} not null check (lifecycle in ('live', 'deleting', 'deleted')), due_at bigint,
  lease_id ${text}, lease_until bigint not null, attempts integer not null, last_error ${text},
  updated_at bigint not null, customer_failure text,
  definition_id ${uuid} not null default '00000000-0000-0000-0000-000000000000',
  health ${text} not null default 'never_synced', template_version integer not null default 0,
  applied_template_version integer not null default 0, needs_attention integer not null default 0,
  definition_version integer not null default 0, credential_id ${uuid}, unconfirmed ${text},
  failure_reasons text, unique (workspace_id, slug),
  check ((lifecycle = 'deleted') = (deleted_at is not null)))
create table destinations (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), platform_id ${text},
  no_post_before bigint not null, failure ${text}, created_at bigint not null, deleted_at bigint,
  connection_template_id ${uuid} not null references connection_templates (id), name ${text} not null,
  lease_id ${text}, lease_until bigint not null, customer_failure text,
  template_version integer not null default 0, applied_template_version integer not null default 0,
  unconfirmed ${text}, failure_reasons text, unique (workspace_id, connection_template_id))
create table connections (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), platform_id ${text},
  no_post_before bigint not null, failure ${text}, created_at bigint not null, deleted_at bigint,
  connection_template_id ${uuid} not null references connection_templates (id),
  source_id ${uuid} not null references sources (id),
  destination_id ${uuid} not null references destinations (id), cron_expression ${text},
  schema_changes ${text} not null, namespace_format ${text} not null, prefix ${text} not null,
  first_sync_wanted integer not null check (first_sync_wanted in (0, 1)),
  is_set_up integer not null check (is_set_up in (0, 1)), customer_failure text,
  source_template_id ${uuid} not null default '00000000-0000-0000-0000-000000000000',
  definition_id ${uuid} not null default '00000000-0000-0000-0000-000000000000',
  health ${text} not null default 'never_synced', health_detail ${text} not null default '{}',
  platform_state ${text}, platform_reason ${text}, looked_at bigint not null default 0,
  history_wanted integer not null default 0, template_version integer not null default 0,
  applied_template_version integer not null default 0, version integer not null default 1,
  applied_version integer not null default 1, streams_anew integer not null default 0,
  status ${text} not null default 'pending', paused integer not null default 0,
  status_version integer not null default 0, applied_status_version integer not null default 0,
  removal_due integer not null default 0, own_schedule integer not null default 0, own_streams ${text},
  customer_may_change ${text}, slowed_cron ${text}, cause ${text}, attention_by ${text}, unwell_since bigint,
  stale_at bigint, is_leaving integer not null default 0, unconfirmed ${text},
  starting_until bigint not null default 0, failure_reasons text, unique (source_id, connection_template_id))
create table source_checks (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id),
  status ${text} not null check (status in ('running', 'succeeded', 'failed')), error_message ${text},
  created_at bigint not null, expires_at bigint not null, may_linger integer not null, customer_message text,
  warnings text, reasons text)
create table workspace_counts (
  organization_id ${uuid} not null references organizations (id),
  status ${text} not null check (status in ('active', 'inactive')), part integer not null,
  count bigint not null, primary key (organization_id, status, part))
create table template_versions (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  kind ${text} not null check (kind in ('source', 'connection')), template_id ${uuid} not null,
  number integer not null check (number > 0), content ${text} not null, sealed_configuration ${text} not null,
  copy_of integer, made_by ${uuid} references operator_tokens (id), created_at bigint not null,
  session_id ${uuid}, session_label text, unique (template_id, number))
create table destination_checks (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  status ${text} not null check (status in ('running', 'succeeded', 'failed')), error_message ${text},
  created_at bigint not null, expires_at bigint not null, reasons text)
create table jobs (
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id),
  connection_id ${uuid} not null references connections (id), source_id ${uuid} not null,
  source_template_id ${uuid} not null, connection_template_id ${uuid} not null,
  definition_id ${uuid} not null, id ${text} not null, type ${text} not null,
  status ${text} not null check (status in ('pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled')),
  started_at bigint not null, ended_at bigint, attempts integer, failed_attempts integer not null,
  failed_at bigint, row_count bigint, byte_count bigint, failure_kind ${text}, failure_origin ${text},
  failure_whose ${text}, error ${text}, customer_error ${text}, attempt_list ${text}, streams ${text},
  more_streams integer not null, seen_at bigint not null, request_id text, trace_id text, row_points text,
  platform_id text, reasons text, primary key (connection_id, id))
create table job_hours (
  organization_id ${uuid} not null references organizations (id), hour bigint not null,
  status ${text} not null, jobs bigint not null, row_count bigint not null, byte_count bigint not null,
  primary key (organization_id, hour, status))
create table job_watch (
  id integer primary key check (id = 1), read_until bigint not null, lease_id ${text},
  lease_until bigint not null, clock_at bigint not null default 0)
create table rollouts (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  kind ${text} not null check (kind in ('source', 'connection')), template_id ${uuid} not null,
  version integer not null,
  state ${text} not null check (state in ('running', 'paused', 'stopped', 'finished')), state_reason ${text},
  plan ${text} not null, stage integer not null, made_by ${uuid} references operator_tokens (id),
  created_at bigint not null, ended_at bigint, lease_id ${text}, lease_until bigint not null,
  action ${text} not null default 'version')
create table rollout_items (
  rollout_id ${uuid} not null references rollouts (id),
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), stage integer not null,
  state ${text} not null check (state in ('waiting', 'changing', 'done', 'failed', 'skipped')),
  reason ${text}, failed_before integer not null, primary key (rollout_id, workspace_id))
create table quotas (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  limits ${text} not null, updated_at bigint not null, review_after ${uuid})
create table usage_days (
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), day bigint not null, syncs bigint not null,
  row_count bigint not null, byte_count bigint not null, primary key (workspace_id, day))
create table health_counts (
  organization_id ${uuid} not null references organizations (id),
  kind ${text} not null check (kind in ('connections', 'sources', 'workspaces')), health ${text} not null,
  part integer not null, count bigint not null, primary key (organization_id, kind, health, part))
create table template_plans (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  kind ${text} not null check (kind in ('source', 'connection')), template_id ${uuid} not null,
  base_version integer not null, sealed_request ${text} not null, summary ${text}, items integer not null,
  made_by ${uuid} references operator_tokens (id), created_at bigint not null, expires_at bigint not null)
create table template_plan_items (
  plan_id ${uuid} not null references template_plans (id),
  organization_id ${uuid} not null references organizations (id), item_id ${uuid} not null,
  workspace_id ${uuid} not null references workspaces (id), source_id ${uuid} not null,
  connections integer not null, template_version integer not null, seen bigint not null,
  outcome ${text} not null check (outcome in ('changes', 'unchanged', 'needs_customer', 'breaks')),
  reason ${text}, drops_streams integer not null, moves_tables integer not null, detail ${text} not null,
  primary key (plan_id, item_id))
create table job_logs (
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), connection_id ${uuid} not null,
  job_id ${text} not null, attempt integer not null, part integer not null, end_offset bigint not null,
  ended_at bigint not null, content ${bytes} not null, first_error_offset bigint,
  primary key (connection_id, job_id, attempt, part),
  foreign key (connection_id, job_id) references jobs (connection_id, id) on delete cascade)
create table job_logs_wanted (
  workspace_id ${uuid} not null references workspaces (id), connection_id ${uuid} not null,
  job_id ${text} not null, due_at bigint not null, primary key (connection_id, job_id),
  foreign key (connection_id, job_id) references jobs (connection_id, id) on delete cascade)
create table connection_catalogs (
  connection_id ${uuid} primary key references connections (id),
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), streams ${text} not null, read_at bigint not null)
create table quota_holds (
  workspace_id ${uuid} primary key references workspaces (id),
  organization_id ${uuid} not null references organizations (id), quota ${text} not null,
  quota_limit bigint not null, used bigint not null, until bigint not null)
create table idempotency_keys (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id), slot text not null,
  claim ${uuid} not null, lease_until bigint not null, applied_at bigint, answered_at bigint,
  sealed_record text not null, expires_at bigint not null, unique (organization_id, slot))
create table log_pending (
  number ${serial}, is_event integer not null, id ${uuid} not null,
  organization_id ${uuid} not null, type ${text} not null, workspace_id ${uuid}, workspace_name ${text},
  data ${text} not null, recorded_at bigint not null, actor_kind ${text} not null, actor_id ${text},
  actor_name ${text}, request_id ${text}, trace_id ${text}, outcome ${text} not null, patch ${text},
  personal ${text})
create table log_entries (
  id ${uuid} not null, organization_id ${uuid} not null, type ${text} not null, workspace_id ${uuid},
  workspace_name ${text}, data ${text} not null, recorded_at bigint not null, actor_kind ${text} not null,
  actor_id ${text}, actor_name ${text}, request_id ${text}, trace_id ${text}, outcome ${text} not null,
  trail_position bigint not null, position bigint, sequenced_at bigint not null, hash ${text},
  commitments ${text}, primary key (organization_id, trail_position))
create table log_heads (
  organization_id ${uuid} primary key, position bigint not null, trail_position bigint not null,
  sequenced_at bigint not null, hash ${text}, checkpoint_position bigint not null default 0,
  checkpoint_at bigint not null default 0, cut_until bigint not null default 0,
  events_after bigint not null default 0)
create table log_sequencer (
  id integer primary key check (id = 1), lease_id ${uuid}, lease_until bigint not null)
create table quota_notices (
  workspace_id ${uuid} not null references workspaces (id),
  organization_id ${uuid} not null references organizations (id), quota ${text} not null,
  level ${text} not null, quota_limit bigint not null, period bigint not null,
  primary key (workspace_id, quota, level, quota_limit, period))
create table webhook_endpoints (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} references workspaces (id), url ${text} not null, description ${text},
  types ${text} not null, workspace_ids ${text}, tags ${text}, sealed_headers ${text} not null,
  signing ${text} not null, sealed_keys ${text} not null, rate integer, ordered integer not null,
  enabled integer not null, disabled_reason ${text}, disabled_at bigint, read_until bigint not null,
  lease_id ${uuid}, lease_until bigint not null, not_before bigint not null, failing_since bigint,
  failing_told integer not null, last_delivered_at bigint, created_at bigint not null,
  updated_at bigint not null)
create table webhook_deliveries (
  endpoint_id ${uuid} not null references webhook_endpoints (id), organization_id ${uuid} not null,
  event_id ${uuid} not null, position bigint not null, event_type ${text} not null, state ${text} not null,
  attempts integer not null, next_at bigint, created_at bigint not null, delivered_at bigint,
  attempt_list ${text} not null, primary key (endpoint_id, position))
create table log_personal (
  entry_id ${uuid} not null, field ${text} not null, organization_id ${uuid} not null, salt ${text} not null,
  value ${text} not null, primary key (entry_id, field))
create table audit_keys (
  kid ${text} primary key, public_jwk ${text} not null, sealed_private_key ${text} not null,
  created_at bigint not null, binds_time integer not null default 0)
create table audit_checkpoints (
  organization_id ${uuid} not null, position bigint not null, hash ${text} not null,
  signed_at bigint not null, key_id ${text} not null, signature ${text} not null, cut text,
  primary key (organization_id, position))
create table source_definitions (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  name ${text} not null, icon ${text}, version integer not null, created_at bigint not null,
  updated_at bigint not null, deleted_at bigint, confirmed_addresses text)
create table source_definition_versions (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  definition_id ${uuid} not null references source_definitions (id), number integer not null,
  sealed_manifest ${text} not null, content ${text} not null, created_at bigint not null, copy_of integer,
  made_by ${uuid} references operator_tokens (id), session_id ${uuid}, session_label text,
  unique (definition_id, number))
create table definition_copies (
  id ${uuid} primary key references sources (id),
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), applied_version integer not null,
  platform_id ${text}, no_post_before bigint not null, failure ${text}, customer_failure ${text},
  created_at bigint not null, deleted_at bigint, unconfirmed ${text}, failure_reasons text)
create table definition_changes_told (
  change_id ${uuid} primary key, told_at bigint not null)
create table oauth_clients (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  callback_key ${text} not null unique, name ${text} not null, preset ${text}, issuer ${text},
  provider ${text}, client_id ${text} not null, sealed_secrets ${text} not null, secret_expires_at bigint,
  secret_hosts ${text} not null, authorization_params ${text} not null, token_params ${text} not null,
  created_at bigint not null, updated_at bigint not null, sealed_account_key ${text} not null default '',
  definition_id ${uuid}, secret_warned_days integer)
create table credentials (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), oauth_client_id ${uuid} not null,
  source_template_id ${uuid} not null, grant_kind ${text} not null, owner ${text} not null,
  state ${text} not null, reason ${text}, sealed_tokens ${text} not null, generation bigint not null,
  access_expires_at bigint, refresh_due_at bigint, failures integer not null, used_at bigint,
  scopes ${text} not null, provider_values ${text} not null, account_id ${text}, account_label ${text},
  tried_generation bigint, tries integer not null, lease_id ${uuid}, lease_until bigint not null,
  last_error ${text}, revoke_due_at bigint, revoke_tries integer not null, revocation ${text},
  created_at bigint not null, updated_at bigint not null, signed_in_at bigint not null, ended_at bigint)
create table oauth_flows (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id), oauth_client_id ${uuid} not null,
  source_template_id ${uuid} not null, source_id ${uuid}, token_id ${text}, origin ${text},
  is_framed integer not null, customer_label ${text}, return_to ${text}, state ${text} not null,
  start_hash ${text} not null unique, state_hash ${text} unique, cookie_hash ${text},
  sealed_secrets ${text} not null, issuer ${text}, scopes ${text} not null, provider_values ${text} not null,
  credential_id ${uuid}, account_label ${text}, missing_scopes ${text} not null, failure ${text},
  failure_detail ${text}, link_until bigint, is_test integer not null, created_at bigint not null,
  expires_at bigint not null, ended_at bigint, sealed_entered ${text} not null default '',
  offer_later integer not null default 0)
create table console_sessions (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  hash ${text} not null unique, kind ${text} not null, permission ${text} not null, label ${text} not null,
  token_id ${uuid} references operator_tokens (id), link_id ${uuid}, issuer ${text}, subject ${text},
  created_at bigint not null, last_used_at bigint not null, ends_at bigint not null, ended_at bigint)
create table console_links (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  hash ${text} not null unique, permission ${text} not null, label ${text} not null,
  created_at bigint not null, expires_at bigint not null, used_at bigint)
create table console_sign_ins (
  id ${uuid} primary key, state_hash ${text} not null unique, cookie_hash ${text} not null,
  replaces_organization_id ${uuid}, replaces_session_id ${uuid}, created_at bigint not null,
  expires_at bigint not null)
create table replicas (
  id text primary key, host text not null, version text not null, started_at bigint not null,
  last_seen_at bigint not null, process text, encryption_keys text)
create table cause_retries (
  id ${uuid} primary key, organization_id ${uuid} not null references organizations (id),
  cause ${text} not null, message ${text},
  state ${text} not null check (state in ('running', 'stopped', 'finished')), state_reason ${text},
  has_more integer not null, request_id ${text}, trace_id ${text}, created_at bigint not null,
  ended_at bigint, due_at bigint not null, lease_id ${text}, lease_until bigint not null, reasons text,
  stop_code text)
create table cause_retry_items (
  retry_id ${uuid} not null references cause_retries (id),
  organization_id ${uuid} not null references organizations (id),
  workspace_id ${uuid} not null references workspaces (id),
  connection_id ${uuid} not null references connections (id),
  state ${text} not null check (state in ('waiting', 'starting', 'started', 'skipped', 'refused')),
  code ${text}, last_job_id ${text}, look_at bigint, job_id ${text}, primary key (retry_id, connection_id))
insert into job_watch (id, read_until, lease_until) values (1, now_ms(), 0)
insert into log_sequencer (id, lease_until) values (1, 0)
`;

const indexes = `
create index workspaces_newest_first on workspaces (organization_id, created_at desc, id desc)
  where lifecycle <> 'deleted'
create index workspaces_by_status on workspaces (organization_id, status, created_at desc, id desc)
  where lifecycle <> 'deleted'
create index name_claims_by_workspace on name_claims (workspace_id)
create index name_claims_unbound on name_claims (lease_until) where state = 'creating'
create index operations_due on operations (next_at)
create index source_templates_in_order on source_templates (organization_id, created_at, id) where deleted_at is null
create index source_template_tags_by_tag on source_template_tags (tag_id)
create index connection_templates_in_order on connection_templates (organization_id, created_at, id)
  where deleted_at is null
create index connection_template_tags_by_tag on connection_template_tags (tag_id)
create index sources_due on sources (due_at) where due_at is not null
create index sources_by_template on sources (source_template_id) where lifecycle = 'live'
create index connections_by_workspace on connections (workspace_id)
create index source_checks_old on source_checks (created_at)
create index workspaces_by_name on workspaces (substr(name_folded, 1, 100)) where lifecycle = 'live'
create index name_claims_unsettled on name_claims (no_post_before) where state = 'bound' and no_post_before > 0
create index destination_checks_old on destination_checks (created_at)
create index jobs_newest on jobs (organization_id, started_at desc, id desc)
create index jobs_by_status on jobs (organization_id, status, started_at desc, id desc)
create index jobs_by_definition on jobs (organization_id, definition_id, started_at desc, id desc)
create index jobs_by_source_template on jobs (source_template_id, started_at desc, id desc)
create index jobs_by_connection_template on jobs (connection_template_id, started_at desc, id desc)
create index jobs_of_workspace on jobs (workspace_id, started_at desc, id desc)
create index jobs_of_source on jobs (source_id, started_at desc, id desc)
create index jobs_of_connection on jobs (connection_id, started_at desc, id desc)
create index jobs_outcomes on jobs (connection_id, status, started_at)
create index jobs_by_id on jobs (organization_id, id)
create index jobs_open on jobs (seen_at) where ended_at is null
create index jobs_old on jobs (ended_at) where ended_at is not null
create index connections_in_order on connections (organization_id, created_at, id) where deleted_at is null
create index connections_by_health on connections (organization_id, health, created_at, id) where deleted_at is null
create index connections_by_definition on connections (organization_id, definition_id, created_at, id)
  where deleted_at is null
create index connections_in_order_of_template on connections (connection_template_id, created_at, id)
  where deleted_at is null
create index connections_in_order_of_workspace on connections (workspace_id, created_at, id) where deleted_at is null
create index sources_in_order on sources (organization_id, created_at, id) where deleted_at is null
create index sources_by_health on sources (organization_id, health, created_at, id) where deleted_at is null
create index sources_by_definition on sources (organization_id, definition_id, created_at, id)
  where deleted_at is null
create index sources_in_order_of_template on sources (source_template_id, created_at, id) where deleted_at is null
create index sources_in_order_of_workspace on sources (workspace_id, created_at, id) where deleted_at is null
create index connections_of_source_template on connections (source_template_id, created_at, id)
  where deleted_at is null
create index connections_by_platform_id on connections (platform_id)
create index connections_to_look_at on connections (looked_at) where deleted_at is null
create index connections_without_history on connections (id) where history_wanted = 1
create index rollouts_of_template on rollouts (template_id, created_at desc, id desc)
create index rollouts_running on rollouts (lease_until) where state = 'running'
create unique index rollouts_open on rollouts (template_id) where state in ('running', 'paused')
create index rollout_items_by_state on rollout_items (rollout_id, state, stage, workspace_id)
create index rollout_items_changing on rollout_items (rollout_id) where state = 'changing'
create index connections_of_template on connections (connection_template_id, workspace_id) where deleted_at is null
create index jobs_open_of_workspace on jobs (workspace_id) where ended_at is null
create index workspaces_by_health on workspaces (organization_id, health, created_at desc, id desc)
  where lifecycle <> 'deleted'
create index connections_by_status on connections (organization_id, status, created_at, id) where deleted_at is null
create index jobs_failing on jobs (organization_id, started_at desc, id desc)
  where status = 'failed' or (ended_at is null and failed_attempts > 0)
create index workspaces_unwell on workspaces (organization_id, health, unwell_since, id)
  where unwell_since is not null and lifecycle <> 'deleted'
create index jobs_open_of_organization on jobs (organization_id, status, started_at) where ended_at is null
create index template_plans_of_template on template_plans (template_id, created_at desc, id desc)
create index template_plans_expired on template_plans (expires_at)
create index template_plan_items_by_outcome on template_plan_items (plan_id, outcome, item_id)
create index job_logs_old on job_logs (ended_at)
create index job_logs_of_workspace on job_logs (workspace_id)
create index job_logs_due on job_logs_wanted (due_at)
create index job_logs_wanted_of_workspace on job_logs_wanted (workspace_id)
create index quotas_to_review on quotas (id) where review_after is not null
create index quota_holds_by_end on quota_holds (until)
create index idempotency_keys_by_end on idempotency_keys (expires_at)
create index usage_days_by_day on usage_days (day)
create index job_hours_by_hour on job_hours (hour)
create unique index log_entries_by_id on log_entries (id)
create unique index log_entries_by_position on log_entries (organization_id, position) where position is not null
create index log_entries_by_type on log_entries (organization_id, type, position) where position is not null
create index log_entries_by_workspace on log_entries (organization_id, workspace_id, type, position)
  where position is not null
create index log_entries_by_workspace_position on log_entries (organization_id, workspace_id, position)
  where position is not null
create index webhook_endpoints_by_owner on webhook_endpoints (organization_id, workspace_id)
create index webhook_deliveries_by_time on webhook_deliveries (endpoint_id, created_at, event_id)
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_at) where state = 'pending'
create index webhook_deliveries_by_age on webhook_deliveries (created_at) where state <> 'pending'
create index log_entries_by_time on log_entries (organization_id, sequenced_at, trail_position) 
create index log_entries_by_trail_type on log_entries (organization_id, type, trail_position) 
create index log_entries_by_trail_workspace on log_entries (organization_id, workspace_id, type, trail_position)
  where workspace_id is not null
create index log_entries_by_trail_actor on log_entries (organization_id, actor_id, trail_position)
  where actor_id is not null
create index log_entries_by_trail_refused on log_entries (organization_id, trail_position) where outcome = 'refused'
create index source_definitions_by_organization on source_definitions (organization_id)
create index oauth_clients_by_organization on oauth_clients (organization_id, created_at)
create index credentials_by_workspace on credentials (workspace_id, created_at)
create index credentials_by_client on credentials (oauth_client_id, account_id)
create index credentials_to_refresh on credentials (refresh_due_at) where refresh_due_at is not null
create index credentials_to_revoke on credentials (revoke_due_at) where revoke_due_at is not null
create index oauth_flows_by_workspace on oauth_flows (workspace_id, created_at)
create index oauth_flows_by_end on oauth_flows (expires_at)
create index sources_by_credential on sources (credential_id) where credential_id is not null
create index console_sessions_by_organization on console_sessions (organization_id, created_at) where ended_at is null
create index console_sessions_by_end on console_sessions (ends_at)
create index console_links_by_end on console_links (expires_at)
create index console_sign_ins_by_end on console_sign_ins (expires_at)
create index workspaces_in_order_of_name on workspaces (organization_id, substr(name_folded, 1, 100), id)
  where lifecycle <> 'deleted'
create index workspaces_in_order_of_name_by_health
  on workspaces (organization_id, health, substr(name_folded, 1, 100), id)
  where lifecycle <> 'deleted'
create index workspaces_in_order_of_activity on workspaces (organization_id, active_at desc, id desc)
  where lifecycle <> 'deleted'
create index workspaces_in_order_of_activity_by_health
  on workspaces (organization_id, health, active_at desc, id desc)
  where lifecycle <> 'deleted'
create index workspaces_unwell_first on workspaces (organization_id, coalesce(unwell_since, 9007199254740991), id)
  where lifecycle <> 'deleted'
create index connections_by_attention on connections (organization_id, attention_by, created_at, id)
  where attention_by is not null and deleted_at is null and is_leaving = 0
create index connections_stale on connections (organization_id, stale_at, id)
  where stale_at is not null and deleted_at is null and is_leaving = 0
create index jobs_ended_by_status on jobs (organization_id, status, ended_at desc, id desc) where ended_at is not null
create index jobs_waiting on jobs (organization_id, started_at desc, id desc)
  where ended_at is null and status <> 'running'
create index log_entries_by_trail_actor_kind on log_entries (organization_id, actor_kind, trail_position)
create index log_entries_by_trail_of_workspace on log_entries (organization_id, workspace_id, trail_position)
  where workspace_id is not null
create index webhook_deliveries_by_state on webhook_deliveries (endpoint_id, state, created_at, event_id)
create index jobs_ended on jobs (organization_id, coalesce(ended_at, -1) desc, id desc) where ended_at is not null
create index connections_by_cause
  on connections (organization_id, cause, created_at, id, unwell_since, attention_by, deleted_at, is_leaving)
  where cause is not null and deleted_at is null and is_leaving = 0
create index workspaces_in_order_of_name_by_status
  on workspaces (organization_id, status, substr(name_folded, 1, 100), id)
  where lifecycle <> 'deleted'
create index workspaces_in_order_of_activity_by_status
  on workspaces (organization_id, status, active_at desc, id desc)
  where lifecycle <> 'deleted'
create index workspaces_in_order_of_trouble_by_status
  on workspaces (organization_id, status, coalesce(unwell_since, 9007199254740991), id)
  where lifecycle <> 'deleted'
create index sources_by_own_definition on sources (organization_id, definition_id, definition_version, lifecycle)
  where definition_version > 0
create index cause_retries_newest on cause_retries (organization_id, created_at desc, id desc)
create index cause_retries_running on cause_retries (due_at) where state = 'running'
create index cause_retries_ended on cause_retries (ended_at) where ended_at is not null
create unique index cause_retries_open on cause_retries (organization_id, cause) where state = 'running'
create index cause_retry_items_by_state on cause_retry_items (retry_id, state, connection_id)
create index audit_checkpoints_by_time on audit_checkpoints (organization_id, signed_at)
create unique index jobs_by_platform_id on jobs (connection_id, platform_id)
create index destinations_of_template on destinations (connection_template_id, workspace_id) where deleted_at is null
create index destinations_leased on destinations (lease_until) where lease_id is not null
create index credentials_leased on credentials (lease_until) where lease_id is not null
create index definition_copies_by_workspace on definition_copies (workspace_id)
`;

const digitOf = (place: number) => `instr('0123456789abcdef', substr(new.id, ${place}, 1)) - 1`;
/** db/name-parts.ts explains the index of names. */
const slot = `(new.created_at * 4096 + (${digitOf(1)}) * 256 + (${digitOf(2)}) * 16 + ${digitOf(3)})`;

const sqliteTriggers = `
create virtual table workspace_names
  using fts5 (parts, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')
insert into workspace_names (workspace_names, rank) values ('pgsz', 512)
create trigger workspaces_added after insert on workspaces when new.lifecycle <> 'deleted' begin
  insert into workspace_counts (organization_id, status, part, count)
  values (new.organization_id, new.status, 0, 1)
  on conflict (organization_id, status, part) do update set count = count + 1;
  end
create trigger workspaces_changed after update of status, lifecycle on workspaces
  when old.status <> new.status or old.lifecycle <> new.lifecycle begin
  update workspace_counts set count = count - 1
  where organization_id = old.organization_id and status = old.status and old.lifecycle <> 'deleted';
  insert into workspace_counts (organization_id, status, part, count)
  select new.organization_id, new.status, 0, 1 where new.lifecycle <> 'deleted'
  on conflict (organization_id, status, part) do update set count = count + 1;
  end
create trigger workspaces_named after insert on workspaces
  begin
  delete from workspace_names where rowid = ${slot};
  insert into workspace_names (rowid, parts)
  select ${slot},
    group_concat('o' || substr(organization_id, 1, 8) || ' ' || status || name_parts(name_folded), ' ')
  from organizations cross join workspaces
  where workspaces.organization_id = organizations.id and workspaces.created_at = new.created_at
    and workspaces.id >= substr(new.id, 1, 3) and workspaces.id < substr(new.id, 1, 3) || 'g' and lifecycle <> 'deleted'
  having count(*) > 0;
  end
create trigger workspaces_renamed after update of name_folded, status, lifecycle on workspaces
  when old.name_folded <> new.name_folded or old.status <> new.status or old.lifecycle <> new.lifecycle
  begin
  delete from workspace_names where rowid = ${slot};
  insert into workspace_names (rowid, parts)
  select ${slot},
    group_concat('o' || substr(organization_id, 1, 8) || ' ' || status || name_parts(name_folded), ' ')
  from organizations cross join workspaces
  where workspaces.organization_id = organizations.id and workspaces.created_at = new.created_at
    and workspaces.id >= substr(new.id, 1, 3) and workspaces.id < substr(new.id, 1, 3) || 'g' and lifecycle <> 'deleted'
  having count(*) > 0;
  end
create trigger sources_health_added after insert on sources begin
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'sources', new.health, 0, 1 where new.lifecycle = 'live'
  on conflict (organization_id, kind, health, part) do update set count = count + 1; end
create trigger sources_health_changed after update of health, lifecycle on sources
  when old.health <> new.health or (old.lifecycle = 'live') <> (new.lifecycle = 'live') begin
    update health_counts set count = count - 1
    where organization_id = old.organization_id and kind = 'sources' and health = old.health
      and old.lifecycle = 'live';
    
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'sources', new.health, 0, 1 where new.lifecycle = 'live'
  on conflict (organization_id, kind, health, part) do update set count = count + 1;
  end
create trigger workspaces_health_added after insert on workspaces begin
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'workspaces', new.health, 0, 1 where new.lifecycle <> 'deleted'
  on conflict (organization_id, kind, health, part) do update set count = count + 1; end
create trigger workspaces_health_changed after update of health, lifecycle on workspaces
  when old.health <> new.health or (old.lifecycle <> 'deleted') <> (new.lifecycle <> 'deleted') begin
    update health_counts set count = count - 1
    where organization_id = old.organization_id and kind = 'workspaces' and health = old.health
      and old.lifecycle <> 'deleted';
    
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'workspaces', new.health, 0, 1 where new.lifecycle <> 'deleted'
  on conflict (organization_id, kind, health, part) do update set count = count + 1;
  end
create trigger log_entries_unchanged before update on log_entries begin
  select raise(abort, 'The audit trail is never changed.');
  end
create trigger log_personal_unchanged before update on log_personal begin
  select raise(abort, 'The audit trail is never changed.');
  end
create trigger audit_checkpoints_unchanged before update on audit_checkpoints begin
  select raise(abort, 'The audit trail is never changed.');
  end
create trigger log_entries_kept before delete on log_entries
  when not exists (
  select 1 from log_heads where organization_id = old.organization_id and cut_until >= old.trail_position
  ) begin
  select raise(abort, 'Of the audit trail, only a beginning behind a checkpoint is deleted.');
  end
create trigger audit_checkpoints_kept before delete on audit_checkpoints
  when not exists (
  select 1 from log_heads where organization_id = old.organization_id and cut_until > old.position
  ) begin
  select raise(abort, 'Of the checkpoints of the audit trail, only those before its beginning are deleted.');
  end
create trigger sources_leaving after update of lifecycle on sources
  when (old.lifecycle = 'live') <> (new.lifecycle = 'live') begin
  update connections set is_leaving = case new.lifecycle when 'live' then 0 else 1 end where source_id = new.id;
  end
create trigger connections_health_added after insert on connections begin
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'connections', new.health, 0, 1 where new.deleted_at is null and new.is_leaving = 0
  on conflict (organization_id, kind, health, part) do update set count = count + 1; end
create trigger connections_health_changed after update of health, deleted_at, is_leaving on connections
  when old.health <> new.health or (old.deleted_at is null and old.is_leaving = 0) <> (new.deleted_at is null and new.is_leaving = 0) begin
    update health_counts set count = count - 1
    where organization_id = old.organization_id and kind = 'connections' and health = old.health
      and old.deleted_at is null and old.is_leaving = 0;
    
  insert into health_counts (organization_id, kind, health, part, count)
  select new.organization_id, 'connections', new.health, 0, 1 where new.deleted_at is null and new.is_leaving = 0
  on conflict (organization_id, kind, health, part) do update set count = count + 1;
  end
create trigger log_heads_cut before update of cut_until on log_heads
    when new.cut_until <> old.cut_until and not (
  new.cut_until > old.cut_until and exists (
  select 1 from audit_checkpoints
  where organization_id = new.organization_id and cut like '{"position":' || new.cut_until || ',%'
  )) begin
      select raise(abort, 'The audit trail is cut only where a checkpoint says so.');
    end
`;

/** SQLite has these functions itself, or gets them when the file is opened (db/open.ts). */
const postgresFunctions = `
create function now_ms() returns bigint language sql stable as $$select floor(extract(epoch from clock_timestamp()) * 1000)::bigint$$
create function instr(whole text, part text) returns integer language sql immutable as $$select strpos(whole, part)$$
create function name_parts(organization uuid, name text) returns tsvector language sql immutable parallel safe as $$
  select array_to_tsvector(
    array(select substr(name, place, 3) from generate_series(1, length(name)) as place)
    || ('o' || substr(organization::text, 1, 8))) $$
create function likely(condition boolean) returns boolean language sql immutable parallel safe as $$select condition$$
`;

const postgresTriggers = `
alter table definition_copies rename constraint definition_copies_pkey to placed_definitions_pkey
alter table definition_copies rename constraint definition_copies_id_fkey to placed_definitions_id_fkey
alter table definition_copies
  rename constraint definition_copies_organization_id_fkey to placed_definitions_organization_id_fkey
alter table definition_copies
  rename constraint definition_copies_workspace_id_fkey to placed_definitions_workspace_id_fkey
alter table workspaces
  add column name_parts tsvector not null generated always as (name_parts(organization_id, name_folded)) stored
create index workspaces_by_name_part on workspaces using gin (name_parts) where lifecycle <> 'deleted'
create function count_added_workspaces() returns trigger language plpgsql as $$
  begin
    insert into workspace_counts (organization_id, status, part, count)
    select organization_id, status, pg_backend_pid() % 256, count(*) from added where lifecycle <> 'deleted'
    group by organization_id, status order by organization_id, status
    on conflict (organization_id, status, part) do update set count = workspace_counts.count + excluded.count;
    return null;
  end $$
create function count_changed_workspace() returns trigger language plpgsql as $$
  begin
    insert into workspace_counts (organization_id, status, part, count)
    select organization_id, status, pg_backend_pid() % 256, sum(change) from (values
      (old.organization_id, old.status, case old.lifecycle when 'deleted' then 0 else -1 end),
      (new.organization_id, new.status, case new.lifecycle when 'deleted' then 0 else 1 end)
    ) as changes (organization_id, status, change)
    group by organization_id, status having sum(change) <> 0 order by organization_id, status
    on conflict (organization_id, status, part) do update set count = workspace_counts.count + excluded.count;
    return null;
  end $$
create function count_health(organization uuid, what text, state text, change bigint) returns void language plpgsql as $$
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
  end $$
create function sources_count_added_health() returns trigger language plpgsql as $$
  begin
    perform count_health(organization_id, 'sources', health, count(*)) from added
    where lifecycle = 'live' group by organization_id, health;
    return null;
  end $$
create function sources_count_changed_health() returns trigger language plpgsql as $$
  begin
    if old.lifecycle = 'live' then
      perform count_health(old.organization_id, 'sources', old.health, -1);
    end if;
    if new.lifecycle = 'live' then
      perform count_health(new.organization_id, 'sources', new.health, 1);
    end if;
    return null;
  end $$
create function workspaces_count_added_health() returns trigger language plpgsql as $$
  begin
    perform count_health(organization_id, 'workspaces', health, count(*)) from added
    where lifecycle <> 'deleted' group by organization_id, health;
    return null;
  end $$
create function workspaces_count_changed_health() returns trigger language plpgsql as $$
  begin
    if old.lifecycle <> 'deleted' then
      perform count_health(old.organization_id, 'workspaces', old.health, -1);
    end if;
    if new.lifecycle <> 'deleted' then
      perform count_health(new.organization_id, 'workspaces', new.health, 1);
    end if;
    return null;
  end $$
create function refuse_audit_change() returns trigger language plpgsql as $$
  begin
    raise exception 'The audit trail is never changed.';
  end $$
create function keep_audit_entry() returns trigger language plpgsql as $$
  begin
    if not exists (
      select 1 from log_heads where organization_id = old.organization_id and cut_until >= old.trail_position
    ) then
      raise exception 'Of the audit trail, only a beginning behind a checkpoint is deleted.';
    end if;
    return old;
  end $$
create function keep_audit_checkpoint() returns trigger language plpgsql as $$
  begin
    if not exists (
      select 1 from log_heads where organization_id = old.organization_id and cut_until > old.position
    ) then
      raise exception
        'Of the checkpoints of the audit trail, only those before its beginning are deleted.';
    end if;
    return old;
  end $$
create function cut_audit_at_checkpoint() returns trigger language plpgsql as $$
  begin
    if not (
      new.cut_until > old.cut_until and exists (
        select 1 from audit_checkpoints
        where organization_id = new.organization_id and cut like '{"position":' || new.cut_until || ',%'
      )
    ) then
      raise exception 'The audit trail is cut only where a checkpoint says so.';
    end if;
    return new;
  end $$
create function follow_leaving_source() returns trigger language plpgsql as $$
  begin
    update connections set is_leaving = case new.lifecycle when 'live' then 0 else 1 end where source_id = new.id;
    return null;
  end $$
create function connections_count_added_health() returns trigger language plpgsql as $$
  begin
    perform count_health(organization_id, 'connections', health, count(*)) from added
    where deleted_at is null and is_leaving = 0 group by organization_id, health;
    return null;
  end $$
create function connections_count_changed_health() returns trigger language plpgsql as $$
  begin
    if old.deleted_at is null and old.is_leaving = 0 then
      perform count_health(old.organization_id, 'connections', old.health, -1);
    end if;
    if new.deleted_at is null and new.is_leaving = 0 then
      perform count_health(new.organization_id, 'connections', new.health, 1);
    end if;
    return null;
  end $$
create trigger workspaces_added after insert on workspaces referencing new table as added for each statement
  execute function count_added_workspaces()
create trigger workspaces_changed after update of status, lifecycle on workspaces
  for each row when (((old.status <> new.status) or (old.lifecycle <> new.lifecycle)))
  execute function count_changed_workspace()
create trigger sources_health_added after insert on sources referencing new table as added for each statement
  execute function sources_count_added_health()
create trigger sources_health_changed after update of health, lifecycle on sources
  for each row when (((old.health <> new.health) or ((old.lifecycle = 'live'::text) <> (new.lifecycle = 'live'::text))))
  execute function sources_count_changed_health()
create trigger workspaces_health_added after insert on workspaces referencing new table as added for each statement
  execute function workspaces_count_added_health()
create trigger workspaces_health_changed after update of health, lifecycle on workspaces
  for each row when (((old.health <> new.health) or ((old.lifecycle <> 'deleted'::text) <> (new.lifecycle <> 'deleted'::text))))
  execute function workspaces_count_changed_health()
create trigger log_entries_unchanged before update on log_entries for each row execute function refuse_audit_change()
create trigger log_personal_unchanged before update on log_personal for each row
  execute function refuse_audit_change()
create trigger audit_checkpoints_unchanged before update on audit_checkpoints for each row
  execute function refuse_audit_change()
create trigger log_entries_not_emptied before truncate on log_entries for each statement
  execute function refuse_audit_change()
create trigger audit_checkpoints_not_emptied before truncate on audit_checkpoints for each statement
  execute function refuse_audit_change()
create trigger log_entries_kept before delete on log_entries for each row execute function keep_audit_entry()
create trigger audit_checkpoints_kept before delete on audit_checkpoints for each row
  execute function keep_audit_checkpoint()
create trigger log_heads_cut before update of cut_until on log_heads
  for each row when ((new.cut_until <> old.cut_until)) execute function cut_audit_at_checkpoint()
create trigger sources_leaving after update of lifecycle on sources
  for each row when (((old.lifecycle = 'live'::text) <> (new.lifecycle = 'live'::text)))
  execute function follow_leaving_source()
create trigger connections_health_added after insert on connections referencing new table as added for each statement
  execute function connections_count_added_health()
create trigger connections_health_changed after update of health, deleted_at, is_leaving on connections
  for each row when (((old.health <> new.health) or (((old.deleted_at is null) and (old.is_leaving = 0)) <> ((new.deleted_at is null) and (new.is_leaving = 0)))))
  execute function connections_count_changed_health()
`;
