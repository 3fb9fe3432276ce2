/** The endpoint with which operators ask a source for its streams, to pick some of them for a template. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { PipelinesContext } from '../context.ts';
import { discoverStreams } from './stream-discovery.ts';

export function streamDiscoveryRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  serve(app, operations.sources, {
    discoverStreams: ({ body, principal }) => discoverStreams(ctx, principal.organizationId, body),
  });
}
