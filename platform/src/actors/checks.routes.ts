/*
 * The HTTP face of checks, an addition of this platform: a check is started and asked for later, since connectors may
 * take long. The rules are in connector-check.ts.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Platform } from '../context.ts';
import type { ConnectorKind } from '../definitions/definitions.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { Uuid } from '../http/paging.ts';
import { checkRequest, startCheck } from './checks.ts';

const SourceCheck = Type.Object({ ...checkRequest, sourceId: Type.Optional(Uuid) });
const DestinationCheck = Type.Object({ ...checkRequest, destinationId: Type.Optional(Uuid) });
const params = Type.Object({ checkId: Uuid });

export function checkRoutes(app: FastifyInstance, platform: Platform): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const path = (kind: ConnectorKind) => `/${kind}s/check_connection`;

  routes.post(path('source'), { ...policy, schema: { body: SourceCheck } }, async ({ body }) =>
    startCheck(platform, 'source', body, body.sourceId),
  );
  routes.post(path('destination'), { ...policy, schema: { body: DestinationCheck } }, async ({ body }) =>
    startCheck(platform, 'destination', body, body.destinationId),
  );
  for (const kind of ['source', 'destination'] as const) {
    routes.get(`${path(kind)}/:checkId`, { ...policy, schema: { params } }, async ({ params: { checkId } }) =>
      platform.checks.get(kind, checkId),
    );
  }
}
