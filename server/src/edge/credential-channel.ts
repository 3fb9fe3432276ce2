/**
 * Where a platform that runs as a process of its own gets tokens from: the service, over one channel (docs/adr/0025). The
 * service may be several replicas behind one address; any of them answers.
 *
 * What always holds: a service that cannot be reached is an outage and nothing else. It is noticed by the first question that
 * fails, and its end by looking again and again, so that waiting jobs need not ask.
 */
import {
  type AccessOptions,
  type CredentialAccess,
  CredentialNeedsAttention,
  type Credentials,
  CredentialUnavailable,
  KeeperUnreachable,
} from '@inlay/platform/credentials';
import type { Logger } from 'pino';
import { busyPatienceMs } from '../credentials/tokens/access.ts';
import { channelPath, createAsker, type Question, type Reply } from '../credentials/tokens/channel-envelope.ts';
import { httpTransport, type PlatformAnswer, type Transport, TransportError } from '../kernel/platform/transport.ts';
import type { Runtime } from '../kernel/runtime.ts';

interface ChannelOptions {
  /** Undefined: nobody has said where the service is. */
  serviceUrl: string | undefined;
  application: { clientId: string; clientSecret: string };
  runtime: Runtime;
  log: Pick<Logger, 'warn' | 'info'>;
}

export interface CredentialChannel extends Credentials {
  close(): Promise<void>;
}

/** A service answers within a minute; a question that it does not answer then is lost. */
const questionMs = 60_000;
/** Shorter than anybody waits who asks the platform for the state of the channel. */
const reachMs = 3_000;
const firstLookMs = 1_000;
const longestPauseMs = 15_000;
const askAgainMs = 500;

const notSet =
  'The platform needs the service to get access tokens of customers who signed in, but INLAY_SERVICE_URL is not set. Set it ' +
  'for the platform and restart the platform.';

export function openCredentialChannel({ serviceUrl, application, runtime, log }: ChannelOptions): CredentialChannel {
  const transport = serviceUrl === undefined ? undefined : httpTransport(serviceUrl);
  const seal = createAsker(application, runtime);
  const closing = new AbortController();
  let outage = transport ? undefined : notSet;
  let looking: Promise<void> | undefined;

  async function ask(question: Question, timeoutMs = questionMs): Promise<Reply> {
    if (!transport) throw new KeeperUnreachable(notSet);
    const { authorization, body, read } = seal(question);
    try {
      const headers = { authorization, 'content-type': 'application/json', 'user-agent': 'inlay-platform' };
      const request = { method: 'POST', path: channelPath, headers, body, timeoutMs, signal: closing.signal } as const;
      const answer = await sendAnew(transport, request);
      const reply = answer.status === 200 ? read(answer.text) : undefined;
      if (!reply) throw new KeeperUnreachable(wordsFor(answer, serviceUrl));
      if (outage !== undefined) log.info({}, 'Access tokens from the service available again');
      outage = undefined;
      return reply;
    } catch (error) {
      throw noteOutage(asUnreachable(error, serviceUrl));
    }
  }

  function noteOutage(error: KeeperUnreachable): KeeperUnreachable {
    if (outage === undefined)
      log.warn({ err: error }, 'Access tokens from the service unavailable; syncs that need one are waiting');
    outage = error.message;
    looking ??= lookUntilReached().finally(() => {
      looking = undefined;
    });
    return error;
  }

  async function lookUntilReached(): Promise<void> {
    for (let pauseMs = firstLookMs; outage !== undefined; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      await runtime.sleep(pauseMs * (0.5 + runtime.random() / 2), closing.signal);
      if (closing.signal.aborted) return;
      await ask({ about: 'reach' }, reachMs).catch(() => {});
    }
  }

  /** Any replica may be the one that refreshes; the others are asked again until it has. */
  async function access(question: Question): Promise<Reply> {
    const startedAt = runtime.elapsed();
    for (;;) {
      const reply = await ask(question);
      const isBusy = reply.kind === 'unavailable' && reply.isBusy;
      if (!isBusy || runtime.elapsed() - startedAt >= busyPatienceMs) return reply;
      await runtime.sleep(askAgainMs, closing.signal);
    }
  }

  return {
    async accessTo(ref, { forMs, notGeneration }: AccessOptions): Promise<CredentialAccess> {
      const wanted = { ...(forMs !== undefined && { forMs }), ...(notGeneration !== undefined && { notGeneration }) };
      const reply = await access({ about: 'access', ...ref, ...wanted });
      if (reply.kind !== 'access') throw failureOf(reply);
      const { values, generation, expiresAt } = reply;
      return { values, generation, expiresAt };
    },
    async handBack(ref, tokens) {
      const reply = await ask({ about: 'hand_back', ...ref, ...tokens });
      if (reply.kind !== 'handed_back') throw failureOf(reply);
      return reply.generation ?? undefined;
    },
    outage: () => outage,
    async test() {
      await ask({ about: 'reach' }, reachMs).catch(() => {});
      return outage;
    },
    async close() {
      closing.abort();
      await looking;
      await transport?.close();
    },
  };
}

/** A connection that was kept open may be gone, for example because the service was restarted: asking twice does no harm. */
async function sendAnew(transport: Transport, request: Parameters<Transport['send']>[0]): Promise<PlatformAnswer> {
  try {
    return await transport.send(request);
  } catch (error) {
    if (!(error instanceof TransportError) || error.timedOut || !error.sent || request.signal?.aborted) throw error;
    return await transport.send({ ...request, freshConnection: true });
  }
}

function failureOf(reply: Reply): Error {
  if (reply.kind === 'attention') return new CredentialNeedsAttention(reply.whose);
  return new CredentialUnavailable(
    reply.kind === 'unavailable' ? reply.reason : 'the service answered a different request',
  );
}

function asUnreachable(error: unknown, serviceUrl: string | undefined): KeeperUnreachable {
  if (error instanceof KeeperUnreachable) return error;
  const { cause = error } = error as { cause?: unknown };
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `The platform cannot reach the service at ${serviceUrl} to get access tokens of customers who signed in: ${why}.`;
  return new KeeperUnreachable(message, { cause: error });
}

function wordsFor({ status }: PlatformAnswer, serviceUrl: string | undefined): string {
  const at = `The service at ${serviceUrl}`;
  if (status === 401) {
    return (
      `${at} rejected the platform's credentials. Set the same INLAY_PLATFORM_CLIENT_ID and ` +
      'INLAY_PLATFORM_CLIENT_SECRET for both, point INLAY_PLATFORM_URL of the service at this platform, and sync both clocks with NTP.'
    );
  }
  if (status === 404 || status === 405 || status === 200) {
    return `No Inlay service that uses this platform was found at ${serviceUrl}. Check INLAY_SERVICE_URL of the platform and INLAY_PLATFORM_URL of the service.`;
  }
  return `${at} returned ${status} when the platform asked for an access token.`;
}
