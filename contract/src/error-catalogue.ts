/**
 * The closed list of all errors of the service: status, detail, and what they mean. The API reference and
 * docs/reference/errors.md are checked against it. The file is long because the catalog is one list.
 */
import type { Fault } from './errors.ts';
import type { QuotaName } from './tenancy/quotas.ts';

/** Why saved work could not be completed immediately. Decides between 502, 503 and 504. */
export type Delay = 'bad_answer' | 'unavailable' | 'timed_out';

/** Required facts, by code. */
export interface RequiredFacts {
  invalid_request: { faults: Fault[] };
  idempotency_key_reused: { faults: Fault[] };
  rate_limited: { retryAfterSeconds: number };
  rename_recorded: { delay: Delay };
  status_recorded: { delay: Delay };
  deletion_recorded: { delay: Delay };
  source_deletion_recorded: { delay: Delay };
  connection_deletion_recorded: { delay: Delay };
  platform_does_not_answer: { delay: Delay };
  connections_pending: { pending: number; total: number; verb: 'disabled' | 'enabled' };
  sync_stopped: { total: number };
  events_gone: { begin: number };
  events_ahead: { head: number };
  quota_reached: {
    words: string;
    quota: QuotaName;
    limit: number;
    /** For operators only. */
    used?: number;
    /** When more is allowed, where that is known (RFC 3339). */
    until?: string;
    retryAfterSeconds?: number;
  };
  too_many_event_streams: { whose: 'token' | 'organization'; limit: number };
  webhook_endpoint_limit: { most: number };
  oauth_client_limit: { most: number };
  /** Names of the templates that use the definition. */
  definition_in_use: { templates: string[] };
}

/** Optional facts, by code. Without a retry time here, the catalogue's default applies. */
interface OptionalFacts {
  creation_pending: { retryAfterSeconds?: number };
  platform_unavailable: { retryAfterSeconds?: number };
  platform_rate_limited: { retryAfterSeconds?: number };
  queue_full: { retryAfterSeconds?: number };
}

/** Facts of a code. Most codes have none. */
export type FactsOf<Code extends ErrorCode> = Code extends keyof RequiredFacts
  ? RequiredFacts[Code]
  : Code extends keyof OptionalFacts
    ? OptionalFacts[Code]
    : Record<string, never>;

export interface CatalogueEntry<Code extends ErrorCode> {
  status: number | ((facts: FactsOf<Code>) => number);
  detail: string | ((facts: FactsOf<Code>) => string);
  /** Example detail for the reference, required if the detail depends on facts. */
  example?: string;
  /** The same for customer endpoints, where the message is different. */
  customerExample?: string;
  /** The facts that `X-Inlay-Error-Parameters` carries. */
  parameters?: readonly (keyof FactsOf<Code> & string)[];
  /** Statuses that `status` can return, for the reference. */
  statuses: readonly number[];
  retryAfterSeconds?: number;
  when: string;
}

const statusOfDelay: Record<Delay, number> = { bad_answer: 502, unavailable: 503, timed_out: 504 };
const byDelay = ({ delay }: { delay: Delay }) => statusOfDelay[delay];
const delayed = [502, 503, 504] as const;

const at = (status: number, detail: string, when: string, retryAfterSeconds?: number) => ({
  status,
  statuses: [status],
  detail,
  when,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

const entries = {
  unauthenticated: at(
    401,
    'Invalid authentication credentials',
    'The `Authorization` header is missing or malformed, or the token is unknown, expired, revoked, of the wrong type for this endpoint, or belongs to a deleted workspace. Check the token, or request a new one.',
  ),
  forbidden: at(
    403,
    'Access denied to this resource',
    'A read-only operator token was used to write, `X-Organization-Id` differs from the organization of the token, a widget token was used from another origin, or a scoped token on a resource of another workspace.',
  ),
  route_not_found: at(404, 'Not Found', 'The path does not exist. Check it against the API reference.'),
  workspace_not_found: at(
    404,
    'Workspace not found',
    'The workspace does not exist, was deleted, or belongs to another organization.',
  ),
  operator_token_not_found: at(
    404,
    'Operator token not found',
    'The operator token does not exist or belongs to another organization.',
  ),
  operator_token_ended: at(
    409,
    'The operator token has expired or was revoked. Create a new one.',
    'Only a token that still works can be rotated.',
  ),
  tag_not_found: at(
    404,
    'Tag not found',
    'The tag does not exist, belongs to another organization, or is not on this template.',
  ),
  source_template_not_found: at(
    404,
    'Source template not found',
    'The source template does not exist, was deleted, belongs to another organization, or is not offered to this scoped token.',
  ),
  connection_template_not_found: at(
    404,
    'Connection template not found',
    'The connection template does not exist, was deleted, or belongs to another organization.',
  ),
  template_version_not_found: at(404, 'Template version not found', 'The template has no version with this number.'),
  rollout_not_found: at(404, 'Rollout not found', 'The template has no rollout with this ID.'),
  rollout_ended: at(
    409,
    'The rollout has ended. Start a new one.',
    'Rollouts that have finished or stopped cannot be paused, resumed or stopped.',
  ),
  cause_not_found: at(
    404,
    'Cause not found',
    'No connection currently fails for this cause. The overview lists current causes.',
  ),
  cause_retry_not_found: at(
    404,
    'Retry not found',
    'There is no retry with this ID. Retries are kept for a week after they end.',
  ),
  plan_not_found: at(
    404,
    'Plan not found',
    'The template has no plan with this ID. Plans are kept for a day, at most ten per template.',
  ),
  plan_outdated: at(
    409,
    'The plan is out of date. Create a new one.',
    'The template, or something that the plan counts, has changed since the plan was created.',
  ),
  source_definition_not_found: at(404, 'Source definition not found', 'There is no source connector with this ID.'),
  source_definition_version_not_found: at(
    404,
    'Source definition version not found',
    'The connector never had this version, or the version was removed. Old versions are removed once no source uses them.',
  ),
  destination_definition_not_found: at(
    404,
    'Destination definition not found',
    'There is no destination connector with this ID.',
  ),
  definition_in_use: {
    status: 409,
    statuses: [409],
    detail: ({ templates }: RequiredFacts['definition_in_use']) =>
      `This definition is used by templates. Delete them first: ${templates.join(', ')}`,
    example: 'This definition is used by templates. Delete them first: Books, Books for schools',
    when: 'A definition can only be deleted when no source template uses it.',
  },
  workspace_name_taken: at(
    409,
    'A workspace with this name already exists',
    'Another workspace of the organization has this name or is being created with it. Choose a different name.',
  ),
  tag_name_taken: at(
    409,
    'A tag with this name already exists',
    'The organization already has a tag with this name. Choose a different name.',
  ),
  workspace_being_deleted: at(
    409,
    'Workspace is being deleted',
    'The workspace is being deleted, so it cannot be updated and no tokens are issued for it. The name is free again once the deletion is complete.',
    5,
  ),
  invalid_request: {
    status: 422,
    statuses: [422],
    detail: 'An array with every fault of the request',
    when: 'The path, query or body is invalid. Each fault names the field and what is accepted.',
  },
  idempotency_key_reused: {
    status: 422,
    statuses: [422],
    detail: 'An array with one fault, for the header',
    when: 'This `Idempotency-Key` was used in the last 24 hours for a request with a different body or query. Use a new key for each request.',
  },
  idempotency_key_in_use: at(
    409,
    'A request with this Idempotency-Key is in progress. Retry shortly.',
    'The first request with this `Idempotency-Key` has not finished. Wait, then retry.',
    2,
  ),
  idempotency_answer_lost: at(
    409,
    'The request with this Idempotency-Key was processed, but its response was lost. Check the result before you send a new request.',
    'The service crashed after the request took effect and before the response was stored. Check whether the result exists. To repeat the request, use a new key.',
  ),
  rate_limited: at(
    429,
    'Too many requests',
    'The token, or all tokens of its workspace together, exceeded the requests allowed per minute. Wait as long as `Retry-After` says.',
  ),
  too_many_event_streams: {
    status: 429,
    statuses: [429],
    parameters: ['whose', 'limit'] as const,
    detail: ({ whose, limit }: RequiredFacts['too_many_event_streams']) =>
      `Too many event streams are open for this ${whose} (limit: ${limit}). Close one first.`,
    example: 'Too many event streams are open for this token (limit: 50). Close one first.',
    when: 'Each replica allows 50 event streams per token or console session, and 500 per organization. Close a stream, or share one between readers.',
    retryAfterSeconds: 10,
  },
  storage_unavailable: at(
    503,
    'Storage is unavailable. Retry shortly.',
    'The database is busy, full or down. Retry after the time in `Retry-After`.',
    2,
  ),
  definitions_unavailable: at(
    503,
    'Connector definitions are temporarily unavailable. Retry shortly.',
    'The platform or the connector registry did not respond, and the service has no cached definitions.',
    10,
  ),
  definition_unusable: at(
    502,
    "The connector's specification is invalid",
    'The platform or the registry returned a configuration schema that is not usable JSON Schema. See the log for details.',
  ),
  creation_unconfirmed: at(
    502,
    'The platform did not confirm that the workspace was created. Retry shortly.',
    'The response was lost or was an error that may still have taken effect. A retry finds or creates the workspace and never creates a second one.',
    2,
  ),
  creation_timed_out: at(
    504,
    'The platform did not confirm that the workspace was created. Retry shortly.',
    'The platform timed out. A retry finds or creates the workspace and never creates a second one.',
    2,
  ),
  creation_pending: at(
    503,
    'The workspace is still being created. Retry shortly.',
    'Another request is creating the workspace, or an unconfirmed request has to settle first.',
    2,
  ),
  platform_unavailable: at(
    503,
    'The platform is unavailable, so the workspace cannot be created. Retry shortly.',
    'The platform cannot be reached. Tokens for existing workspaces are still issued.',
    5,
  ),
  platform_rate_limited: at(
    503,
    'The platform is rate limiting Inlay. Retry shortly.',
    'The platform responded with 429.',
    10,
  ),
  platform_credentials_rejected: at(
    502,
    "The platform rejected Inlay's credentials",
    '`INLAY_PLATFORM_CLIENT_ID` and `INLAY_PLATFORM_CLIENT_SECRET` are wrong or lack permission. Run `inlay doctor` for details.',
  ),
  platform_refused: at(
    502,
    'The platform rejected the request',
    "The platform returned an error that a retry cannot fix. See the log for the platform's message.",
  ),
  platform_lost_workspace: at(
    502,
    'The workspace no longer exists on the platform. Delete it here too.',
    'Somebody deleted the workspace directly on the platform instead of through Inlay.',
  ),
  rename_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The new name was saved and will be applied automatically',
    when: 'The platform could not be updated yet. Until it is, both names work. No action is needed.',
  },
  status_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The new status was saved and will be applied automatically',
    when: 'The platform could not be updated yet. The status is already in effect in Inlay. No action is needed.',
  },
  connections_pending: {
    status: 502,
    statuses: [502],
    parameters: ['pending', 'total'] as const,
    detail: ({ pending, total, verb }: RequiredFacts['connections_pending']) =>
      `${pending} of ${total} connections are not ${verb} yet. This will be completed automatically.`,
    example: '3 of 17 connections are not disabled yet. This will be completed automatically.',
    when: 'The platform updated some connections and failed on others. No action is needed.',
  },
  deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The deletion was saved and will be completed automatically',
    when: 'The platform could not delete the workspace yet. Its tokens no longer work. No action is needed.',
  },
  sync_stopped: {
    status: 502,
    statuses: [502],
    parameters: ['total'] as const,
    detail: ({ total }: RequiredFacts['sync_stopped']) =>
      `Synchronization stopped after ${total} workspaces. Retry to continue.`,
    example: 'Synchronization stopped after 200 workspaces. Retry to continue.',
    when: 'The platform failed between two pages. Workspaces recorded so far are kept, and a retry continues.',
    retryAfterSeconds: 5,
  },
  event_not_found: at(
    404,
    'Event not found',
    'The event does not exist, belongs to another organization, or is older than the retention period (`INLAY_EVENT_DAYS`). The audit trail (`GET /api/v1/audit-events`) may still have it.',
  ),
  events_gone: {
    status: 410,
    statuses: [410],
    parameters: ['begin'] as const,
    detail: ({ begin }: RequiredFacts['events_gone']) =>
      `Events up to position ${begin} are no longer available. Continue with after=${begin}.`,
    example: 'Events up to position 1042 are no longer available. Continue with after=1042.',
    when: 'The reader was away for longer than events are kept (`INLAY_EVENT_DAYS`) and has missed some. Reload the current state, then continue from the given position.',
  },
  events_ahead: {
    status: 410,
    statuses: [410],
    parameters: ['head'] as const,
    detail: ({ head }: RequiredFacts['events_ahead']) =>
      `The log ends at position ${head}, before yours, because it was restored from a backup. Continue with after=${head}.`,
    example:
      'The log ends at position 1042, before yours, because it was restored from a backup. Continue with after=1042.',
    when: "The reader's position does not exist, for example after a backup was restored. Reload the current state, then continue from the given position.",
  },
  source_not_found: at(
    404,
    'Source not found',
    'The source does not exist, was deleted, or belongs to another organization.',
  ),
  check_not_found: at(404, 'Check not found', 'The check does not exist or is older than a day.'),
  connection_not_found: at(
    404,
    'Connection not found',
    'The connection does not exist, was deleted, or belongs to another organization.',
  ),
  source_deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The deletion was saved and will be completed automatically',
    when: 'The source is already hidden, but the platform could not delete it yet. No action is needed.',
  },
  connection_deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The deletion was saved and will be completed automatically',
    when: 'The connection is already hidden, but the platform could not delete it yet. No action is needed.',
  },
  choice_not_offered: at(
    403,
    'This setting is managed for you and cannot be changed here',
    'The connection template does not let customers change this setting. See `customer_may_change`.',
  ),
  connection_pending: at(
    409,
    'The connection is still being set up. Retry shortly.',
    'The connection does not exist on the platform yet, so it cannot sync.',
    5,
  ),
  connection_paused: at(
    409,
    'The connection is paused',
    'Paused connections do not sync. An operator can activate the connection.',
  ),
  sync_already_running: at(
    409,
    'A sync of this connection is already running',
    'A connection runs one sync at a time. Wait for it to finish, or cancel it.',
  ),
  stream_not_refreshed: at(
    409,
    'This stream cannot be refreshed on this platform, or has never been synced',
    'The connection has not synced a stream with this name, or the platform is a hosted one, which does not support refreshing single streams.',
  ),
  no_sync_running: at(409, 'No sync of this connection is running', 'Only syncs that have not ended can be cancelled.'),
  job_not_found: at(
    404,
    'Job not found',
    'The job does not exist, belongs to another organization, or was removed after the retention period (`INLAY_JOB_HISTORY_DAYS`).',
  ),
  log_not_told: at(
    501,
    'The platform does not provide job logs',
    'The API of a hosted platform does not provide job logs. Open them on the platform instead.',
  ),
  queue_full: at(
    429,
    'The queue is full. Retry shortly.',
    'Too many checks and syncs of this workspace (`INLAY_MAX_WAITING_PER_WORKSPACE`), or too many manifests of the organization, are waiting. Retry when some have finished.',
    10,
  ),
  workspace_inactive: at(
    409,
    'The workspace is inactive',
    'Inactive workspaces run no syncs. An operator can activate the workspace.',
  ),
  quota_reached: {
    status: 409,
    statuses: [409],
    parameters: ['quota', 'limit', 'used', 'until'] as const,
    detail: ({ words }: RequiredFacts['quota_reached']) => words,
    example: 'Quota sources reached: 10 of 10 used. To raise it, use PUT /api/v1/workspaces/{workspace_id}/quotas.',
    customerExample:
      "You've reached the limit of 10 sources. Remove a source that you no longer need, or ask for a higher limit.",
    when: 'The workspace has reached one of its quotas. Raise the quota, or remove what is no longer needed. With a scoped token, the message is written for the customer.',
  },
  platform_lost_connection: at(
    502,
    'The connection no longer exists on the platform. Delete its source here.',
    'Somebody deleted the connection directly on the platform instead of through Inlay. Lists show the connection as inactive, and Inlay does not recreate it.',
  ),
  destination_checks_unsupported: at(
    501,
    'The platform cannot test destinations',
    'Only the bundled platform can test destinations. The API of hosted platforms does not support it.',
  ),
  stream_discovery_unsupported: at(
    501,
    'The platform cannot discover streams before the source exists',
    "Only the bundled platform can do this. On a hosted platform, enter the stream names by hand, or look them up in a customer's connection.",
  ),
  stream_discovery_unavailable: at(
    503,
    'Streams cannot be discovered right now. Retry shortly.',
    'The platform did not respond, or the service is shutting down.',
    5,
  ),
  destination_check_unavailable: at(
    503,
    'The destination cannot be tested right now. Retry shortly, or save with skip_check.',
    'The platform did not respond, or the service is shutting down.',
    5,
  ),
  worker_not_found: at(404, 'Worker not found', 'There is no worker with this ID, or it was revoked.'),
  workers_unsupported: at(
    501,
    'The platform has no workers',
    'Only the bundled platform has workers. A hosted platform runs syncs on its own machines.',
  ),
  deployment_only: at(
    403,
    'Only the organization that runs this deployment can do this',
    'Workers run the syncs of all organizations of the deployment, so only the first organization sees and manages them.',
  ),
  webhook_endpoint_not_found: at(
    404,
    'Webhook endpoint not found',
    'The webhook endpoint does not exist, was deleted, or belongs to another organization or workspace.',
  ),
  webhook_endpoint_limit: {
    status: 409,
    statuses: [409],
    parameters: ['most'] as const,
    detail: ({ most }: RequiredFacts['webhook_endpoint_limit']) =>
      `The limit of ${most} webhook endpoints is reached. Delete one first.`,
    example: 'The limit of 50 webhook endpoints is reached. Delete one first.',
    when: 'An organization can have 50 webhook endpoints, and each customer 5.',
  },
  webhook_endpoint_disabled: at(
    409,
    'The webhook endpoint is disabled. Enable it first.',
    'Past events are only sent to enabled endpoints.',
  ),
  webhooks_not_offered: at(
    403,
    'Webhooks are not available here',
    'Customers can create webhook endpoints only if the operator allows it (`INLAY_CUSTOMER_WEBHOOKS`).',
  ),
  oauth_client_not_found: at(
    404,
    'OAuth client not found',
    'The OAuth client does not exist, was deleted, or belongs to another organization.',
  ),
  oauth_client_in_use: at(
    409,
    'The OAuth client is in use. Delete its credentials and remove it from its templates first.',
    'Customers have signed in with this OAuth client, or templates ask them to.',
  ),
  credential_not_found: at(
    404,
    'Credential not found',
    'The credential does not exist, ended long ago, or belongs to another organization or workspace.',
  ),
  oauth_client_limit: {
    status: 409,
    statuses: [409],
    parameters: ['most'] as const,
    detail: ({ most }: RequiredFacts['oauth_client_limit']) =>
      `The limit of ${most} OAuth clients is reached. Delete one first.`,
    example: 'The limit of 200 OAuth clients is reached. Delete one first.',
    when: 'An organization can have 200 OAuth clients.',
  },
  sign_in_not_found: at(
    404,
    'Sign-in not found',
    'The sign-in does not exist, belongs to another workspace, or ended more than a day ago.',
  ),
  sign_in_not_unconfirmed: at(
    409,
    'This sign-in does not need confirmation. Start a new one.',
    'Only a sign-in with a different account needs confirmation. It can be confirmed once, before it expires.',
  ),
  sign_in_not_possible: at(
    409,
    'Sign-in is not available right now',
    "The template's OAuth client was deleted or has no secret, or its URLs have changed and you have to enter the secret again. See `needs_secret` of the client.",
  ),
  sign_in_needs_https: at(
    409,
    'Signing in with a provider requires HTTPS. Set INLAY_PUBLIC_URL to an https URL.',
    'The public URL is plain http on a host other than localhost. Browsers do not send the cookie and headers that protect a sign-in there. Put a TLS proxy in front of the service.',
  ),
  console_needs_https: at(
    403,
    'The console requires HTTPS. Set INLAY_PUBLIC_URL to an https URL, or open the console on the machine that runs Inlay.',
    'Over plain http, the session cookie could be intercepted. Put a TLS proxy in front of the service.',
  ),
  console_origin: at(
    403,
    'This request did not come from the console',
    'The `X-Inlay-Console` header is missing, or the request came from a page on another origin. Reload the console.',
  ),
  console_sign_in_failed: at(
    401,
    "That token or link didn't work",
    'Check the token for typos. Links work once and expire after 15 minutes.',
  ),
  console_session_present: at(
    409,
    'You are already signed in. Opening this link would replace your session.',
    'The link has not been used. Send `replace` to sign in with it and end the current session.',
  ),
  console_provider_unavailable: at(
    503,
    "Your identity provider isn't responding. Retry shortly, or sign in with a link.",
    'The provider in `INLAY_CONSOLE_OIDC_ISSUER` did not return its metadata. Run `inlay doctor` for details.',
    5,
  ),
  console_session_not_found: at(
    404,
    'Console session not found',
    'The session does not exist, has ended, or belongs to another organization.',
  ),
  platform_does_not_answer: {
    status: byDelay,
    statuses: delayed,
    detail: 'The platform is unavailable. Retry shortly.',
    when: 'The request needs the platform, which cannot be reached.',
    retryAfterSeconds: 5,
  },
};

export type ErrorCode = keyof typeof entries;

export const errorCatalogue: { readonly [Code in ErrorCode]: CatalogueEntry<Code> } = entries;

export interface Refusal {
  status: number;
  when: string;
  /** Detail for the reference, if it is not the name of the status. */
  example?: string;
}

/** HTTP errors that any path can return before its endpoint is reached. */
export const refusals = {
  bad_request: { status: 400, when: 'The request is not well-formed HTTP.' },
  method_not_allowed: {
    status: 405,
    when: 'The path does not support this method. The `Allow` header lists the methods it supports.',
  },
  request_timeout: { status: 408, when: 'The request took too long to arrive.' },
  body_too_large: { status: 413, when: 'The body is larger than 1 MiB.' },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json`, or is compressed.' },
  expectation_failed: { status: 417, when: 'The `Expect` header asks for something other than `100-continue`.' },
  headers_too_large: { status: 431, when: 'The headers are too large.' },
  not_ready: {
    status: 503,
    when: '`/health/ready` only: a component does not respond, or the service is shutting down.',
    example: 'Not ready: database: the database does not answer',
  },
  internal_error: { status: 500, when: 'A bug in the service. Find the request ID in the log for details.' },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof refusals;
