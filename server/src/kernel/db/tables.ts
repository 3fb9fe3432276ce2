/**
 * The rows of the local store. Times are milliseconds since the epoch, taken from the database's own clock
 * (`now_ms()`), so that replicas whose clocks disagree still agree on leases and order. The file is
 * long because all tables stand in one place, as the database has them.
 */

import type { SchemaChangePreference } from '@inlay/contract/catalog/connection-templates';
import type { RolloutAction, RolloutItemState, RolloutState } from '@inlay/contract/catalog/rollouts';
import type { PlanOutcome } from '@inlay/contract/catalog/template-plans';
import type {
  CredentialGrant,
  CredentialOwner,
  CredentialReason,
  CredentialRevocation,
  CredentialState,
} from '@inlay/contract/credentials/credentials';
import type { FlowFailure, FlowState } from '@inlay/contract/credentials/oauth-flows';
import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { DeliveryStatus, DisabledReason, WebhookSigning } from '@inlay/contract/log/webhook-endpoints';
import type { CauseRetryItemState, CauseRetryState } from '@inlay/contract/pipelines/cause-retries';
import type { ConnectionStatus } from '@inlay/contract/pipelines/connections';
import type { Audience, HealthState } from '@inlay/contract/pipelines/health';
import type { CheckStatus } from '@inlay/contract/pipelines/sources';
import type { LimitedQuota } from '@inlay/contract/tenancy/quotas';
import type { Generated } from 'kysely';

export interface OrganizationRow {
  id: string;
  name: string;
  platform_organization_id: string;
  created_at: number;
}

export interface OperatorTokenRow {
  id: string;
  organization_id: string;
  name: string;
  /** SHA-256 of the token, in hex. The token itself is stored nowhere. */
  hash: string;
  /** What a replica of before there were roles knows: for such a replica, a role between the two may only read. */
  permission: 'full' | 'read';
  /** Null: the permission says it all. */
  role: 'operator' | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** A person who has signed in to the console. */
export interface ConsoleSessionRow {
  id: string;
  organization_id: string;
  /** SHA-256 of the value of the cookie, in hex. The value itself is stored nowhere. */
  hash: string;
  kind: 'token' | 'link' | 'oidc';
  permission: 'full' | 'operator' | 'read';
  /** Display name: name of the token, recipient of the link, or name from the identity provider. */
  label: string;
  /** The operator token that the session ends with; null unless it began with one. */
  token_id: string | null;
  link_id: string | null;
  /** Who it is for the provider; null unless the session began there. */
  issuer: string | null;
  subject: string | null;
  created_at: number;
  /** Late by up to a minute. */
  last_used_at: number;
  /** When it ends at the latest. */
  ends_at: number;
  ended_at: number | null;
}

/** A link that lets one person into the console, once. */
export interface ConsoleLinkRow {
  id: string;
  organization_id: string;
  /** SHA-256 of its code, in hex. */
  hash: string;
  permission: 'full' | 'operator' | 'read';
  /** Recipient of the link. */
  label: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

/** A process of the service. */
export interface ReplicaRow {
  id: string;
  /** Name of its machine or container. */
  host: string;
  version: string;
  started_at: number;
  last_seen_at: number;
  /** See process-names.ts of the platform. Null: a version that did not say it. */
  process: string | null;
  /** Ids of its encryption keys, separated by commas; the first one seals. Null: a version that did not say it. */
  encryption_keys: string | null;
}

/** Someone who is at the provider, to sign in to the console. */
export interface ConsoleSignInRow {
  id: string;
  state_hash: string;
  cookie_hash: string;
  /** The session that the browser had. */
  replaces_organization_id: string | null;
  replaces_session_id: string | null;
  created_at: number;
  expires_at: number;
}

export interface SigningKeyRow {
  kid: string;
  public_jwk: string;
  /** Sealed with the encryption key; see sealing.ts. */
  sealed_private_key: string;
  created_at: number;
  retired_at: number | null;
}

interface RevokedTokenRow {
  workspace_id: string;
  jti: string;
  revoked_at: number;
  expires_at: number | null;
}

type Lifecycle = 'live' | 'deleting' | 'deleted';

export interface WorkspaceRow {
  /** The workspace's id on the platform: one id on both sides. */
  id: string;
  organization_id: string;
  name: string;
  /** The name as `name_contains` sees it; see workspaces/names.ts. */
  name_folded: string;
  /** A rename that the platform has not confirmed yet. */
  desired_name: string | null;
  status: WorkspaceStatus;
  lifecycle: Lifecycle;
  /** Counts up with every change of intent, so that a worker with an older intent notices. */
  gen: number;
  /**
   * Generation of the last requested rename. Distinguishes a rename that a later one replaced from a rejected rename.
   */
  name_gen: number;
  /** Since when the platform certainly has this name. A listing from before that time says nothing about the name. */
  name_settled_at: number;
  /** Counts up to revoke all tokens issued so far; a token names the generation in which it was issued. */
  token_gen: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Since when a quota holds its syncs back (quotas/holds.ts); null: none does. */
  held_since: number | null;
  /**
   * Desired limit of concurrent syncs on the platform. 0: as many as the platform allows, after a lower limit was set
   * before. Null: never set.
   */
  sync_limit: number | null;
  /** 1: the platform has the limit. Hosted platforms do not support it. */
  sync_limit_kept: number;
}

/** Beside what every reader of a workspace needs. */
interface WorkspaceTable extends Omit<WorkspaceRow, 'sync_limit_kept'> {
  sync_limit_kept: Generated<number>;
  /** The worst of its connections, for lists; see pipelines/health.ts. */
  health: Generated<HealthState>;
  /** Since when it is failing or needs attention; null while it does neither. */
  unwell_since: number | null;
  /** When a sync last started or ended. 0: never. */
  active_at: Generated<number>;
}

/** How many workspaces are not deleted: the sum of the parts. Kept by triggers; see db/migrations.ts. */
interface WorkspaceCountRow {
  organization_id: string;
  status: WorkspaceStatus;
  part: number;
  count: number;
}

/** How many rows of a kind have a health: the sum of the parts. Kept by triggers; see db/migrations.ts. */
interface HealthCountRow {
  organization_id: string;
  kind: 'connections' | 'sources' | 'workspaces';
  health: HealthState;
  part: number;
  count: number;
}

export interface NameClaimRow {
  organization_id: string;
  /** NFC. */
  name: string;
  state: 'creating' | 'bound';
  /** Set exactly when bound. */
  workspace_id: string | null;
  /**
   * Who may send the create; a new random value with each lease, so that an old holder can never be mistaken for the
   * present one.
   */
  lease_id: string;
  lease_until: number;
  /** No create may be sent before this time, because an earlier one may still take effect. */
  no_post_before: number;
  attempts: number;
  last_error: string | null;
  created_at: number;
}

export type OperationKind = 'rename' | 'status' | 'delete' | 'orphan_delete';

/** Outbox: work the platform still has to receive. A row exists exactly as long as the work is open. */
export interface OperationRow {
  workspace_id: string;
  kind: OperationKind;
  organization_id: string;
  lease_id: string | null;
  lease_until: number;
  next_at: number;
  /**
   * Set with the lease: until then a request of the holder may take effect, even if the holder dies before recording
   * it.
   */
  sending_until: number;
  /**
   * A request to the platform may still take effect until then: assert the state once more after it, before closing.
   */
  unsettled_until: number;
  attempts: number;
  last_error: string | null;
  created_at: number;
}

/** A connection that we disabled with its workspace and will enable with it again. */
interface PausedConnectionRow {
  workspace_id: string;
  connection_id: string;
}

export interface TemplateTagRow {
  id: string;
  organization_id: string;
  /** NFC; unique within the organization. */
  name: string;
  created_at: number;
  updated_at: number;
}

export interface SourceTemplateRow {
  id: string;
  organization_id: string;
  name: string;
  /** One line for customers. */
  description: string | null;
  /** Heading under which the widget shows the template. */
  category: string | null;
  definition_id: string;
  /** The definition's icon, copied when the template was made: so a list of templates needs no definitions. */
  icon: string | null;
  /** The operator's own icon, shown instead of the definition's. */
  own_icon: string | null;
  /** The default configuration as JSON, sealed as a whole. */
  sealed_defaults: string;
  /** JSON. */
  customization: string;
  /** JSON: how customers sign in instead of entering keys (contract/src/catalog/template-oauth.ts); null: they do not. */
  oauth: string | null;
  /** The number of its newest version. */
  version: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface ConnectionTemplateRow {
  id: string;
  organization_id: string;
  destination_name: string;
  definition_id: string;
  icon: string | null;
  /** The destination's configuration as JSON, sealed as a whole. */
  sealed_destination_config: string;
  /** Quartz, in UTC; null: syncs run only when asked for. */
  cron_expression: string | null;
  non_breaking_changes_preference: SchemaChangePreference;
  /** 0 or 1: SQLite knows no booleans. */
  sync_on_create: number;
  namespace_format: string | null;
  prefix: string | null;
  /** JSON: what customers may choose for their connections; null: nothing. */
  customer_may_change: string | null;
  /** When the destination was last tested with this configuration, and worked; null if it was not. */
  checked_at: number | null;
  version: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export type TemplateKind = 'source' | 'connection';

/** A template as it was from one change to the next. Never changed, and kept as long as the template. */
export interface TemplateVersionRow {
  id: string;
  organization_id: string;
  kind: TemplateKind;
  template_id: string;
  /** 1, 2, 3, … without a gap. */
  number: number;
  /** JSON: everything but the configuration. */
  content: string;
  /** The configuration as JSON, sealed as that of the template is, so that one can be copied to the other. */
  sealed_configuration: string;
  /** The version that this one repeats, after a rollback. */
  copy_of: number | null;
  /** The operator token that made it. */
  made_by: string | null;
  /** Where a person without a token made it: the session of the console, which may be deleted by now, and who signed in. */
  session_id: string | null;
  session_label: string | null;
  created_at: number;
}

/** A version on its way to what was made from the template before; see pipelines/rollouts.ts. */
export interface RolloutRow {
  id: string;
  organization_id: string;
  kind: TemplateKind;
  template_id: string;
  action: RolloutAction;
  version: number;
  state: RolloutState;
  state_reason: string | null;
  /** JSON: the plan that was requested. */
  plan: string;
  /** The stage whose turn it is, from 1. */
  stage: number;
  made_by: string | null;
  created_at: number;
  ended_at: number | null;
  lease_id: string | null;
  lease_until: number;
}

/** A workspace of a rollout. */
export interface RolloutItemRow {
  rollout_id: string;
  organization_id: string;
  workspace_id: string;
  /** From 1. */
  stage: number;
  state: RolloutItemState;
  reason: string | null;
  /** 0 or 1: something in the workspace was already failing before the change. */
  failed_before: number;
}

/** Connections that fail for one reason, to be tried again; see pipelines/cause-retries.ts. */
export interface CauseRetryRow {
  id: string;
  organization_id: string;
  cause: string;
  /** What one of the connections failed with. */
  message: string | null;
  /** JSON: its code, as `Reasons`; null where an older version stored it. */
  reasons: string | null;
  state: CauseRetryState;
  state_reason: string | null;
  stop_code: 'retry_stopped' | 'retry_expired' | null;
  /** 0 or 1: there were more connections than one retry takes. */
  has_more: number;
  /** Request that started the job. */
  request_id: string | null;
  trace_id: string | null;
  created_at: number;
  ended_at: number | null;
  /** Not before then: the platform had no room, or did not answer. */
  due_at: number;
  lease_id: string | null;
  lease_until: number;
}

export interface CauseRetryItemRow {
  retry_id: string;
  organization_id: string;
  workspace_id: string;
  connection_id: string;
  state: CauseRetryItemState;
  /** Why it was skipped or refused. */
  code: string | null;
  /**
   * Since the platform was asked: the newest job known before, by its platform id, and when to check for the outcome.
   */
  last_job_id: string | null;
  look_at: number | null;
  /** The sync that was started. */
  job_id: string | null;
}

/** What a change of a template would do; see pipelines/plans.ts. */
export interface TemplatePlanRow {
  id: string;
  organization_id: string;
  kind: TemplateKind;
  template_id: string;
  /** The version of the template that the plan is for. */
  base_version: number;
  /** The change as it was requested, as JSON, sealed as a whole. */
  sealed_request: string;
  /** JSON; null while the plan is being made. */
  summary: string | null;
  /** How many sources or connections it counts. */
  items: number;
  made_by: string | null;
  created_at: number;
  expires_at: number;
}

/** A source of a source template, or a connection of a connection template, as a plan saw it. */
export interface TemplatePlanItemRow {
  plan_id: string;
  organization_id: string;
  item_id: string;
  workspace_id: string;
  source_id: string;
  /** How many connections the item stands for. */
  connections: number;
  template_version: number;
  /** By this the plan knows whether it has changed: `updated_at` of a source, `version` of a connection. */
  seen: number;
  outcome: PlanOutcome;
  reason: string | null;
  /** 0 or 1. */
  drops_streams: number;
  moves_tables: number;
  /** JSON. */
  detail: string;
}

/** A template has a tag. */
interface TaggingRow {
  organization_id: string;
  template_id: string;
  tag_id: string;
}

/** Desired and applied state on the platform, the same for sources, destinations and connections. */
export interface RemoteRow {
  id: string;
  organization_id: string;
  workspace_id: string;
  /** Its id on the platform, once that is known. */
  platform_id: string | null;
  /** Until then a request that was sent may still take effect: no create may be sent, and no change counts as final. */
  no_post_before: number;
  /** What the requests say that may still take effect (assert-settled.ts), if they all say the same and it is known. */
  unconfirmed: string | null;
  /** Why the platform refused it, for people; null unless it was refused. */
  failure: string | null;
  /** The same as the customer may read it; null exactly when `failure` is. */
  customer_failure: string | null;
  /** JSON: the codes of both (`Reasons`), as long as `failure` is set; null where an older version stored it. */
  failure_reasons: string | null;
  created_at: number;
  deleted_at: number | null;
}

export interface SourceRow extends RemoteRow {
  source_template_id: string;
  /** Copied from the template, for lists. */
  definition_id: string;
  /** The worst of its connections; see pipelines/health.ts. */
  health: HealthState;
  /** 0 or 1: it was said that someone has to do something about it, and not yet that all is well again. */
  needs_attention: number;
  name: string;
  /** Part of the names of its tables at destinations; unique in the workspace for ever, and kept when it is renamed. */
  slug: string;
  /** The customer's part of the configuration as JSON, sealed as a whole. */
  sealed_config: string;
  /** The tokens of its account, where the customer has signed in. */
  credential_id: string | null;
  /** Counts up with every change of name or configuration. */
  version: number;
  /** The version the platform has. */
  applied_version: number;
  /** Which version of its template it is to have, and which the platform has. 0: made before versions were kept. */
  template_version: number;
  applied_template_version: number;
  /** Version of the definition if it is the organization's own, otherwise 0. */
  definition_version: number;
  lifecycle: Lifecycle;
  /** When the next step of setting it up is due; null when there is nothing to do. */
  due_at: number | null;
  lease_id: string | null;
  lease_until: number;
  attempts: number;
  last_error: string | null;
  updated_at: number;
}

/** A connector that an organization has added: a declarative manifest. */
export interface SourceDefinitionRow {
  id: string;
  organization_id: string;
  name: string;
  icon: string | null;
  /** The number of its newest version. */
  version: number;
  /** JSON: where secrets may go that were entered for versions without these addresses. Null: nowhere else. */
  confirmed_addresses: string | null;
  created_at: number;
  updated_at: number;
  /** Sources that were made from it before still have it. */
  deleted_at: number | null;
}

/** Never changed. */
export interface SourceDefinitionVersionRow {
  id: string;
  organization_id: string;
  definition_id: string;
  /** Counts up from 1. */
  number: number;
  /** The manifest as JSON. Sealed, because someone may have written a secret into it. */
  sealed_manifest: string;
  /** JSON: specification, streams and other facts about the manifest. */
  content: string;
  /** The version that this one repeats, after a rollback. */
  copy_of: number | null;
  /** The operator token that made it. */
  made_by: string | null;
  /** Where a person without a token made it: the session of the console, which may be deleted by now, and who signed in. */
  session_id: string | null;
  session_label: string | null;
  created_at: number;
}

/** The copy of a definition that a source has on the platform. `id` is the source's. */
export interface DefinitionCopyRow extends RemoteRow {
  /** The version that the platform has; 0: not known. */
  applied_version: number;
}

/** One per workspace and connection template, shared by the sources of the workspace. */
export interface DestinationRow extends RemoteRow {
  connection_template_id: string;
  name: string;
  /** Which version of its template it is to have, and which the platform has. 0: made before versions were kept. */
  template_version: number;
  applied_template_version: number;
  lease_id: string | null;
  lease_until: number;
}

/** What the platform does about new columns and tables of a source. */
type SchemaChanges = 'ignore' | 'disable_connection' | 'propagate_columns' | 'propagate_fully';

/** One per source and connection template, as the template was when the source was made. */
export interface ConnectionRow extends RemoteRow {
  connection_template_id: string;
  source_id: string;
  /** Copied from the source, for lists. */
  source_template_id: string;
  definition_id: string;
  destination_id: string;
  cron_expression: string | null;
  schema_changes: SchemaChanges;
  namespace_format: string;
  prefix: string;
  /** 0 or 1: a first sync is still to be started. */
  first_sync_wanted: number;
  /**
   * Until then, the platform may be starting an accepted sync, so the connection counts as running (quotas/quotas.ts).
   */
  starting_until: number;
  /** 0 or 1: the connection has been made and follows its workspace. From then on only its owner changes its status. */
  is_set_up: number;
  /** Its status as it is shown, for lists; see pipelines/connection-status.ts. */
  status: ConnectionStatus;
  /** How it does, and the rest of its health as JSON; see pipelines/health.ts. */
  health: HealthState;
  health_detail: string;
  /** While it fails or needs attention: which cause it shares with others (pipelines/failure-causes.ts), since when. */
  cause: string | null;
  unwell_since: number | null;
  /** While it needs attention: who has to do something. */
  attention_by: Audience | null;
  /** 0 or 1, kept by a trigger: its source is being deleted, so no list shows it and no number counts it. */
  is_leaving: number;
  /** From then on it counts as stale, if no sync succeeds before; null: it has no schedule, or is paused. */
  stale_at: number | null;
  /** What the platform last reported, and when. Null: nothing worth reporting. */
  platform_state: 'inactive' | 'gone' | null;
  /** Why the platform itself has made it inactive. */
  platform_reason: string | null;
  looked_at: number;
  /** 0 or 1: its jobs of before are still to be read from the platform. */
  history_wanted: number;
  /** Which version of its template it is to have, and which the platform has. 0: made before versions were kept. */
  template_version: number;
  applied_template_version: number;
  /** The schedule that runs in place of `cron_expression`, where a quota allows no shorter interval. */
  slowed_cron: string | null;
  /**
   * Incremented by every change of settings, so that the platform is updated, and the version that the platform has.
   */
  version: number;
  applied_version: number;
  /**
   * Whether the next change selects streams again from those of the source. 0: no. 1: yes. 2: yes, after reading the
   * source again regardless of the platform's cache.
   */
  streams_anew: number;
  /** 0 or 1: an operator has paused this connection. It runs neither now nor when its workspace is activated. */
  paused: number;
  /** Incremented by every change of status, so that the platform is updated, and the version that the platform has. */
  status_version: number;
  applied_status_version: number;
  /** 0 or 1: the platform may still have it, or an earlier one in its place, which is to be removed there. */
  removal_due: number;
  /** 0 or 1: its schedule was chosen for it alone, and changes of its template do not touch it. */
  own_schedule: number;
  /** JSON: the streams that were chosen for it alone; null: its templates decide. See pipelines/streams.ts. */
  own_streams: string | null;
  /** JSON: what its customer may choose, by its version of the template; null: nothing. */
  customer_may_change: string | null;
}

/** The streams that the source of a connection had when the platform was last asked. */
export interface ConnectionCatalogRow {
  connection_id: string;
  organization_id: string;
  workspace_id: string;
  /** JSON: `PlatformStream[]`. */
  streams: string;
  read_at: number;
}

/** A job of a connection as last reported by the platform. `id` is the platform's. See pipelines/jobs.ts. */
export interface JobRow {
  organization_id: string;
  workspace_id: string;
  connection_id: string;
  source_id: string;
  source_template_id: string;
  connection_template_id: string;
  definition_id: string;
  /** Public id in the API. Unlike the platform's ids, it does not reveal how many jobs others have. */
  id: string;
  /** The same as `id` for jobs of versions that showed the platform's ids. */
  platform_id: string;
  type: string;
  status: 'pending' | 'running' | 'incomplete' | 'failed' | 'succeeded' | 'cancelled';
  started_at: number;
  ended_at: number | null;
  /** Null if not reported by the platform. */
  attempts: number | null;
  failed_attempts: number;
  /** When an attempt first failed, as far as it was seen. */
  failed_at: number | null;
  row_count: number | null;
  byte_count: number | null;
  failure_kind: 'config_error' | 'transient_error' | 'system_error' | 'unknown' | null;
  failure_origin: 'source' | 'destination' | 'platform' | 'unknown' | null;
  /** Who has to act on the failure, and its text for each audience. */
  failure_whose: 'customer' | 'operator' | null;
  error: string | null;
  customer_error: string | null;
  /** JSON: the codes of both (`Reasons`); null where an older version stored it. */
  reasons: string | null;
  /** JSON: attempts and streams as reported by the platform. */
  attempt_list: string | null;
  streams: string | null;
  more_streams: number;
  /**
   * Progress of rows, as a JSON list of `RowPoint` (platform/pipelines-port.ts). Null if not reported by the platform.
   */
  row_points: string | null;
  /** Trace of the request that started the job, or the trace that the platform assigned. */
  request_id: string | null;
  trace_id: string | null;
  /** When the platform last reported the job. */
  seen_at: number;
}

/** Jobs that ended in an hour, of all workspaces of an organization. */
interface JobHourRow {
  organization_id: string;
  hour: number;
  status: JobRow['status'];
  jobs: number;
  row_count: number;
  byte_count: number;
}

/** What an organization allows each of its workspaces, or what a workspace is allowed in place of that. */
interface QuotaRow {
  /** ID of the organization or workspace. */
  id: string;
  organization_id: string;
  /** JSON: limits by name. Null is no limit; a limit that is left out of a workspace's is the organization's. */
  limits: string;
  updated_at: number;
  /** For an organization: the last workspace compared with these limits. Null once all are. */
  review_after: string | null;
}

/** Why the syncs of a workspace are held back. A row exists exactly as long as `held_since` of the workspace is set. */
export interface QuotaHoldRow {
  workspace_id: string;
  organization_id: string;
  quota: LimitedQuota;
  quota_limit: number;
  used: number;
  /** When the period ends. */
  until: number;
}

/** That a workspace came near a limit, or reached it, was said in this period. So it is said once. */
interface QuotaNoticeRow {
  workspace_id: string;
  organization_id: string;
  quota: LimitedQuota;
  level: 'warning' | 'reached';
  quota_limit: number;
  /** When the period began. */
  period: number;
}

/** Syncs of a workspace that ended on a day. */
interface UsageDayRow {
  organization_id: string;
  workspace_id: string;
  /** The first millisecond of the day, in UTC. */
  day: number;
  syncs: number;
  row_count: number;
  byte_count: number;
}

/** A part of the log of one attempt of a job that has ended; see pipelines/job-logs.ts. */
export interface JobLogRow {
  organization_id: string;
  workspace_id: string;
  connection_id: string;
  job_id: string;
  /** From 1, as the platform counts. */
  attempt: number;
  /** 0, 1, 2, … */
  part: number;
  /** The byte of the whole log at which the next part begins, or the log ends. */
  end_offset: number;
  /** When the job ended. */
  ended_at: number;
  /** Where its first line with the level ERROR or FATAL begins; -1: it has none; null: stored before this was noted. */
  first_error_offset: number | null;
  /** Its lines as JSON, one a line, compressed with gzip. */
  content: Uint8Array;
}

/** An ended job whose log is still to be copied. The row is deleted once it is. */
interface JobLogWantedRow {
  workspace_id: string;
  connection_id: string;
  job_id: string;
  due_at: number;
}

/** How far the platform's jobs have been read, and who reads them. One row. */
interface JobWatchRow {
  id: 1;
  read_until: number;
  lease_id: string | null;
  lease_until: number;
  /** The latest time that the clock has shown; see deployment/clock.worker.ts. */
  clock_at: number;
}

/** When a scheduled backup last ran, and who makes one now. One row. */
interface ScheduledBackupRow {
  id: 1;
  /** Whether or not it succeeded. */
  ran_at: number;
  /** Start of the last one that succeeded. */
  made_at: number | null;
  lease_id: string | null;
  lease_until: number;
}

export interface SourceCheckRow {
  id: string;
  organization_id: string;
  workspace_id: string;
  status: CheckStatus;
  error_message: string | null;
  /** The same as the customer may read it. */
  customer_message: string | null;
  /** JSON: the codes of both (`Reasons`); null where an older version stored it. */
  reasons: string | null;
  /** What should be known although it succeeded, by reader: `AudienceWarnings` as JSON. */
  warnings: string | null;
  created_at: number;
  /** A check that still runs after this has lost its process. */
  expires_at: number;
  /**
   * 0 or 1: the platform may still have a source that was made for the check. The housekeeping looks for it after the
   * check.
   */
  may_linger: number;
}

/** A check of a destination, which belongs to no workspace. */
export interface DestinationCheckRow {
  id: string;
  organization_id: string;
  status: CheckStatus;
  error_message: string | null;
  /** JSON: `Reasons`, as of a source. */
  reasons: string | null;
  created_at: number;
  /** A check that still runs after this time has lost its process. */
  expires_at: number;
}

/** A request with an Idempotency-Key; see idempotency/. */
export interface IdempotencyKeyRow {
  id: string;
  organization_id: string;
  /** A hash of the token, the method, the path and the key. */
  slot: string;
  /** Who works on the request. */
  claim: string;
  /** After this time the work is taken for lost. */
  lease_until: number;
  /** When the request changed something. */
  applied_at: number | null;
  answered_at: number | null;
  /** A fingerprint of the request, and its answer once there is one. */
  sealed_record: string;
  expires_at: number;
}

/** Something that has happened, as the transaction of the change wrote it; see events/journal.ts. */
export interface LogEntryFacts {
  id: string;
  organization_id: string;
  /** One of events/catalogue.ts. */
  type: string;
  workspace_id: string | null;
  /** As the workspace was called then. */
  workspace_name: string | null;
  /** JSON, as the catalog says. Holds no secrets and no configuration. */
  data: string;
  /** When the change was made, by the database's clock. */
  recorded_at: number;
  /** Who made the change; see cause.ts. */
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  request_id: string | null;
  trace_id: string | null;
  outcome: 'done' | 'refused';
}

/** An entry that has no position yet. It is gone once it has one. */
export interface LogPendingRow extends LogEntryFacts {
  number: Generated<number>;
  /** 0 or 1. Written down, because a replica of an earlier version may give the positions, and does not know new types. */
  is_event: number;
  /** For the audit: JSON Patch from before to after, with secrets as keyed fingerprints. */
  patch: string | null;
  /** For the audit: JSON, where the request came from. */
  personal: string | null;
}

/** An entry with its positions. Never changed; see events/sequencer.worker.ts. */
export interface LogEntryRow extends LogEntryFacts {
  /** 1, 2, 3, … over all entries of the organization: the order of the audit trail. */
  trail_position: number;
  /** 1, 2, 3, … over the events of the organization; null for an entry for the audit alone. */
  position: number | null;
  /** Never before that of an earlier position. */
  sequenced_at: number;
  /** JSON: a salted hash of each field in `log_personal`, by its name; null without any. See events/chain.ts. */
  commitments: string | null;
  /** Hash over this entry and the previous hash. Null for entries older than the chain. */
  hash: string | null;
}

/** What an entry says of persons, and its patch. It can be erased: the entry itself has only commitments to it. */
export interface LogPersonalRow {
  entry_id: string;
  field: 'address' | 'user_agent' | 'patch';
  organization_id: string;
  salt: string;
  /** JSON. */
  value: string;
}

/** The last positions of an organization, and the first that are kept. */
export interface LogHeadRow {
  organization_id: string;
  position: number;
  trail_position: number;
  sequenced_at: number;
  hash: string | null;
  /** The last checkpoint. */
  checkpoint_position: number;
  checkpoint_at: number;
  /** The trail begins after this position, which has a checkpoint. */
  cut_until: number;
  /** Events up to this position are no longer readable. */
  events_after: number;
}

/** Signs checkpoints of the audit trail; see audit/. Never removed. */
export interface AuditKeyRow {
  kid: string;
  public_jwk: string;
  sealed_private_key: string;
  created_at: number;
  /** 1: the private key opens only beside its `created_at`. 0 for keys of earlier versions. */
  binds_time: number;
}

/** A signed statement which hash the trail of an organization had at a position. */
export interface AuditCheckpointRow {
  organization_id: string;
  position: number;
  hash: string;
  signed_at: number;
  key_id: string;
  signature: string;
  /** JSON: which beginning of the trail was cut off, `null` for none. Null in checkpoints of earlier versions. */
  cut: string | null;
}

/** Who gives positions. One row. */
interface LogSequencerRow {
  id: 1;
  lease_id: string | null;
  lease_until: number;
}

/** What an operator has registered with a provider, so that customers can sign in. */
export interface OAuthClientRow {
  id: string;
  organization_id: string;
  /** In the redirect address; no two clients of any organization have the same. */
  callback_key: string;
  name: string;
  /** The key of a preset, or null. */
  preset: string | null;
  issuer: string | null;
  /** JSON: how the provider does OAuth; null for a preset. */
  provider: string | null;
  /** The source definition whose specification it was taken from. */
  definition_id: string | null;
  client_id: string;
  /** JSON, sealed as a whole; empty without any. See credentials/clients/clients.ts. */
  sealed_secrets: string;
  /** What account ids are hashed with; it stays when the encryption key is replaced. */
  sealed_account_key: string;
  secret_expires_at: number | null;
  /**
   * Days before expiry of the last warning. Null: no warning yet. See credentials/clients/secret-warnings.worker.ts.
   */
  secret_warned_days: number | null;
  /** JSON: the hosts that the secret was given for. */
  secret_hosts: string;
  /** JSON. */
  authorization_params: string;
  token_params: string;
  created_at: number;
  updated_at: number;
}

/** The tokens that a provider has given for one workspace; see credentials/tokens/credentials.ts. */
export interface CredentialRow {
  id: string;
  organization_id: string;
  workspace_id: string;
  oauth_client_id: string;
  source_template_id: string;
  grant_kind: CredentialGrant;
  /** Who refreshes: this service, or a hosted platform, which was given the tokens once. */
  owner: CredentialOwner;
  state: CredentialState;
  /** Why it needs attention; null unless it does. */
  reason: CredentialReason | null;
  /** JSON, sealed as a whole; empty where the platform owns them, and after the end. See credentials/tokens/credentials.ts. */
  sealed_tokens: string;
  /** Counts up with every new token. */
  generation: number;
  /** Null: the provider does not say. */
  access_expires_at: number | null;
  /** When the tokens are due for a refresh or an expiry warning. Null: never. */
  refresh_due_at: number | null;
  /** How often refreshing has failed in a row. */
  failures: number;
  /** When a connector got an access token last, to within an hour. */
  used_at: number | null;
  /** JSON: what was granted. */
  scopes: string;
  /** JSON: what the customer entered for the addresses of the provider. */
  provider_values: string;
  /** A keyed hash that identifies the account. Null: the provider does not report accounts. */
  account_id: string | null;
  /** What the customer knows the account by. */
  account_label: string | null;
  /** The generation whose refresh token was sent without an answer that was stored, and how often it was sent. */
  tried_generation: number | null;
  tries: number;
  lease_id: string | null;
  lease_until: number;
  last_error: string | null;
  /** When to revoke the tokens at the provider. Null: nothing to revoke. */
  revoke_due_at: number | null;
  revoke_tries: number;
  revocation: CredentialRevocation | null;
  created_at: number;
  updated_at: number;
  /** When the customer has signed in last. */
  signed_in_at: number;
  ended_at: number | null;
}

/** One flow: an attempt of a customer to sign in; see credentials/sign-in/flows.ts. */
export interface OAuthFlowRow {
  id: string;
  organization_id: string;
  workspace_id: string;
  oauth_client_id: string;
  source_template_id: string;
  /** The source that is connected again; null: it is to be made. */
  source_id: string | null;
  /** The token with which it was begun; null for a link that an operator has sent. */
  token_id: string | null;
  /** The origin of the page around the widget. */
  origin: string | null;
  /** 0 or 1: the page that began it was loaded into a frame. */
  is_framed: number;
  /** What the customer is called on the page that asks. */
  customer_label: string | null;
  /** Where the browser goes afterwards, where no popup is possible. */
  return_to: string | null;
  state: FlowState;
  /** SHA-256, in hex, of what the start address holds. */
  start_hash: string;
  /** The same of `state`, from the start page on. */
  state_hash: string | null;
  /** The same of the cookie that the start page sets. */
  cookie_hash: string | null;
  /**
   * JSON, sealed as a whole: the PKCE verifier and the nonce while the customer is with the provider, the tokens while
   * another account is to be confirmed; else empty. See credentials/sign-in/flow-secrets.ts.
   */
  sealed_secrets: string;
  /** JSON, sealed: what the customer had entered in the form, without secrets; or empty. */
  sealed_entered: string;
  /** 0 or 1: the page may forget the sign-in, so the form of the template offers it once it is connected. */
  offer_later: number;
  issuer: string | null;
  /** JSON: the requested scopes. */
  scopes: string;
  provider_values: string;
  /** Resulting credential. */
  credential_id: string | null;
  /** Who signed in. */
  account_label: string | null;
  /** JSON: what is needed and was not granted. */
  missing_scopes: string;
  failure: FlowFailure | null;
  /** What the provider said. */
  failure_detail: string | null;
  /** For a link from an operator: when it expires. It can be retried until it has connected once. */
  link_until: number | null;
  /** 0 or 1: an operator tries the sign-in out. Its tokens are thrown away. */
  is_test: number;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** Where events are sent; see webhooks/. */
export interface WebhookEndpointRow {
  id: string;
  organization_id: string;
  /** The workspace whose customer made it; null: an operator made it. */
  workspace_id: string | null;
  url: string;
  description: string | null;
  /** JSON: types of events, with stars. */
  types: string;
  /** JSON; null: all. */
  workspace_ids: string | null;
  tags: string | null;
  /** Further headers as JSON, sealed as a whole; empty without any. */
  sealed_headers: string;
  signing: WebhookSigning;
  /** What signs, as JSON, sealed as a whole; see webhooks/keys.ts. */
  sealed_keys: string;
  /** Requests a second at most. */
  rate: number | null;
  /** 0 or 1. */
  ordered: number;
  enabled: number;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  /** Every event up to this position has a row in `webhook_deliveries`, or is not wanted. */
  read_until: number;
  lease_id: string | null;
  lease_until: number;
  /** The receiver asked for a pause, or fails again and again. */
  not_before: number;
  /** Since when every delivery has failed. */
  failing_since: number | null;
  /** 0 or 1: it was said that it fails, and not yet that it works again. */
  failing_told: number;
  last_delivered_at: number | null;
  created_at: number;
  updated_at: number;
}

/** An event on its way to an endpoint, and how that went. */
export interface WebhookDeliveryRow {
  endpoint_id: string;
  organization_id: string;
  event_id: string;
  position: number;
  event_type: string;
  state: DeliveryStatus;
  attempts: number;
  /** Set exactly while it is pending. */
  next_at: number | null;
  created_at: number;
  delivered_at: number | null;
  /** JSON: the last attempts. */
  attempt_list: string;
}

export interface Tables {
  organizations: OrganizationRow;
  operator_tokens: OperatorTokenRow;
  console_sessions: ConsoleSessionRow;
  console_links: ConsoleLinkRow;
  console_sign_ins: ConsoleSignInRow;
  replicas: ReplicaRow;
  signing_keys: SigningKeyRow;
  revoked_tokens: RevokedTokenRow;
  idempotency_keys: IdempotencyKeyRow;
  workspaces: WorkspaceTable;
  workspace_counts: WorkspaceCountRow;
  health_counts: HealthCountRow;
  name_claims: NameClaimRow;
  operations: OperationRow;
  paused_connections: PausedConnectionRow;
  template_tags: TemplateTagRow;
  source_templates: SourceTemplateRow;
  connection_templates: ConnectionTemplateRow;
  template_versions: TemplateVersionRow;
  rollouts: RolloutRow;
  rollout_items: RolloutItemRow;
  cause_retries: CauseRetryRow;
  cause_retry_items: CauseRetryItemRow;
  template_plans: TemplatePlanRow;
  template_plan_items: TemplatePlanItemRow;
  source_template_tags: TaggingRow;
  connection_template_tags: TaggingRow;
  source_definitions: SourceDefinitionRow;
  source_definition_versions: SourceDefinitionVersionRow;
  definition_copies: DefinitionCopyRow;
  sources: SourceRow;
  destinations: DestinationRow;
  connections: ConnectionRow;
  connection_catalogs: ConnectionCatalogRow;
  source_checks: SourceCheckRow;
  destination_checks: DestinationCheckRow;
  jobs: JobRow;
  job_hours: JobHourRow;
  job_logs: JobLogRow;
  job_logs_wanted: JobLogWantedRow;
  quotas: QuotaRow;
  usage_days: UsageDayRow;
  quota_holds: QuotaHoldRow;
  quota_notices: QuotaNoticeRow;
  log_pending: LogPendingRow;
  log_entries: LogEntryRow;
  log_heads: LogHeadRow;
  log_personal: LogPersonalRow;
  audit_keys: AuditKeyRow;
  audit_checkpoints: AuditCheckpointRow;
  log_sequencer: LogSequencerRow;
  /** Changes of connectors of the bundled platform that the log has. A few rows: they are kept for ever. */
  definition_changes_told: { change_id: string; told_at: number };
  job_watch: JobWatchRow;
  scheduled_backups: ScheduledBackupRow;
  webhook_endpoints: WebhookEndpointRow;
  oauth_clients: OAuthClientRow;
  oauth_flows: OAuthFlowRow;
  credentials: CredentialRow;
  webhook_deliveries: WebhookDeliveryRow;
}
