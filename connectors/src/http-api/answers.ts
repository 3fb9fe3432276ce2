/*
 * What an API response must be: JSON in a known encoding, with a success status. A failure says what to check in this
 * connector's form, names the settings at fault, and never reveals what was sent or returned.
 */

import { passingRefusal } from '@inlay/guard/http-client';
import type { Given } from '@inlay/manifests/component';
import { Answer } from '@inlay/manifests/http/answer';
import { RunFailure } from '@inlay/manifests/http/failures';
import type { ErrorHandler, Outcome, Resolution } from '@inlay/manifests/http/resolution';
import type { Decoder } from '@inlay/manifests/run/decoder';
import { isCutOffJson } from '@inlay/protocol/cut-off-json';

export interface Expectations {
  /** How often the API is asked before it is given up. */
  attempts: number;
  /** The API is known to respond as configured, so a response that is not JSON is a transient problem. */
  hasWorked: boolean;
  /** Called with each complete successful response. */
  onAnswer?: ((stream: string, body: unknown) => void) | undefined;
}

const longestSeconds = 60 * 60;

export function errorHandler(given: Given, { attempts, hasWorked, onAnswer }: Expectations): ErrorHandler {
  let isKnownToWork = hasWorked;

  function interpret(outcome: Outcome): Resolution {
    if (!(outcome instanceof Answer)) return retriedIfPassing(outcome);
    const refusal = outcome.url && passingRefusal(outcome.url, outcome.status, outcome.rawHeaders);
    if (refusal) {
      return {
        ...retriedIfPassing(refusal.failure.about('base_url')),
        ...(refusal.isLimit && { action: 'RATE_LIMITED' }),
      };
    }
    if (outcome.status === 204) return { action: 'SUCCESS' };
    if (outcome.status !== 200 && outcome.status !== 201) return refusalOf(outcome.status);
    const wrong = notJson(outcome, isKnownToWork);
    if (wrong) return wrong;
    isKnownToWork = true;
    onAnswer?.(given.making.streamName, outcome.plainJson);
    return { action: 'SUCCESS' };
  }

  return {
    interpret,
    maxRetries: attempts - 1,
    maxSeconds: longestSeconds,
    waits: [{ seconds: (outcome) => wantedSeconds(outcome) }],
  };
}

/** Throws a RunFailure for a wait that is too long. */
function wantedSeconds(outcome: Outcome): number | undefined {
  if (!(outcome instanceof Answer) || !outcome.url) return undefined;
  const refusal = passingRefusal(outcome.url, outcome.status, outcome.rawHeaders);
  if (refusal && !refusal.isWorthIt) {
    const { message, failureType } = refusal.failure;
    throw new RunFailure(message, failureType, { fields: ['base_url'] });
  }
  return refusal?.waitMs === undefined ? undefined : refusal.waitMs / 1000;
}

interface Failure {
  message: string;
  failureType: 'config_error' | 'transient_error';
  fields?: readonly string[] | undefined;
}

function retriedIfPassing({ message, failureType, fields }: Failure): Resolution {
  return {
    action: failureType === 'transient_error' ? 'RETRY' : 'FAIL',
    failureType,
    message,
    fields,
    isWholeMessage: true,
  };
}

function refusalOf(status: number): Resolution {
  const failed = (message: string, ...fields: string[]): Resolution => ({
    action: 'FAIL',
    failureType: 'config_error',
    message,
    fields,
  });
  switch (status) {
    case 401:
      return failed('The API rejected the key or password (401). Check the authentication.', 'authentication');
    case 403:
      return failed('The API denied access (403). Check the key and its permissions.', 'authentication');
    case 404:
    case 410:
      return failed(
        `The API found nothing at this URL (${status}). Check the base URL and the path.`,
        ...['base_url', 'streams'],
      );
    default:
      return failed(`The API returned ${status}. Check the path, parameters and headers.`, ...['streams', 'headers']);
  }
}

/** Undefined for an answer that is JSON. */
function notJson(answer: Answer, hasWorked: boolean): Resolution | undefined {
  const body = answer.plainJson;
  if (answer.isTextDamaged) {
    const message = `The API returned text that is not encoded as ${answer.encoding.toUpperCase()}. It must return UTF-8 or name the encoding in Content-Type.`;
    return retriedIfPassing({ message, failureType: 'config_error' });
  }
  if (body !== undefined) return undefined;
  const { text } = answer;
  if (isCutOffJson(text)) {
    const message = 'The API returned incomplete JSON. Try again later.';
    return retriedIfPassing({ message, failureType: 'transient_error' });
  }
  const isPage = String(answer.header('content-type')).includes('html') || text.trimStart().startsWith('<');
  const what = text.trim() === '' ? 'nothing' : isPage ? 'a web page' : 'another format';
  return retriedIfPassing({
    message: `The API returned ${what} instead of JSON. Check the base URL and the path.`,
    failureType: hasWorked ? 'transient_error' : 'config_error',
    fields: ['base_url', 'streams'],
  });
}

/** The response body unchanged. Lists are not unwrapped: the path says where the records are. */
export const wholeAnswer: Decoder = {
  isStreamed: false,
  async *decode({ plainJson }) {
    yield plainJson === undefined ? [] : [plainJson];
  },
  firstValue: ({ plainJson }) => plainJson,
};
