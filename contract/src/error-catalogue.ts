/**
 * Every error of the service: which status and which words it gets, and when it happens. The list is closed. The API
 * reference and docs/reference/errors.md are checked against it. The file is long because the catalogue is one list.
 */
import type { Fault } from './errors.ts';

/** Why recorded work could not be finished at once; decides between 502, 503 and 504. */
export type Delay = 'bad_answer' | 'unavailable' | 'timed_out';

/** Facts that a reader must know, for the codes that have such facts. */
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
  quota_reached: { words: string; retryAfterSeconds?: number };
  too_many_event_streams: { whose: 'token' | 'organization'; limit: number };
  webhook_endpoint_limit: { most: number };
  oauth_client_limit: { most: number };
  /** The names of the templates that use it. */
  definition_in_use: { templates: string[] };
}

/** Facts that are not always known. Without a time to retry here, the catalogue's time is used. */
interface OptionalFacts {
  creation_pending: { retryAfterSeconds?: number };
  platform_unavailable: { retryAfterSeconds?: number };
  platform_rate_limited: { retryAfterSeconds?: number };
  queue_full: { retryAfterSeconds?: number };
}

/** The facts of a code. Most codes say everything themselves. */
export type FactsOf<Code extends ErrorCode> = Code extends keyof RequiredFacts
  ? RequiredFacts[Code]
  : Code extends keyof OptionalFacts
    ? OptionalFacts[Code]
    : Record<string, never>;

export interface CatalogueEntry<Code extends ErrorCode> {
  status: number | ((facts: FactsOf<Code>) => number);
  detail: string | ((facts: FactsOf<Code>) => string);
  /** An example for the reference, needed where the detail depends on facts. */
  example?: string;
  /** The same for endpoints that customers call, where they read other words. */
  customerExample?: string;
  /** Statuses that `status` can give, for the reference. */
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
    'The Authorization header is missing or malformed, or the token is unknown, expired, revoked, of the wrong kind for the endpoint, or of a deleted workspace.',
  ),
  forbidden: at(
    403,
    'Access denied to this resource',
    "A read-only operator token on a write, an X-Organization-Id that is not the token's, a widget token used from another origin, or a scoped token on a resource of another workspace.",
  ),
  route_not_found: at(404, 'Not Found', 'No such path.'),
  workspace_not_found: at(
    404,
    'Workspace not found',
    'The workspace is unknown, deleted, or belongs to another organization.',
  ),
  operator_token_not_found: at(
    404,
    'Operator token not found',
    'The operator token is unknown or belongs to another organization.',
  ),
  operator_token_ended: at(
    409,
    'The operator token is revoked or has expired; create a new one',
    'A rotation of an operator token that no longer works.',
  ),
  tag_not_found: at(
    404,
    'Tag not found',
    'The tag is unknown, belongs to another organization, or is not on the template from which it shall be removed.',
  ),
  source_template_not_found: at(
    404,
    'Source template not found',
    'The source template is unknown, deleted, belongs to another organization, or is not offered to the scoped token.',
  ),
  connection_template_not_found: at(
    404,
    'Connection template not found',
    'The connection template is unknown, deleted, or belongs to another organization.',
  ),
  template_version_not_found: at(404, 'Template version not found', 'The template has no version of this number.'),
  rollout_not_found: at(404, 'Rollout not found', 'The template has no rollout with this id.'),
  rollout_ended: at(
    409,
    'The rollout has ended; start another one',
    'A rollout that has finished or stopped can be neither paused, resumed nor stopped.',
  ),
  cause_not_found: at(
    404,
    'No connection fails for this cause',
    'No connection fails for this cause, or none does any more: the overview has the present causes.',
  ),
  cause_retry_not_found: at(
    404,
    'No cause was tried again under this id',
    'There is no retry of a cause with this id: retries are kept for a week after their end.',
  ),
  plan_not_found: at(
    404,
    'Plan not found',
    'The template has no plan with this id: plans are kept for a day, and the last ten of a template.',
  ),
  plan_outdated: at(
    409,
    'The plan no longer holds; plan again',
    'Since the plan was made, the template has changed, or something that the plan counts was made, changed or deleted.',
  ),
  source_definition_not_found: at(404, 'Source definition not found', 'There is no source connector with this id.'),
  source_definition_version_not_found: at(
    404,
    'Source definition version not found',
    'The connector never had a version of this number, or the version is no longer kept: it is old, and no source has it.',
  ),
  destination_definition_not_found: at(
    404,
    'Destination definition not found',
    'There is no destination connector with this id.',
  ),
  definition_in_use: {
    status: 409,
    statuses: [409],
    detail: ({ templates }: RequiredFacts['definition_in_use']) =>
      `Templates use this definition; delete them first: ${templates.join(', ')}`,
    example: 'Templates use this definition; delete them first: Books, Books for schools',
    when: 'A definition cannot be deleted while source templates use it. The answer names them.',
  },
  workspace_name_taken: at(
    409,
    'A workspace with this name already exists',
    'A rename to a name that another workspace of the organization has, or that is being created.',
  ),
  tag_name_taken: at(409, 'A tag with this name already exists', 'The organization already has a tag with this name.'),
  workspace_being_deleted: at(
    409,
    'Workspace is being deleted',
    'A token request for, or an update of, a workspace whose deletion is not finished.',
    5,
  ),
  invalid_request: {
    status: 422,
    statuses: [422],
    detail: 'An array with all faults of the request',
    when: 'The path, query or body is not as described.',
  },
  idempotency_key_reused: {
    status: 422,
    statuses: [422],
    detail: 'An array with one fault, of the header',
    when: 'The `Idempotency-Key` was used in the last 24 hours for a request with another body or query.',
  },
  idempotency_key_in_use: at(
    409,
    'A request with this Idempotency-Key is being carried out; retry shortly',
    'The first request with this `Idempotency-Key` has not been answered yet.',
    2,
  ),
  idempotency_answer_lost: at(
    409,
    'The request with this Idempotency-Key was carried out, but its answer is lost; look before you send it again',
    'The service crashed after the request took effect and before its answer was stored. Look whether the result is there. To send the request again, use a new key.',
  ),
  rate_limited: at(
    429,
    'Too many requests',
    'The token, or all tokens of its workspace together, have used up their requests for this minute.',
  ),
  too_many_event_streams: {
    status: 429,
    statuses: [429],
    detail: ({ whose, limit }: RequiredFacts['too_many_event_streams']) =>
      `Too many event streams of this ${whose} are open (${limit} at most)`,
    example: 'Too many event streams of this token are open (50 at most)',
    when: 'A replica keeps 50 event streams open for a token or a session of the console, and 500 for an organization. Close one, or share one among your readers.',
    retryAfterSeconds: 10,
  },
  storage_unavailable: at(503, 'Storage is unavailable', 'The local store is busy, full or down. Try again.', 2),
  definitions_unavailable: at(
    503,
    'The connector definitions cannot be read at the moment; retry later',
    'The platform, or the connector registry, did not answer, and the service has no earlier answer.',
    10,
  ),
  definition_unusable: at(
    502,
    "The connector's specification cannot be read",
    "The platform or the registry describes the connector's configuration with a JSON Schema that cannot be used; the log tells more.",
  ),
  creation_unconfirmed: at(
    502,
    'The platform did not confirm the workspace creation; retry shortly',
    'The answer to the create was lost or was an error that may still have taken effect. A retry finds or creates the workspace, never a second one.',
    2,
  ),
  creation_timed_out: at(
    504,
    'The platform did not confirm the workspace creation; retry shortly',
    'The platform did not answer the create in time. A retry finds or creates the workspace, never a second one.',
    2,
  ),
  creation_pending: at(
    503,
    'The workspace is still being created; retry shortly',
    'Another request is creating the workspace, or an unconfirmed create has to settle before a new one may be sent.',
    2,
  ),
  platform_unavailable: at(
    503,
    'The platform is unavailable; new workspaces cannot be created',
    'The platform cannot be reached. Tokens for known workspaces are still issued.',
    5,
  ),
  platform_rate_limited: at(503, 'The platform is rate limiting; retry later', 'The platform answered 429.', 10),
  platform_credentials_rejected: at(
    502,
    'The platform rejected the service credentials',
    'INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET are wrong or may not do this; `inlay doctor` tells more.',
  ),
  platform_refused: at(
    502,
    'The platform refused the request',
    "The platform answered with an error that a retry cannot solve; the log has the platform's message.",
  ),
  platform_lost_workspace: at(
    502,
    'The platform no longer has this workspace; delete it here',
    'Somebody deleted the workspace directly on the platform, not through this service.',
  ),
  rename_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The new name is recorded and will be applied',
    when: 'The platform could not be told the new name yet. Until then both names lead to the workspace.',
  },
  status_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'The new status is recorded and will be applied',
    when: 'The platform could not be told to change the connections yet. The status is already in force here.',
  },
  connections_pending: {
    status: 502,
    statuses: [502],
    detail: ({ pending, total, verb }: RequiredFacts['connections_pending']) =>
      `${pending} of ${total} connections are not ${verb} yet; this will be completed`,
    example: '3 of 17 connections are not disabled yet; this will be completed',
    when: 'The platform changed some connections and failed on others.',
  },
  deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'Deletion is recorded and will be completed',
    when: 'The platform could not delete the workspace yet. Its tokens are refused already.',
  },
  sync_stopped: {
    status: 502,
    statuses: [502],
    detail: ({ total }: RequiredFacts['sync_stopped']) => `Synchronisation stopped after ${total} workspaces; retry`,
    example: 'Synchronisation stopped after 200 workspaces; retry',
    when: 'The platform failed between two pages. What was recorded stays; a retry goes on.',
    retryAfterSeconds: 5,
  },
  event_not_found: at(
    404,
    'Event not found',
    'The event is unknown, belongs to another organization, or is older than events are told (`INLAY_EVENT_DAYS`). The audit trail (`GET /api/v1/audit-events`) may still have its entry.',
  ),
  events_gone: {
    status: 410,
    statuses: [410],
    detail: ({ begin }: RequiredFacts['events_gone']) =>
      `Events up to position ${begin} are no longer kept; begin with after=${begin}`,
    example: 'Events up to position 1042 are no longer kept; begin with after=1042',
    when: 'The reader was away for longer than the log keeps events (`INLAY_EVENT_DAYS`), so it would miss some. It should read the present state anew, and go on from the position that is named.',
  },
  events_ahead: {
    status: 410,
    statuses: [410],
    detail: ({ head }: RequiredFacts['events_ahead']) =>
      `The log ends at position ${head}, before yours: it was restored from a backup. Begin with after=${head}`,
    example: 'The log ends at position 1042, before yours: it was restored from a backup. Begin with after=1042',
    when: 'The reader has a position that was never given, as after a restored backup. It should read the present state anew, and go on from the position that is named.',
  },
  source_not_found: at(
    404,
    'Source not found',
    'The source is unknown or deleted, or belongs to another organization.',
  ),
  check_not_found: at(404, 'Check not found', 'The check is unknown or older than a day.'),
  connection_not_found: at(
    404,
    'Connection not found',
    'The connection is unknown or deleted, or belongs to another organization.',
  ),
  source_deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'Deletion is recorded and will be completed',
    when: 'The platform could not delete the source yet. It is no longer shown.',
  },
  connection_deletion_recorded: {
    status: byDelay,
    statuses: delayed,
    detail: 'Deletion is recorded and will be completed',
    when: 'The platform could not delete the connection yet. It is no longer shown.',
  },
  choice_not_offered: at(
    403,
    'This is set for you and cannot be changed here',
    'The connection template does not leave this to customers; see `customer_may_change`.',
  ),
  connection_pending: at(
    409,
    'The connection is still being set up',
    'A sync was asked for before the connection exists on the platform.',
    5,
  ),
  connection_paused: at(
    409,
    'The connection is paused; no sync runs',
    'The connection was made inactive. An operator can make it active again.',
  ),
  sync_already_running: at(
    409,
    'A sync of this connection is already running',
    'A connection runs one sync at a time.',
  ),
  stream_not_refreshed: at(
    409,
    'The platform does not read this stream from the start',
    'The connection has not synced a stream of this name yet, or the platform is a hosted one, which cannot do this.',
  ),
  no_sync_running: at(409, 'No sync of this connection is running', 'Only a sync that has not ended can be cancelled.'),
  job_not_found: at(
    404,
    'Job not found',
    'The job is unknown, belongs to another organization, or ended longer ago than jobs are kept (`INLAY_JOB_HISTORY_DAYS`).',
  ),
  log_not_told: at(
    501,
    'The platform does not hand out the logs of its jobs',
    'A hosted platform has logs, but its API does not tell them. Look there.',
  ),
  queue_full: at(
    429,
    'Too many checks, syncs or manifests are waiting; retry later',
    'The number of waiting checks and syncs of a workspace is limited (`INLAY_MAX_WAITING_PER_WORKSPACE`), and so is the number of manifests of an organization that wait to be read.',
    10,
  ),
  workspace_inactive: at(409, 'Workspace is inactive', 'No sync runs in an inactive workspace; activate it first.'),
  quota_reached: {
    status: 409,
    statuses: [409],
    detail: ({ words }: RequiredFacts['quota_reached']) => words,
    example:
      'The quota sources is reached: 10 of 10 are used. To raise it, use PUT /api/v1/workspaces/{workspace_id}/quotas.',
    customerExample:
      'The limit of 10 sources is reached. Remove a source that is not needed, or ask for a higher limit.',
    when: 'The workspace has, moves or runs as much as its quotas allow. With a scoped token the words are for the customer.',
  },
  platform_lost_connection: at(
    502,
    'The platform no longer has this connection; delete its source here',
    'Somebody deleted the connection directly on the platform, not through this service. It is listed as inactive and is not made again.',
  ),
  destination_checks_unsupported: at(
    501,
    'The platform has no checks of destinations',
    'Only the bundled platform can check a destination. A hosted platform has no such request in its API.',
  ),
  stream_discovery_unsupported: at(
    501,
    'The platform cannot ask a source for its streams before the source is made',
    'Only the bundled platform can do that. On a hosted platform, enter the names of streams, or look at the streams of a connection of a customer.',
  ),
  stream_discovery_unavailable: at(
    503,
    'The platform cannot ask the source for its streams at the moment; retry later',
    'The platform does not answer, or the service is stopping.',
    5,
  ),
  destination_check_unavailable: at(
    503,
    'The platform cannot check the destination at the moment; retry later, or save it with skip_check',
    'The platform does not answer, or the service is stopping.',
    5,
  ),
  webhook_endpoint_not_found: at(
    404,
    'Webhook endpoint not found',
    'The webhook endpoint is unknown or deleted, or belongs to another organization or workspace.',
  ),
  webhook_endpoint_limit: {
    status: 409,
    statuses: [409],
    detail: ({ most }: RequiredFacts['webhook_endpoint_limit']) =>
      `There may be ${most} webhook endpoints; delete one that is not needed`,
    example: 'There may be 50 webhook endpoints; delete one that is not needed',
    when: 'An organization may have 50 webhook endpoints, and the customer of a workspace 5.',
  },
  webhook_endpoint_disabled: at(
    409,
    'The webhook endpoint is disabled; enable it first',
    'Events of the past are sent only to an endpoint that is enabled.',
  ),
  webhooks_not_offered: at(
    403,
    'Webhooks are not offered here',
    'Customers may have webhook endpoints only where the operator allows it (`INLAY_CUSTOMER_WEBHOOKS`).',
  ),
  oauth_client_not_found: at(
    404,
    'OAuth client not found',
    'The OAuth client is unknown or deleted, or belongs to another organization.',
  ),
  oauth_client_in_use: at(
    409,
    'The OAuth client is in use; delete its credentials and take it out of its templates first',
    'Customers have signed in with the OAuth client, or templates ask customers to.',
  ),
  credential_not_found: at(
    404,
    'Credential not found',
    'The credential is unknown, ended long ago, or belongs to another organization or workspace.',
  ),
  oauth_client_limit: {
    status: 409,
    statuses: [409],
    detail: ({ most }: RequiredFacts['oauth_client_limit']) =>
      `There may be ${most} OAuth clients; delete one that is not needed`,
    example: 'There may be 200 OAuth clients; delete one that is not needed',
    when: 'An organization may have 200 OAuth clients.',
  },
  sign_in_not_found: at(
    404,
    'Sign-in not found',
    'The sign-in is unknown, belongs to another workspace, or ended more than a day ago.',
  ),
  sign_in_not_unconfirmed: at(
    409,
    'There is nothing to confirm; start a new sign-in',
    'Only a sign-in with another account than before is confirmed, once, and before it expires.',
  ),
  sign_in_not_possible: at(
    409,
    'Signing in is not possible at the moment',
    'The OAuth client of the template was deleted, has no secret, or its addresses have changed and its secret has to be given anew: see `needs_secret` of the client.',
  ),
  sign_in_needs_https: at(
    409,
    'Signing in with a provider needs https; set INLAY_PUBLIC_URL to an https address',
    'The public address of the service is plain http and not on this machine. Browsers send there neither the cookie that protects a sign-in nor the headers that say where a request comes from. Put a proxy with TLS in front of the service.',
  ),
  console_needs_https: at(
    403,
    'The console needs https; set INLAY_PUBLIC_URL to an https address, or open it on the machine that runs the service',
    'Somebody signs in to the console over plain http, and not on the machine that runs the service. The cookie of the session would travel in the clear. Put a proxy with TLS in front of the service.',
  ),
  console_origin: at(
    403,
    "This request did not come from the console's own page",
    'A request to the console without the header `X-Inlay-Console`, or from a page of another origin.',
  ),
  console_sign_in_failed: at(
    401,
    'This does not let you in: it is wrong, was used, or has ended',
    'A sign-in to the console with an operator token that does not work, or with a link that is wrong, was used or is older than 15 minutes. The answer is the same for all of these.',
  ),
  console_session_present: at(
    409,
    'You are signed in already; a link would replace that session',
    'A link to the console is opened by somebody who has another session. The link is not used up. With `replace` it takes the place of the session.',
  ),
  console_provider_unavailable: at(
    503,
    'The provider of the sign-in does not answer; retry shortly, or sign in with a link',
    'Somebody signs in to the console with the provider of `INLAY_CONSOLE_OIDC_ISSUER`, which does not describe itself at the moment. `inlay doctor` says why.',
    5,
  ),
  console_session_not_found: at(
    404,
    'Console session not found',
    'The session of the console is unknown, has ended, or belongs to another organization.',
  ),
  platform_does_not_answer: {
    status: byDelay,
    statuses: delayed,
    detail: 'The platform is unavailable; retry later',
    when: 'The request needs an answer of the platform, and the platform cannot be reached.',
    retryAfterSeconds: 5,
  },
};

export type ErrorCode = keyof typeof entries;

export const errorCatalogue: { readonly [Code in ErrorCode]: CatalogueEntry<Code> } = entries;

export interface Refusal {
  status: number;
  when: string;
  /** A detail that is not the name of the status, for the reference. */
  example?: string;
}

/** Refusals of HTTP itself, on any path, before an endpoint applies its own rules. */
export const refusals = {
  bad_request: { status: 400, when: 'The request is not well-formed HTTP.' },
  method_not_allowed: {
    status: 405,
    when: 'The path does not accept this method; the `Allow` header lists the methods that it accepts.',
  },
  request_timeout: { status: 408, when: 'The request took too long to arrive.' },
  body_too_large: { status: 413, when: 'The body is larger than 1 MiB.' },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json`, or is compressed.' },
  expectation_failed: { status: 417, when: 'The `Expect` header asks for something other than `100-continue`.' },
  headers_too_large: { status: 431, when: 'The headers are too large.' },
  not_ready: {
    status: 503,
    when: '`/health/ready` only: a part of the service does not answer, or the service is stopping.',
    example: 'Not ready: database: the database does not answer',
  },
  internal_error: { status: 500, when: 'A fault of the service. The log tells more under the request id.' },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof refusals;
