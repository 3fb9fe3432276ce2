/** The endpoint with which operators ask a source for its streams, to pick some of them for a template. */
import { DiscoveredStreams, DiscoverStreamsRequest } from '@inlay/contract/stream-discovery';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import type { PipelinesContext } from './context.ts';
import { discoverStreams } from './stream-discovery.ts';

export function streamDiscoveryRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  endpoint(app, {
    method: 'POST',
    url: '/api/v1/integrations/sources/discover',
    isRepeatable: true,
    access: 'operator',
    tag: 'Source templates',
    summary: 'Discover streams',
    description:
      'Runs the connector with a configuration, and answers with the streams that it lists. No customer is needed, and nothing is stored. The request waits for the connector, at most 50 seconds. Hosted platforms cannot do this.',
    body: DiscoverStreamsRequest,
    answer: DiscoveredStreams,
    errors: [
      'source_template_not_found',
      'definitions_unavailable',
      'definition_unusable',
      'queue_full',
      'stream_discovery_unsupported',
      'stream_discovery_unavailable',
    ],
    handle: ({ body, principal }) => discoverStreams(ctx, principal.organizationId, body),
  });
}
