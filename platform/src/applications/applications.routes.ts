/** The token endpoint: schema, one call, reply. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import type { ApplicationTokens } from './applications.ts';

const TokenRequest = Type.Object({
  client_id: Type.String({ minLength: 1 }),
  client_secret: Type.String({ minLength: 1 }),
});

/** `scope` must be for this route alone: no other route takes a form. */
export function applicationRoutes(scope: FastifyInstance, tokens: ApplicationTokens): void {
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
