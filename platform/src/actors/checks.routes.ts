/**
 * The endpoints for checks, an extension of this platform. Clients start a check and poll for its result, because
 * connectors can take long.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ConnectorKind } from '../definitions/definitions.ts';
import { Uuid } from '../fields.ts';
import { access, manifestBodyLimit, type SchemaTypes } from '../http/endpoint.ts';
import { startCheck } from './checks.ts';
import type { ActorsContext } from './context.ts';
import { DestinationCheck, SourceCheck } from './requests.ts';

const params = Type.Object({ checkId: Uuid });

export function checkRoutes(app: FastifyInstance, ctx: ActorsContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const path = (kind: ConnectorKind) => `/${kind}s/check_connection`;

  const withManifest = { ...policy, bodyLimit: manifestBodyLimit };
  routes.post(path('source'), { ...withManifest, schema: { body: SourceCheck } }, async ({ body }) =>
    startCheck(ctx, 'source', body, body.sourceId),
  );
  routes.post(path('destination'), { ...policy, schema: { body: DestinationCheck } }, async ({ body }) =>
    startCheck(ctx, 'destination', body, body.destinationId),
  );
  for (const kind of ['source', 'destination'] as const) {
    routes.get(`${path(kind)}/:checkId`, { ...policy, schema: { params } }, async ({ params: { checkId } }) =>
      ctx.checks.get(kind, checkId),
    );
  }
}
