/** The endpoints that manage operator tokens. A secret is shown in exactly one answer: when it is created. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { OperatorTokens } from './operator-tokens.ts';

export function operatorTokenRoutes(app: FastifyInstance, operatorTokens: OperatorTokens): void {
  serve(app, operations.operatorTokens, {
    list: async ({ principal, reply }) => {
      reply.header('cache-control', 'no-store');
      return { data: await operatorTokens.list(principal.organizationId) };
    },

    create: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { name, permission, expires_at } = body;
      const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at);
      return await operatorTokens.create(principal.organizationId, { name, permission, expiresAt }, cause);
    },

    revoke: ({ params, principal, cause }) =>
      operatorTokens.revoke(principal.organizationId, params.operator_token_id, cause),

    rotate: async ({ params, body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { overlap_seconds = 0, expires_at } = body;
      const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at);
      const rotation = { overlapSeconds: overlap_seconds, expiresAt };
      return await operatorTokens.rotate(principal.organizationId, params.operator_token_id, rotation, cause);
    },
  });
}
