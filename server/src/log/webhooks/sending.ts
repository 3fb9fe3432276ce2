/**
 * Sends one webhook, once, as Standard Webhooks 1.0 says. What always holds: redirects are not followed; a receiver that
 * is slow, or sends without end, is cut off; what is kept of its answer is short and holds none of our secrets; an
 * address that may not be reached is refused when the connection is made (webhook-network.ts).
 */
import { redactor } from '@inlay/contract/text/redaction';
import { type Signer, signerOf } from 'inlay-webhooks/signatures';
import type { Dispatcher } from 'undici';
import type { Runtime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import type { ExtraHeaders } from './keys.ts';
import { readRetryAfter } from './retry-schedule.ts';

export interface Network {
  /** Follows no redirects. Fails for an address that may not be reached. */
  post(
    url: string,
    request: { headers: Record<string, string>; body: string; signal: AbortSignal },
  ): Promise<Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>>;
  allowPrivateNetworks: boolean;
  timeoutMs: number;
  /** Says why a host that is an address, or a name of this machine, may not be reached. Other names are judged later. */
  hostFault(hostname: string): string | undefined;
}

export interface Target {
  url: string;
  headers: ExtraHeaders;
  /** The newest first. */
  keys: readonly string[];
}

export interface Message {
  id: string;
  body: string;
  traceId?: string | null;
}

export interface Attempt {
  at: number;
  status: number | null;
  durationMs: number;
  response: string | null;
  error: string | null;
  isDelivered: boolean;
  /** The receiver wants no webhooks any more. */
  isGone: boolean;
  /** The receiver no longer wants this webhook. */
  isAborted: boolean;
  retryAfterMs: number | undefined;
  /** The receiver is overloaded: all webhooks for it wait. */
  isBusy: boolean;
}

const keptBytes = 1_024;
/** A body up to this size is read to its end, so that the connection can be used again. */
const maxReadBytes = 16_384;
const maxReadMs = 2_000;
const busyStatuses = [429, 502, 503, 504];

/** Preparing a key takes longer than signing. */
const signers = new Map<string, Signer>();
const maxSigners = 1_000;
function signerFor(key: string): Signer {
  let signer = signers.get(key);
  if (!signer) {
    if (signers.size >= maxSigners) signers.clear();
    signer = signerOf(key);
    signers.set(key, signer);
  }
  return signer;
}

export async function send(
  { post, allowPrivateNetworks, timeoutMs }: Network,
  runtime: Runtime,
  target: Target,
  { id, body, traceId }: Message,
  stopping?: AbortSignal,
): Promise<Attempt> {
  const at = runtime.now();
  const startedAt = runtime.elapsed();
  const timestamp = Math.floor(at / 1000);
  const ended = (result: Partial<Attempt>): Attempt => ({
    at,
    status: null,
    response: null,
    error: null,
    isDelivered: false,
    isGone: false,
    isAborted: false,
    retryAfterMs: undefined,
    isBusy: false,
    ...result,
    durationMs: Math.max(0, Math.round(runtime.elapsed() - startedAt)),
  });
  if (!allowPrivateNetworks && !target.url.startsWith('https:')) return ended({ error: plainHttpWords });
  const limit = limitOf(runtime, timeoutMs, stopping);
  try {
    const answer = await post(target.url, {
      headers: {
        ...target.headers,
        'content-type': 'application/json',
        'user-agent': `Inlay-Webhooks/${version}`,
        'accept-encoding': 'identity',
        ...traceHeader(traceId, id),
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': target.keys.map((key) => signerFor(key)({ id, timestamp, payload: body })).join(' '),
      },
      body,
      signal: limit.signal,
    });
    const { statusCode: status, headers } = answer;
    const secrets = [...Object.values(target.headers), ...target.keys, ...target.keys.map((key) => key.slice(6))];
    const response = await readBeginning(runtime, answer.body, secrets);
    const isDelivered = status >= 200 && status < 300;
    return ended({
      status,
      response,
      isDelivered,
      error: isDelivered ? null : refusalWords(status),
      isGone: status === 410,
      isAborted: !isDelivered && headers['webhook-delivery'] === 'abort-message',
      retryAfterMs: readRetryAfter(headers['retry-after']?.toString(), at),
      isBusy: busyStatuses.includes(status),
    });
  } catch (error) {
    // A process that stops has not learnt anything about the receiver.
    if (stopping?.aborted) throw error;
    const words = limit.isReached()
      ? `The receiver did not respond within ${timeoutMs / 1000} seconds.`
      : failureWords(error);
    return ended({ error: words });
  } finally {
    limit.end();
  }
}

interface Limit {
  signal: AbortSignal;
  isReached(): boolean;
  end(): void;
}

/** Ends something after a time, or when `stopping` says so. Made by hand: a signal made of others outlives its use. */
function limitOf(runtime: Runtime, ms: number, stopping?: AbortSignal): Limit {
  const cut = new AbortController();
  const isOver = new AbortController();
  let isReached = false;
  const stop = () => cut.abort();
  stopping?.addEventListener('abort', stop, { once: true });
  void runtime.timeLimit(ms, isOver.signal).then(() => {
    if (isOver.signal.aborted) return;
    isReached = true;
    cut.abort();
  });
  return {
    signal: cut.signal,
    isReached: () => isReached,
    end() {
      isOver.abort();
      stopping?.removeEventListener('abort', stop);
    },
  };
}

export const plainHttpWords = 'Plain http:// is only allowed where private networks are. Use https://.';

function refusalWords(status: number): string {
  if (status >= 300 && status < 400) {
    return `The receiver responded with ${status}. Redirects are not followed. Use the final URL.`;
  }
  if (status === 410) return 'The receiver responded with 410 (Gone).';
  return `The receiver responded with ${status}.`;
}

const words: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The receiver closed the connection before responding.',
  EPIPE: 'The receiver closed the connection before responding.',
  UND_ERR_SOCKET: 'The receiver closed the connection before responding.',
  UND_ERR_CONNECT_TIMEOUT: 'The receiver cannot be reached.',
  ETIMEDOUT: 'The receiver cannot be reached.',
  EHOSTUNREACH: 'The receiver cannot be reached.',
  ENETUNREACH: 'The receiver cannot be reached.',
  UND_ERR_HEADERS_OVERFLOW: 'The receiver did not respond with valid HTTP.',
  EPROTO: 'The receiver does not support TLS.',
};

/** Only the kind of failure, because details could reveal the operator's network. */
function failureWords(error: unknown): string {
  const { code, message, name } = error as { code?: string; message?: string; name?: string };
  // The guard of addresses says itself what is wrong, for customers as well.
  if (name === 'ConnectorError' && message) return message;
  if (/^HPE_/.test(code ?? '')) return 'The receiver did not respond with valid HTTP.';
  if (/CERT|SIGNED|SIGNATURE/.test(code ?? '')) return "The receiver's certificate is not trusted.";
  return words[code ?? ''] ?? 'The receiver cannot be reached.';
}

/** The beginning of an answer. A body that is long, slow or endless is cut off; that is no failure. */
async function readBeginning(
  runtime: Runtime,
  body: Dispatcher.ResponseData['body'],
  secrets: readonly string[],
): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  const limit = limitOf(runtime, maxReadMs);
  limit.signal.addEventListener('abort', () => body.destroy(), { once: true });
  try {
    for await (const chunk of body) {
      if (length < keptBytes) chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxReadBytes) break;
    }
  } catch {
    // The status has arrived, and it alone says whether the webhook was accepted.
  } finally {
    limit.end();
    body.destroy();
  }
  if (length === 0) return null;
  // Before it is cut: a secret must not stay because its end was cut off.
  const text = redactor(secrets).redact(Buffer.concat(chunks).toString('utf8'));
  return text.replaceAll(unprintable, '\ufffd').slice(0, keptBytes);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a database cannot keep them, and a terminal could obey them
const unprintable = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** The trace continues with a span of its own, identified by the event's id. */
function traceHeader(traceId: string | null | undefined, id: string): Record<string, string> {
  if (!traceId || !/^[0-9a-f]{32}$/.test(traceId)) return {};
  const span = id.replaceAll('-', '').slice(0, 16);
  return /^[0-9a-f]{16}$/.test(span) ? { traceparent: `00-${traceId}-${span}-01` } : {};
}
