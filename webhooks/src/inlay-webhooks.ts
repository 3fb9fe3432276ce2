/*
 * Verifies that a webhook was signed with the key, is unchanged and is recent. Works for every sender that follows Standard
 * Webhooks 1.0.
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

/** Headers from `fetch`, from Node.js, or an object with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Record<string, string | readonly string[] | undefined>;

export interface VerifyOptions {
  /** Maximum clock difference; 300 by default. Limits replay attacks. */
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

/** The webhook can't be trusted. Respond with 400. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly code: WebhookFault;

  constructor(code: WebhookFault, message: string) {
    super(message);
    this.code = code;
  }
}

const defaultToleranceSeconds = 300;
/** Senders send two signatures while rotating a key. More would only cost time. */
const maxSignatures = 20;

/**
 * Returns the event of a webhook that is genuine; throws a WebhookVerificationError for any other.
 *
 * @param payload the raw body, before any parsing
 * @param key the secret (`whsec_…`) or the public key (`whpk_…`) of the endpoint; several while you rotate it
 */
export function verify<Event = WebhookEvent>(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  key: string | readonly string[],
  { toleranceSeconds = defaultToleranceSeconds, now = Date.now }: VerifyOptions = {},
): Event {
  const checks = checksOf(typeof key === 'string' ? [key] : key);
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

/** The parts of a Node.js request and response that a receiver needs. */
export interface ReceivedRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | readonly string[] | undefined>;
}
export interface ReceiverAnswer {
  writeHead(status: number): { end(text?: string): unknown };
}

/** Events are short, so a longer body is not one. */
const maxBodyBytes = 1_048_576;

/**
 * Receives webhooks: `createServer(receiver(key, handle))`. Responds with 204 once `handle` has finished, 400 if the webhook
 * can't be trusted, and 500 if `handle` fails; the failure is logged and the event is sent again.
 *
 * @param handle receives the event and its id, which is the same for every retry
 */
export function receiver<Event = WebhookEvent>(
  key: string | readonly string[] | undefined,
  handle: (event: Event, id: string) => unknown,
  options: VerifyOptions = {},
): (request: ReceivedRequest, response: ReceiverAnswer) => Promise<void> {
  const keys = [key ?? []].flat();
  // Fail on an invalid key at startup, not on the first webhook.
  checksOf(keys);
  return async (request, response) => {
    const answer = (status: number, text?: string) => void response.writeHead(status).end(text);
    const body = await readBody(request);
    if (!body) return answer(413, 'The body is too long, or broke off.');
    let event: Event;
    try {
      event = verify<Event>(body, request.headers, keys, options);
    } catch (error) {
      return answer(400, (error as Error).message);
    }
    try {
      await handle(event, readHeader(request.headers, 'webhook-id'));
      answer(204);
    } catch (error) {
      console.error(error);
      answer(500);
    }
  };
}

/** Undefined if the sender aborted or sent too much. Drains the whole body, or the sender would not see the response. */
async function readBody(request: ReceivedRequest): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks) : undefined;
}

function checksOf(keys: readonly string[]): SignatureCheck[] {
  if (keys.length === 0) throw new WebhookKeyError('There is no key to verify the webhook with.');
  return keys.map(checkOf);
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
