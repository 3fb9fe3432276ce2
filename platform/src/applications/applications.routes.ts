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
export function applicationRoutes(
  scope: FastifyInstance,
  tokens: ApplicationTokens,
  { limitsGuesses }: { limitsGuesses: boolean },
): void {
  const readForm = async (_request: FastifyRequest, form: string) => Object.fromEntries(new URLSearchParams(form));
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, readForm);
  scope
    .withTypeProvider<SchemaTypes>()
    .post('/applications/token', { ...access('public'), schema: { body: TokenRequest } }, async (request, reply) => {
      const { client_id, client_secret } = request.body;
      const address = limitsGuesses ? request.ip : undefined;
      const { token, expiresInSeconds } = await tokens.issue(client_id, client_secret, address);
      return reply
        .header('cache-control', 'no-store')
        .send({ access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds });
    });
}
