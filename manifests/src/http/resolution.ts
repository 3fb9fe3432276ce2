/* How to handle a response or network failure by the default rules, without any in the manifest. */

import type { ConnectorError } from '@inlay/protocol/connector';
import type { FailureType } from '@inlay/protocol/protocol';
import { Answer } from './answer.ts';

export const actions = [
  'SUCCESS',
  'FAIL',
  'RETRY',
  'IGNORE',
  'RATE_LIMITED',
  'REFRESH_TOKEN_THEN_RETRY',
  'RESET_PAGINATION',
  'REDUCE_PAGE_SIZE',
] as const;
export type Action = (typeof actions)[number];

export interface Resolution {
  action: Action;
  failureType?: FailureType;
  message?: string;
  /** The settings at fault, where the error handler knows them. */
  fields?: readonly string[] | undefined;
  /** The message is all that people read when no attempt is left, too. */
  isWholeMessage?: boolean;
}

/** An answer, or why there is none. */
export type Outcome = Answer | ConnectorError;

export interface ErrorHandler {
  interpret(outcome: Outcome): Resolution;
  maxRetries: number;
  /** For all attempts together. */
  maxSeconds: number;
  waits: readonly WaitStrategy[];
}

export interface WaitStrategy {
  /** Undefined or 0 defers to the next strategy. The first attempt is 1. Throws a RunFailure to give up. */
  seconds(outcome: Outcome, attempt: number): number | undefined;
}

const byStatus: Record<number, Resolution> = {
  400: fail('system_error', 'The API rejected the request (400). Check the request parameters.'),
  401: fail('config_error', 'The API rejected the credentials (401). Check the authentication.'),
  403: fail('config_error', 'The API denied access (403). Check the permissions of the credentials.'),
  404: fail('system_error', 'The API found nothing at this URL (404).'),
  405: fail('system_error', 'The API does not support this method at this URL (405).'),
  408: retry('The API timed out waiting for the request (408).'),
  429: {
    action: 'RATE_LIMITED',
    failureType: 'transient_error',
    message: 'The API rejected the request because of a rate limit (429).',
  },
  500: retry('The API returned a server error (500).'),
  502: retry('The API returned a server error (502).'),
  503: retry('The API returned a server error (503).'),
  504: retry('The API returned a server error (504).'),
};

function fail(failureType: FailureType, message: string): Resolution {
  return { action: 'FAIL', failureType, message };
}

function retry(message: string): Resolution {
  return { action: 'RETRY', failureType: 'transient_error', message };
}

/** The rule for a status; undefined if there is none for it. */
export function resolutionOfStatus(status: number): Resolution | undefined {
  return byStatus[status];
}

export function defaultResolution(outcome: Outcome): Resolution {
  if (outcome instanceof Answer) {
    if (outcome.isGood && outcome.isCutOff) return retry('The API returned incomplete JSON.');
    if (outcome.isGood) return { action: 'SUCCESS' };
    const message = `The API returned ${outcome.status}.`;
    return byStatus[outcome.status] ?? { action: 'RETRY', failureType: 'system_error', message };
  }
  const { failureType, message, fields } = outcome;
  return { ...(failureType === 'config_error' ? fail(failureType, message) : retry(message)), fields };
}
