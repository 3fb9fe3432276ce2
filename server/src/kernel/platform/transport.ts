/**
 * How a request reaches the platform: over a socket, or straight into the bundled platform in this process. A transport
 * returns whatever answer came back. When none came, its error says whether the platform may have applied the request.
 */
import type { Agent, Dispatcher } from 'undici';

export interface PlatformRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base URL of the API, with its query. */
  path: string;
  /** The public API if not set. The internal API is unsupported and may be missing: expect a 404. */
  api?: 'internal' | undefined;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
  /** Gives the request up. */
  signal?: AbortSignal;
  /** Use a new connection: when a reused connection is reset, nobody knows whether the request arrived. */
  freshConnection?: boolean;
}

export interface PlatformAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Transport {
  send(request: PlatformRequest): Promise<PlatformAnswer>;
  close(): Promise<void>;
}

export class TransportError extends Error {
  readonly sent: boolean;
  readonly timedOut: boolean;

  constructor(message: string, facts: { sent: boolean; timedOut: boolean; cause?: unknown }) {
    super(message, { cause: facts.cause });
    this.name = 'TransportError';
    this.sent = facts.sent;
    this.timedOut = facts.timedOut;
  }
}

const connectTimeoutMs = 2_000;
const maxAnswerBytes = 5_000_000;

export function httpTransport(baseUrl: string): Transport {
  const base = new URL(baseUrl);
  const basePath = base.pathname.replace(/\/$/, '');
  const internalPath = internalBasePath(basePath);
  const connect = { timeout: connectTimeoutMs };
  let agent: Agent | undefined;

  async function exchange(dispatcher: Dispatcher, request: PlatformRequest): Promise<PlatformAnswer> {
    const timeout = AbortSignal.timeout(request.timeoutMs);
    const response = await dispatcher.request({
      origin: base.origin,
      path: (request.api === 'internal' ? internalPath : basePath) + request.path,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
      chunks.push(chunk);
    }
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') };
  }

  return {
    async send(request) {
      // Loaded here and not at the start: the bundled platform never needs it, and it takes longer to load than the
      // framework.
      const { Agent, Client } = await import('./http-agents.ts');
      agent ??= new Agent({ connect, connections: 16 });
      const startedAt = performance.now();
      let connected = !request.freshConnection;
      const client = request.freshConnection ? new Client(base.origin, { connect }) : undefined;
      client?.on('connect', () => {
        connected = true;
      });
      try {
        return await exchange(client ?? agent, request);
      } catch (cause) {
        const timedOut = isTimeout(cause) || performance.now() - startedAt >= request.timeoutMs;
        const sent = connected && !neverSent.has((cause as { code?: string }).code ?? '');
        throw new TransportError(`${request.method} ${withoutQuery(request.path)}: ${messageOf(cause)}`, {
          sent,
          timedOut,
          cause,
        });
      } finally {
        await client?.destroy();
      }
    },
    close: async () => {
      await agent?.close();
    },
  };
}

/**
 * A self-managed platform has /api/public/v1 beside /api/v1. Elsewhere this is the best guess, always on the same host,
 * so that credentials go nowhere else.
 */
function internalBasePath(basePath: string): string {
  const isSelfManaged = basePath.endsWith('/api/public/v1');
  return isSelfManaged ? basePath.replace(/public\/v1$/, 'v1') : basePath.replace(/(\/v1)?$/, '/api/v1');
}

const neverSent = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

function isTimeout(cause: unknown): boolean {
  const { name, code } = cause as { name?: string; code?: string };
  return name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

/** An HTTP application that can be called without a socket. */
interface InjectableApp {
  inject(request: {
    method: PlatformRequest['method'];
    url: string;
    headers: Record<string, string>;
    payload?: string;
  }): Promise<{
    statusCode: number;
    headers: object;
    body: string;
  }>;
}

/**
 * Dispatches into an app that serves the platform's API below `basePath`. Always waits for the response, which the app
 * sends immediately when its requests are aborted.
 */
export function inProcessTransport(app: InjectableApp, basePath: string): Transport {
  return {
    async send({ method, path, headers, body, api }) {
      if (api === 'internal') return { status: 404, headers: {}, text: '' };
      const response = await app.inject({ method, url: basePath + path, headers, ...(body ? { payload: body } : {}) });
      return {
        status: response.statusCode,
        headers: response.headers as PlatformAnswer['headers'],
        text: response.body,
      };
    },
    close: async () => {},
  };
}
