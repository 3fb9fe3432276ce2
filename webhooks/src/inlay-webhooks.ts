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

/** A request and its answer in Node.js, as far as a receiver needs them. */
export interface ReceivedRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | readonly string[] | undefined>;
}
export interface ReceiverAnswer {
  writeHead(status: number): { end(text?: string): unknown };
}

/** Events are short: a longer body comes from somebody else. */
const maxBodyBytes = 1_048_576;

/**
 * Listens to webhooks: `createServer(receiver(key, handle))`. Answers 204 when `handle` has ended; 400 if the webhook is not
 * to be trusted; 500 if `handle` fails, which is printed, so that the event is sent again.
 *
 * @param handle gets the event, and its id, which stays the same when the event is sent again
 */
export function receiver<Event = WebhookEvent>(
  key: string | readonly string[] | undefined,
  handle: (event: Event, id: string) => unknown,
  options: VerifyOptions = {},
): (request: ReceivedRequest, response: ReceiverAnswer) => Promise<void> {
  const keys = [key ?? []].flat();
  // A key that is missing or wrong is said at the start, not with the first webhook.
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

/** Nothing if the sender broke off or sent too much. Also what is too much is read, or the sender would not see the answer. */
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
