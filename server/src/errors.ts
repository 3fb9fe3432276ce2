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
  | 'source_definition_not_found'
  | 'destination_definition_not_found'
  | 'workspace_name_taken'
  | 'tag_name_taken'
  | 'workspace_being_deleted'
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
  | 'connection_pending'
  | 'sync_already_running'
  | 'workspace_inactive'
  | 'platform_lost_connection'
  | 'platform_does_not_answer';

/** Why recorded work could not be finished at once; decides between 502, 503 and 504. */
export type Delay = 'bad_answer' | 'unavailable' | 'timed_out';

export interface ErrorFacts {
  faults?: Fault[];
  retryAfterSeconds?: number;
  delay?: Delay;
  pending?: number;
  total?: number;
  /** What was being done to the connections: disabled or enabled. */
  verb?: string;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, facts: ErrorFacts = {}, options?: ErrorOptions) {
    super(code, options);
    this.name = 'AppError';
    this.code = code;
    this.facts = facts;
  }
}

export function invalidRequest(...faults: Fault[]): AppError {
  return new AppError('invalid_request', { faults });
}

/** Something that whoever runs the service has to mend before it can start or go on. The message says what to do. */
export class OperatorError extends Error {}
