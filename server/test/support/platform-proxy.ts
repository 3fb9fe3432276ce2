/**
 * Stands between the service and a platform process, and does what networks do: loses requests, loses answers, delays,
 * refuses connections. A script is asked at each phase of each request and may also end the service at that instant.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { freePort } from '../../../scripts/disposable.mjs';
import { isLongRun } from '../../../scripts/long-run.ts';

/**
 * Before the platform sees it; after the platform answered but before the service sees that; after the service was
 * answered.
 */
const phases = ['arrived', 'applied', 'answered'] as const;
export type Phase = (typeof phases)[number];

/** A short run kills the service where it matters most: the platform has applied a request, and the service does not know. */
export const triedPhases: readonly Phase[] = isLongRun ? phases : ['applied'];

export interface ProxiedRequest {
  readonly method: string;
  /** Below the platform's base, with its query. */
  readonly path: string;
  readonly body: string;
  /** Whether something else was sent on its connection before. */
  readonly reused: boolean;
}

/**
 * Nothing: carry on. `drop`: reset the connection; from `arrived` the platform then never sees the request. `cut`:
 * reset it in the middle of an answer. Or an answer in place of the platform's.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a script may return nothing
export type Verdict = void | 'drop' | 'cut' | { status: number; body?: string; headers?: OutgoingHttpHeaders };
/** May take its time: the request waits where it is. */
export type Script = (request: ProxiedRequest, phase: Phase) => Verdict | Promise<Verdict>;

export interface PlatformProxy {
  /** For INLAY_PLATFORM_URL. */
  readonly url: string;
  /** Undefined: everything passes. */
  script: Script | undefined;
  /** Everything that arrived, requests for access tokens aside. */
  readonly arrived: ProxiedRequest[];
  /** How many creates with this name arrived. */
  createsSent(name: string): number;
  /** How many creates with this name the platform answered with success. */
  createsApplied(name: string): number;
  /** Cuts every connection and refuses new ones. */
  goDown(): Promise<void>;
  /** Listens again, on the same port. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export const isCreate = ({ method, path }: ProxiedRequest) => method === 'POST' && path === '/workspaces';

export async function startPlatformProxy(platformUrl: string): Promise<PlatformProxy> {
  const base = new URL(platformUrl);
  const port = await freePort();
  const agent = new Agent({ keepAlive: true });
  const sent = new Map<string, number>();
  const applied = new Map<string, number>();
  const used = new WeakSet<Socket>();
  let server: Server | undefined;

  function forward({ method, path, body }: ProxiedRequest, headers: IncomingMessage['headers']) {
    return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
      const target = { host: base.hostname, port: base.port, path: base.pathname + path, method, agent };
      const upstream = request({ ...target, headers: { ...headers, host: base.host } }, async (answer) => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of answer) chunks.push(chunk);
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
        } catch (error) {
          reject(error);
        }
      });
      upstream.on('error', reject);
      upstream.end(body);
    });
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    const proxied = {
      method: incoming.method ?? '',
      path: (incoming.url ?? '').slice(base.pathname.length),
      body,
      reused: used.has(incoming.socket),
    };
    used.add(incoming.socket);
    const isForToken = proxied.path.startsWith('/applications/');
    if (!isForToken) proxy.arrived.push(proxied);
    if (isCreate(proxied)) increment(sent, nameIn(body));

    /** Whether the script has handled the request. */
    const ask = async (phase: Phase): Promise<boolean> => {
      const verdict = isForToken ? undefined : await proxy.script?.(proxied, phase);
      if (!verdict) return false;
      if (verdict === 'drop') outgoing.destroy();
      else if (verdict === 'cut') {
        outgoing.writeHead(200, { 'content-length': 1_000 });
        outgoing.write('{"workspaceId":', () => outgoing.destroy());
      } else if (!outgoing.headersSent) outgoing.writeHead(verdict.status, verdict.headers).end(verdict.body ?? '{}');
      return true;
    };

    if (await ask('arrived')) return;
    const answer = await forward(proxied, incoming.headers);
    if (isCreate(proxied) && answer.status < 300) increment(applied, nameIn(body));
    if (await ask('applied')) return;
    const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
    outgoing.writeHead(answer.status, headers);
    await new Promise<void>((resolve) => {
      // On a busy machine the service may have given up while the answer was held.
      if (outgoing.closed) resolve();
      outgoing.once('close', resolve);
      outgoing.end(answer.body, resolve);
    });
    await ask('answered');
  }

  async function listen(): Promise<void> {
    server = createServer((incoming, outgoing) => {
      // The service or the platform may be gone at any time. That ends this exchange and nothing else.
      outgoing.on('error', () => {});
      handle(incoming, outgoing).catch(() => outgoing.destroy());
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function close(): Promise<void> {
    const closing = server;
    server = undefined;
    if (!closing) return;
    const closed = once(closing, 'close');
    closing.close();
    closing.closeAllConnections();
    await closed;
  }

  const proxy: PlatformProxy = {
    url: `http://127.0.0.1:${port}${base.pathname}`,
    script: undefined,
    arrived: [],
    createsSent: (name) => sent.get(name) ?? 0,
    createsApplied: (name) => applied.get(name) ?? 0,
    goDown: close,
    comeBack: listen,
    async stop() {
      await close();
      agent.destroy();
    },
  };
  await listen();
  return proxy;
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function nameIn(body: string): string {
  return JSON.parse(body).name;
}
