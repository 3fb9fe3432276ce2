/** The endpoints with which operators check a destination. */
import { CheckDestinationRequest, DestinationCheckPath } from '@inlay/contract/destination-checks';
import { Check, StartedCheck } from '@inlay/contract/sources';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import type { PipelinesContext } from './context.ts';
import { getDestinationCheck, startDestinationCheck } from './destination-checks.ts';

const path = '/api/v1/integrations/destinations/check';
const tag = 'Connection templates';

export function destinationCheckRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  endpoint(app, {
    method: 'POST',
    url: path,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Check a destination',
    description:
      'Runs the connector to see whether data would arrive: by definition and configuration, or by connection template. Ask for the outcome with the id. Hosted platforms have no checks of destinations.',
    body: CheckDestinationRequest,
    answer: StartedCheck,
    errors: [
      'connection_template_not_found',
      'definitions_unavailable',
      'definition_unusable',
      'queue_full',
      'destination_checks_unsupported',
      'destination_check_unavailable',
    ],
    handle: async ({ body, principal }) => ({
      id: await startDestinationCheck(ctx, principal.organizationId, body),
    }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:destination_check_id/status`,
    access: 'operator',
    tag,
    summary: 'Get check of a destination',
    params: DestinationCheckPath,
    answer: Check,
    errors: ['check_not_found'],
    handle: async ({ params, principal }) =>
      getDestinationCheck(ctx, principal.organizationId, params.destination_check_id),
  });
}
