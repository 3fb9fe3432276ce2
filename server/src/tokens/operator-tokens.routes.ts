/** The endpoints that manage operator tokens. A secret is shown in exactly one answer: when it is created. */
import {
  CreateOperatorTokenRequest,
  OperatorToken,
  OperatorTokenList,
  OperatorTokenPath,
  OperatorTokenWithSecret,
  RotateOperatorTokenRequest,
} from '@inlay/contract/tokens';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import type { OperatorTokens } from './operator-tokens.ts';

const path = '/api/v1/operator-tokens';
const tag = 'Operator tokens';

export function operatorTokenRoutes(app: FastifyInstance, operatorTokens: OperatorTokens): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List operator tokens',
    description: 'Oldest first, revoked ones included. Rotate tokens about every 90 days.',
    answer: OperatorTokenList,
    handle: async ({ principal, reply }) => {
      reply.header('cache-control', 'no-store');
      return { data: await operatorTokens.list(principal.organizationId) };
    },
  });

  endpoint(app, {
    method: 'POST',
    url: path,
    isAdministration: true,
    access: 'operator',
    tag,
    summary: 'Create operator token',
    description: 'The secret is shown only once.',
    body: CreateOperatorTokenRequest,
    status: 201,
    answer: OperatorTokenWithSecret,
    handle: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { name, permission, expires_at } = body;
      const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at);
      return await operatorTokens.create(principal.organizationId, { name, permission, expiresAt }, cause);
    },
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:operator_token_id`,
    isAdministration: true,
    access: 'operator',
    tag,
    summary: 'Revoke operator token',
    description: 'In force at once, on other replicas within two seconds; also for the token that makes the call.',
    params: OperatorTokenPath,
    answer: OperatorToken,
    errors: ['operator_token_not_found'],
    handle: ({ params, principal, cause }) =>
      operatorTokens.revoke(principal.organizationId, params.operator_token_id, cause),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:operator_token_id/rotate`,
    isAdministration: true,
    access: 'operator',
    tag,
    summary: 'Rotate operator token',
    description:
      'Creates a token of the same name, permission and expiry, and revokes the old one now or after an overlap. A token that is revoked or has expired cannot be rotated.',
    params: OperatorTokenPath,
    body: RotateOperatorTokenRequest,
    status: 201,
    answer: OperatorTokenWithSecret,
    errors: ['operator_token_not_found', 'operator_token_ended'],
    handle: async ({ params, body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { overlap_seconds = 0, expires_at } = body;
      const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at);
      const rotation = { overlapSeconds: overlap_seconds, expiresAt };
      return await operatorTokens.rotate(principal.organizationId, params.operator_token_id, rotation, cause);
    },
  });
}
