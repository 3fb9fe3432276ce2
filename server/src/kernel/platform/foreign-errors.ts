/**
 * What an error answer of the platform means to us, and which message it has. The platform and the proxies before it
 * write errors in six forms. The useful words go into the message of a PlatformError, which is only for the log.
 */
import { storableText } from '@inlay/contract/text/storable-text';
import { PlatformError } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

const maxRetryAfterSeconds = 60;
const maxWords = 300;

/**
 * `ifOpen`: the failure to use when the answer does not say whether the request was applied. Undefined for a success.
 */
export function failureOf(
  answer: PlatformAnswer,
  ifOpen: 'unavailable' | 'unknown',
  now: number,
): PlatformError | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const message = describeAnswer(answer);
  const retryAfter = retryAfterOf(answer, now);
  if (status === 429) {
    const isQueueFull = parse(answer.text)?.title === 'queue-full';
    return new PlatformError('throttled', message, { isQueueFull, ...retryAfter });
  }
  if (status === 401 || status === 403) return new PlatformError('unauthorised', message);
  if (status === 404 || status === 410) return new PlatformError('not_found', message);
  if (status === 408 || status >= 500) {
    return new PlatformError(ifOpen, message, { timedOut: status === 408 || status === 504, ...retryAfter });
  }
  return new PlatformError('rejected', message, { isConflict: status === 409 });
}

export function describeAnswer({ status, text }: PlatformAnswer): string {
  // Messages are recorded as the last error of what they are about.
  const words = storableText(wordsOf(text));
  return words === '' ? `the platform answered ${status}` : `the platform answered ${status}: ${words}`;
}

interface ForeignError {
  title?: unknown;
  detail?: unknown;
  data?: { message?: unknown } | null;
  message?: unknown;
  details?: unknown;
  errorId?: unknown;
  _embedded?: { errors?: { message?: unknown }[] };
}

/** The useful words of an error; empty for a proxy's HTML page. Stack traces and links are left out. */
function wordsOf(text: string): string {
  const error = parse(text);
  if (error === undefined) return '';
  const { title, detail, data, message, details, errorId, _embedded: embedded } = error;
  const inner = Array.isArray(embedded?.errors) ? embedded.errors.map((entry) => entry?.message) : [];
  const identified = typeof errorId === 'string' ? `errorId ${errorId}` : undefined;
  const words = [title, detail, data?.message, message, ...inner, details, identified].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  return [...new Set(words)].join(': ').replace(/\s+/g, ' ').slice(0, maxWords);
}

function parse(text: string): ForeignError | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined; // HTML, or nothing: the status says it all.
  }
}

/** Reads seconds or an HTTP date. A date is compared with the platform's own clock, if the answer shows that clock. */
function retryAfterOf({ headers }: PlatformAnswer, now: number): { retryAfterSeconds?: number } {
  const given = String(headers['retry-after'] ?? '').trim();
  const platformNow = Date.parse(String(headers.date));
  const seconds = /^\d+$/.test(given)
    ? Number(given)
    : Math.ceil((Date.parse(given) - (Number.isNaN(platformNow) ? now : platformNow)) / 1000);
  return seconds > 0 ? { retryAfterSeconds: Math.min(seconds, maxRetryAfterSeconds) } : {};
}
