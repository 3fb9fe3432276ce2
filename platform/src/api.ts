/*
 * The platform's HTTP API as a Fastify plugin, in the shape of a hosted platform's public API. Paths are relative to
 * the prefix it is registered under.
 *
 * Always true: validation, body parsing, error replies and the not-found reply are the plugin's own, whatever the app
 * around it uses; every route but the token endpoint needs an access token, unknown paths included.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { connectorRoutes, definitionRoutes } from './actors/actors.routes.ts';
import { checkRoutes } from './actors/checks.routes.ts';
import { connectionRoutes } from './connections/connections.routes.ts';
import { streamRoutes } from './connections/streams.routes.ts';
import type { Platform } from './context.ts';
import { access, compileRequestSchema, isPublic, replyToError, type SchemaTypes } from './http/endpoint.ts';
import { jobRoutes } from './jobs/jobs.routes.ts';
import { OpaqueRefusal } from './problems.ts';
import { workspaceRoutes } from './workspaces/workspaces.routes.ts';

export function platformApi(platform: Platform): FastifyPluginAsync {
  return async (app) => {
    app.setValidatorCompiler(compileRequestSchema);
    app.setErrorHandler(replyToError);
    app.setNotFoundHandler(async () => {
      throw new OpaqueRefusal(404, 'no such path');
    });
    app.removeAllContentTypeParsers();
    // Keys that would reach an object's prototype make a body as unreadable as broken JSON does.
    app.addContentTypeParser('application/json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'));
    app.addHook('onRequest', async (request) => {
      if (!isPublic(request)) await platform.tokens.verify(request.headers.authorization);
    });

    await app.register(async (scope) => tokenRoute(scope, platform));
    workspaceRoutes(app, platform);
    connectorRoutes(app, platform, 'source');
    connectorRoutes(app, platform, 'destination');
    definitionRoutes(app, platform);
    checkRoutes(app, platform);
    streamRoutes(app, platform);
    connectionRoutes(app, platform);
    jobRoutes(app, platform);
  };
}

const TokenRequest = Type.Object({
  client_id: Type.String({ minLength: 1 }),
  client_secret: Type.String({ minLength: 1 }),
});

/** In a scope of its own: this is the only route that also takes a form. */
function tokenRoute(scope: FastifyInstance, { tokens }: Platform): void {
  const readForm = async (_request: FastifyRequest, form: string) => Object.fromEntries(new URLSearchParams(form));
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, readForm);
  scope
    .withTypeProvider<SchemaTypes>()
    .post('/applications/token', { ...access('public'), schema: { body: TokenRequest } }, async ({ body }, reply) => {
      const { token, expiresInSeconds } = await tokens.issue(body.client_id, body.client_secret);
      return reply
        .header('cache-control', 'no-store')
        .send({ access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds });
    });
}
