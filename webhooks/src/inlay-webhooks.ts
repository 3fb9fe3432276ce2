/*
 * Tells whether a webhook comes from the service that has the key, is unchanged and is fresh. Works for every sender that
 * follows Standard Webhooks 1.0.
 */
import { WebhookKeyError } from './key-error.ts';
import { checkOf, type SignatureCheck } from './signatures.ts';

export { WebhookKeyError };

/** What the service sends. */
export interface WebhookEvent {
  type: string;
  /** When it happened, as in 2026-01-31T09:30:00.000Z. */
  timestamp: string;
  data: Record<string, unknown>;
}

/** The headers of a request: of `fetch`, of Node.js, or an object with names in whatever case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Record<string, string | readonly string[] | undefined>;

export interface VerifyOptions {
  /** How old, or how far ahead, a webhook may be; 300 if not given. Needed against webhooks that are sent once more. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970; for tests. */
  now?: () => number;
}

export type WebhookFault =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'wrong_signature'
  | 'not_json';

/** The webhook is not to be trusted. Answer with 400. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly code: WebhookFault;

  constructor(code: WebhookFault, message: string) {
    super(message);
    this.code = code;
  }
}

const defaultToleranceSeconds = 300;
/** A sender that changes its key sends two. Many more only cost time. */
const maxSignatures = 20;

/**
 * Returns the event of a webhook that is genuine; throws a WebhookVerificationError for any other.
 *
 * @param payload the body exactly as it came, before anything parsed it
 * @param key the secret (`whsec_…`) or the public key (`whpk_…`) of the endpoint; several while you change it
 */
export function verify<Event = WebhookEvent>(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  key: string | readonly string[],
  { toleranceSeconds = defaultToleranceSeconds, now = Date.now }: VerifyOptions = {},
): Event {
  const checks = (typeof key === 'string' ? [key] : key).map(checkOf);
  if (checks.length === 0) throw new WebhookKeyError('There is no key to verify the webhook with.');
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readTimestamp(readHeader(headers, 'webhook-timestamp'));
  const signatures = readHeader(headers, 'webhook-signature').split(' ').slice(0, maxSignatures);
  refuseStale(timestamp, now() / 1000, toleranceSeconds);
  const isSigned = (check: SignatureCheck) =>
    signatures.some((signature) => check({ id, timestamp, payload }, signature));
  if (!checks.some(isSigned)) {
    throw new WebhookVerificationError(
      'wrong_signature',
      'No signature of the webhook fits. Check the key, and that the body is verified as it came.',
    );
  }
  return parse(payload) as Event;
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : ownHeader(headers as object, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError('missing_header', `The webhook has no header ${name}.`);
}

function ownHeader(headers: object, name: string): unknown {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value[0] : value;
}

function readTimestamp(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new WebhookVerificationError('invalid_timestamp', 'The header webhook-timestamp must be a whole number.');
}

function refuseStale(timestamp: number, nowSeconds: number, toleranceSeconds: number): void {
  if (timestamp < nowSeconds - toleranceSeconds) {
    throw new WebhookVerificationError('too_old', 'The webhook is too old: it may have been recorded and sent again.');
  }
  if (timestamp > nowSeconds + toleranceSeconds) {
    throw new WebhookVerificationError('too_new', 'The webhook is from the future. Check the clock of this machine.');
  }
}

function parse(payload: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof payload === 'string' ? payload : new TextDecoder().decode(payload));
  } catch {
    throw new WebhookVerificationError('not_json', 'The body of the webhook is not JSON.');
  }
}
