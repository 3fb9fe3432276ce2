/**
 * The one error class of the service. A rule throws an `AppError` with a code from this closed list and the facts
 * a reader needs; http/error-catalogue.ts alone knows which status and words a code gets. Any other error that
 * reaches a reply is a bug and tells the caller nothing.
 */
import type { Fault } from '@inlay/contract/errors';

export type ErrorCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'invalid_request'
  | 'workspace_not_found'
  | 'operator_token_not_found'
  | 'operator_token_ended'
  | 'route_not_found'
  | 'tag_not_found'
  | 'source_template_not_found'
  | 'connection_template_not_found'
  | 'template_version_not_found'
  | 'rollout_not_found'
  | 'rollout_ended'
  | 'plan_not_found'
  | 'cause_not_found'
  | 'cause_retry_not_found'
  | 'plan_outdated'
  | 'source_definition_not_found'
  | 'source_definition_version_not_found'
  | 'destination_definition_not_found'
  | 'definition_in_use'
  | 'workspace_name_taken'
  | 'tag_name_taken'
  | 'workspace_being_deleted'
  | 'idempotency_key_reused'
  | 'idempotency_key_in_use'
  | 'idempotency_answer_lost'
  | 'rate_limited'
  | 'storage_unavailable'
  | 'definitions_unavailable'
  | 'definition_unusable'
  | 'creation_unconfirmed'
  | 'creation_timed_out'
  | 'creation_pending'
  | 'platform_unavailable'
  | 'platform_rate_limited'
  | 'platform_credentials_rejected'
  | 'platform_refused'
  | 'platform_lost_workspace'
  | 'rename_recorded'
  | 'status_recorded'
  | 'connections_pending'
  | 'deletion_recorded'
  | 'sync_stopped'
  | 'source_not_found'
  | 'check_not_found'
  | 'connection_not_found'
  | 'source_deletion_recorded'
  | 'connection_deletion_recorded'
  | 'choice_not_offered'
  | 'connection_pending'
  | 'connection_paused'
  | 'sync_already_running'
  | 'no_sync_running'
  | 'job_not_found'
  | 'log_not_told'
  | 'queue_full'
  | 'workspace_inactive'
  | 'quota_reached'
  | 'platform_lost_connection'
  | 'platform_does_not_answer'
  | 'destination_checks_unsupported'
  | 'stream_discovery_unsupported'
  | 'stream_discovery_unavailable'
  | 'destination_check_unavailable'
  | 'event_not_found'
  | 'events_gone'
  | 'events_ahead'
  | 'webhook_endpoint_not_found'
  | 'webhook_endpoint_limit'
  | 'webhook_endpoint_disabled'
  | 'webhooks_not_offered'
  | 'oauth_client_not_found'
  | 'oauth_client_limit'
  | 'oauth_client_in_use'
  | 'credential_not_found'
  | 'sign_in_not_found'
  | 'sign_in_not_unconfirmed'
  | 'sign_in_not_possible'
  | 'sign_in_needs_https'
  | 'console_needs_https'
  | 'console_origin'
  | 'console_sign_in_failed'
  | 'console_session_present'
  | 'console_session_not_found'
  | 'console_provider_unavailable';

/** Why recorded work could not be finished at once; decides between 502, 503 and 504. */
export type Delay = 'bad_answer' | 'unavailable' | 'timed_out';

/** Facts that a reader must know, for the codes that have such facts. */
interface RequiredFacts {
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

/** The facts must be given when one of the possible codes requires facts. */
type FactsAndOptions<Code extends ErrorCode> = [Extract<Code, keyof RequiredFacts>] extends [never]
  ? [facts?: FactsOf<Code>, options?: ErrorOptions]
  : [facts: FactsOf<Code>, options?: ErrorOptions];

export class AppError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly facts: FactsOf<Code>;

  constructor(code: Code, ...[facts, options]: FactsAndOptions<Code>) {
    super(code, options);
    this.name = 'AppError';
    this.code = code;
    // The type lets a caller leave the facts out only where none are required.
    this.facts = facts ?? ({} as FactsOf<Code>);
  }
}

export function invalidRequest(...faults: Fault[]): AppError<'invalid_request'> {
  return new AppError('invalid_request', { faults });
}

/** Something that the operator has to fix before the service can start or go on. The message says what to do. */
export class OperatorError extends Error {}
