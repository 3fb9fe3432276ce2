/** Operations for operators to test a destination. */
import { CheckDestinationRequest, DestinationCheckPath } from '../pipelines/destination-checks.ts';
import { Check, StartedCheck } from '../pipelines/sources.ts';
import type { Operation } from './operation.ts';

export const destinations = {
  check: {
    route: 'POST /api/v1/integrations/destinations/check',
    access: 'operator',
    tag: 'Connection templates',
    summary: 'Check a destination',
    description:
      'Runs the connector to test a destination, given by definition and configuration or by connection template. Poll for the result with the returned ID. Hosted platforms do not support this.',
    body: CheckDestinationRequest,
    isRepeatable: true,
    answer: StartedCheck,
    errors: [
      'connection_template_not_found',
      'definitions_unavailable',
      'definition_unusable',
      'queue_full',
      'destination_checks_unsupported',
      'destination_check_unavailable',
    ],
  },
  getCheck: {
    route: 'GET /api/v1/integrations/destinations/check/{destination_check_id}/status',
    access: 'operator',
    tag: 'Connection templates',
    summary: 'Get check of a destination',
    params: DestinationCheckPath,
    answer: Check,
    errors: ['check_not_found'],
  },
} as const satisfies Record<string, Operation>;
