/**
 * The platform's HTTP API as a Fastify plugin, in the shape of a hosted platform's public API. Paths are relative to
 * the prefix it is registered under.
 *
 * Invariants: validation, body parsing, error replies and the not-found reply are the plugin's own, whatever the
 * surrounding app uses; every route except the token endpoint requires an access token, including unknown paths. Workers
 * have tokens of their own, which open only the routes of workers/worker-calls.routes.ts.
 */
import { readTraceContext } from '@inlay/contract/text/trace-context';
import type { FastifyPluginAsync } from 'fastify';
import { actorRoutes } from './actors/actors.routes.ts';
import { checkRoutes } from './actors/checks.routes.ts';
import { credentialRoutes } from './actors/credentials.routes.ts';
import { applicationRoutes } from './applications/applications.routes.ts';
import { connectionRoutes } from './connections/connections.routes.ts';
import { streamRoutes } from './connections/streams.routes.ts';
import { declarativeDefinitionRoutes } from './definitions/declarative-definitions.routes.ts';
import { definitionRoutes } from './definitions/definitions.routes.ts';
import { isForWorkers, isPublic } from './http/endpoint.ts';
import { createErrorReply } from './http/error-reply.ts';
import { compileRequestSchema } from './http/validation.ts';
import { jobRoutes } from './jobs/jobs.routes.ts';
import type { OpenPlatform } from './open-platform.ts';
import { OpaqueRefusal } from './problems.ts';
import { withTrace } from './tracing.ts';
import { workerCallRoutes } from './workers/worker-calls.routes.ts';
import { workerRoutes } from './workers/workers.routes.ts';
import { workspaceRoutes } from './workspaces/workspaces.routes.ts';

interface ApiOptions {
  /** False for an app that only this process can call: nobody can guess there. */
  limitsGuesses?: boolean;
}

export function platformApi(platform: OpenPlatform, { limitsGuesses = true }: ApiOptions = {}): FastifyPluginAsync {
  const { tokens, publicUrl, workspaces, definitions, actors, connections, jobs, workers } = platform;
  return async (app) => {
    app.setValidatorCompiler(compileRequestSchema);
    app.setErrorHandler(createErrorReply(platform.runtime));
    app.setNotFoundHandler(async () => {
      throw new OpaqueRefusal(404, 'path not found');
    });
    app.removeAllContentTypeParsers();
    // Keys that would reach an object's prototype make a body as unreadable as broken JSON does.
    app.addContentTypeParser('application/json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'));
    app.addHook('onRequest', async (request) => {
      if (!isPublic(request) && !isForWorkers(request)) await tokens.verify(request.headers.authorization);
    });
    // Not earlier: hooks that run after the body was read no longer share the context of those before.
    app.addHook('preHandler', ({ headers }, _reply, done) => {
      const trace = readTraceContext(headers.traceparent, headers.tracestate);
      if (trace) withTrace(trace, done);
      else done();
    });

    // In its own scope: only the token endpoint also accepts forms.
    await app.register(async (scope) => applicationRoutes(scope, tokens, { limitsGuesses }));
    workspaceRoutes(app, workspaces, publicUrl);
    actorRoutes(app, actors, 'source', publicUrl);
    actorRoutes(app, actors, 'destination', publicUrl);
    definitionRoutes(app, definitions);
    declarativeDefinitionRoutes(app, definitions);
    checkRoutes(app, actors);
    credentialRoutes(app, actors);
    streamRoutes(app, actors);
    connectionRoutes(app, connections, publicUrl);
    jobRoutes(app, jobs, publicUrl);
    workerRoutes(app, workers);
    await app.register(async (scope) => workerCallRoutes(scope, workers));
  };
}
