/**
 * An app around the platform's API: called within the process by the service, or listening on its own port for several
 * replicas. Adds what the API has no place for: health, and replies in the API's shape to requests that never reach the
 * API.
 */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
  type RawServerDefault,
} from 'fastify';
import { platformApi } from './api.ts';
import { createErrorReply } from './http/error-reply.ts';
import { healthRoutes } from './http/health.routes.ts';
import { createConnectionRefusal } from './http/refused-connections.ts';
import type { OpenPlatform } from './open-platform.ts';
import { OpaqueRefusal } from './problems.ts';

interface PlatformAppOptions {
  /** Base path of the API, for example `/platform/v1`. */
  prefix: string;
  log: object;
  /** Whether only this process calls the app, without a socket. */
  isInternal?: boolean;
  /** Addresses of proxies that may say for whom they call. */
  trustedProxies?: readonly string[];
  /** How long a connection may take until it has sent the head of its first request. */
  headersTimeoutMs?: number;
}

const usualHeadersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;

export async function createPlatformApp(
  platform: OpenPlatform,
  {
    prefix,
    log,
    isInternal = false,
    trustedProxies = [],
    headersTimeoutMs = usualHeadersTimeoutMs,
  }: PlatformAppOptions,
): Promise<FastifyInstance> {
  const { runtime } = platform;
  const app: FastifyInstance = Fastify<RawServerDefault>({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({
      disableRequestLogging: true,
      // Within the service, the service's log names its own request already.
      requestIdLogLabel: isInternal ? 'platformReqId' : 'reqId',
    }),
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs / 4) },
    // A request that got through is served; only new connections are refused while the process stops.
    return503OnClosing: false,
    clientErrorHandler: createConnectionRefusal(runtime),
    // A path that cannot be decoded leads nowhere.
    frameworkErrors: (_error, _request, reply) =>
      void (reply as FastifyReply).code(404).send({ errorId: runtime.newId() }),
  });
  app.setErrorHandler(createErrorReply(runtime));
  app.setNotFoundHandler(async () => {
    throw new OpaqueRefusal(404, 'path not found');
  });
  // A request that waits for a connector would keep the process from ending for as long as the connector takes.
  app.addHook('preClose', async () => platform.endQuestions());
  healthRoutes(app, platform);
  await app.register(platformApi(platform, { limitsGuesses: !isInternal }), { prefix });
  await app.ready();
  return app;
}
