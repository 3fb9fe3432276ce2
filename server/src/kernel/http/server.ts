/**
 * The HTTP server itself: limits and time-outs, request ids, access log, latency, headers that every answer carries.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import buildSerializer, { type Schema } from 'fast-json-stringify';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';
import { silentTracer, type Tracer } from '../telemetry/tracing.ts';
import { accessLog } from './access-log.ts';
import { readJsonBodies } from './body.ts';
import { limitConnections } from './connections.ts';
import { refuseConnection, refuseExpectations, refuseWithoutHost, replyToErrors, sendNotFound } from './error-reply.ts';
import { RequestLog } from './request-log.ts';
import { traceRequests } from './request-traces.ts';
import type { PartCompiler } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The pattern of the route, not the path: a path that matched nothing could hold anything, a token for instance. */
    route: string;
  }
}

interface ServerOptions {
  log: Logger;
  metrics: Metrics;
  compilePart: PartCompiler;
  tracer?: Tracer;
  trustedProxies: string[];
  /** How many connections one address may have at a time; 0 is off. */
  maxConnectionsPerAddress: number;
  /** How long a connection may take until it has sent the head of its first request. */
  headersTimeoutMs?: number;
  /** Gives a request another path, before its route is looked for. */
  rewriteUrl?: ((request: IncomingMessage) => string) | undefined;
}

const bodyLimitBytes = 1_048_576;
const usualHeadersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
/** Longer than any request may work without sending anything; a client that does not read for this long is cut off. */
const idleTimeoutMs = 60_000;
const keepAliveTimeoutMs = 65_000;
/** Enough for the longest tag, which can be part of a path. */
export const routerOptions = { maxParamLength: 1_024 };

export function createServer({
  log,
  metrics,
  compilePart,
  tracer = silentTracer,
  trustedProxies,
  maxConnectionsPerAddress,
  headersTimeoutMs = usualHeadersTimeoutMs,
  rewriteUrl = ({ url = '' }) => url,
}: ServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent, bindings, options) => new RequestLog(parent, bindings, options),
    genReqId: (request) => acceptedRequestId(request.headers['x-request-id']) ?? randomUUID(),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    bodyLimit: bodyLimitBytes,
    routerOptions,
    rewriteUrl: (request: IncomingMessage) => rewriteUrl(request),
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs / 4),
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    // Open connections are served; only new ones are refused while the process stops.
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    // A path that cannot be decoded is not found.
    frameworkErrors: (_error, request, reply) =>
      void sendNotFound((reply as FastifyReply).header('x-request-id', request.id)),
    exposeHeadRoutes: true,
  });
  // Requests are validated by serve(), all parts at once; schemas given to Fastify serialize and document.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(({ schema }) => {
    // Built with the first answer that needs it: building all of them adds a third to the CPU time of a start.
    let serialize: Serialize | undefined;
    return (answer) => {
      serialize ??= serializerFor(schema as Schema);
      return serialize(answer);
    };
  });
  const onRefused = metrics.connectionRefused;
  limitConnections(app.server, { maxPerAddress: maxConnectionsPerAddress, trustedProxies, log, onRefused });
  app.decorate('compilePart', compilePart);
  readJsonBodies(app);
  replyToErrors(app);

  const trace = traceRequests(app, tracer);
  const logRequest = accessLog(log);
  refuseExpectations(app);
  app.decorateRequest('route', 'unmatched');

  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });

  app.addHook('onRequest', (request, reply, done) => {
    // Read once: Fastify makes these options anew each time.
    request.route = request.routeOptions.url ?? 'unmatched';
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('referrer-policy', 'no-referrer');
    trace(request, reply);
    if (request.headers.host === undefined) refuseWithoutHost(reply);
    else done();
  });

  // A connection that is kept alive after the last answer would keep the process from ending.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, route } = request;
    const { statusCode: status, elapsedTime: ms } = reply;
    metrics.request(route, method, status, ms / 1000);
    logRequest({ requestId, traceId: request.trace?.traceId, method, route, status, ms });
    done();
  });
  return app;
}

type Serialize = ReturnType<typeof buildSerializer>;

const serializers = new Map<string, Serialize>();

/** Endpoints that answer alike share one, and so do the servers of a process: tests start hundreds. */
function serializerFor(schema: Schema): Serialize {
  const key = JSON.stringify(schema);
  // Values that may be null are looked at by a validator, which would complain of our own formats on the console.
  const serialize = serializers.get(key) ?? buildSerializer(schema, { ajv: { logger: false } });
  serializers.set(key, serialize);
  return serialize;
}

/** A request id is logged, so its form is too short and plain to hold a token. */
function acceptedRequestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[A-Za-z0-9-]{1,36}$/.test(given) ? given : undefined;
}
