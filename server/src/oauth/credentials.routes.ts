/** The endpoints about credentials: for operators, and for customers about their own workspace. No answer holds a token. */
import {
  Credential,
  CredentialList,
  CredentialPath,
  ListCredentialsQuery,
  ListOwnCredentialsQuery,
  OwnCredential,
  OwnCredentialList,
} from '@inlay/contract/credentials';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import type { OAuthContext } from './context.ts';
import { endCredential, getCredential, getOwnCredential, listCredentials, listOwnUnused } from './credential-list.ts';

const about = { access: 'operator', tag: 'OAuth clients' } as const;
const path = '/api/v1/integrations/credentials';
const one = `${path}/:credential_id`;

export function credentialRoutes(app: FastifyInstance, ctx: OAuthContext): void {
  endpoint(app, {
    ...about,
    method: 'GET',
    url: path,
    summary: 'List credentials',
    description: 'What customers have signed in with, the newest first: whose account, which scopes, how it does.',
    query: ListCredentialsQuery,
    answer: CredentialList,
    errors: [],
    handle: async ({ principal, query: { workspace_id: workspaceId, limit = 100 } }) => ({
      data: await listCredentials(ctx, principal.organizationId, { workspaceId, limit }),
    }),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: one,
    summary: 'Get credential',
    params: CredentialPath,
    answer: Credential,
    errors: ['credential_not_found'],
    handle: ({ principal, params }) => getCredential(ctx, principal.organizationId, params.credential_id),
  });

  endpoint(app, {
    ...about,
    method: 'DELETE',
    url: one,
    summary: 'Delete credential',
    description:
      'Ends a sign-in. The provider is told, if it can be, in the background: see `revocation`. Sources that use it need a new sign-in.',
    params: CredentialPath,
    answer: Credential,
    errors: ['credential_not_found'],
    handle: ({ principal, params, cause }) =>
      endCredential(causedBy(ctx, cause), principal.organizationId, params.credential_id),
  });

  endpoint(app, {
    access: 'scoped',
    tag: 'Inside a workspace',
    method: 'GET',
    url: '/api/v1/embedded/credentials',
    summary: 'List own credentials',
    description:
      'Sign-ins by a link whose source is yet to be made, because its template asks for more than a sign-in; the newest first. Make the source with the `id` of one of them.',
    query: ListOwnCredentialsQuery,
    answer: OwnCredentialList,
    handle: async ({ principal: { organizationId, workspaceId }, query }) => ({
      data: await listOwnUnused(ctx, { organizationId, workspaceId, templateId: query.source_template_id }),
    }),
  });

  endpoint(app, {
    access: 'scoped',
    tag: 'Inside a workspace',
    method: 'GET',
    url: '/api/v1/embedded/credentials/:credential_id',
    summary: 'Get own credential',
    description: 'With which account the customer has signed in, and whether the customer has to sign in again.',
    params: CredentialPath,
    answer: OwnCredential,
    errors: ['credential_not_found'],
    handle: ({ principal: { organizationId, workspaceId }, params }) =>
      getOwnCredential(ctx, { organizationId, workspaceId, credentialId: params.credential_id }),
  });
}
