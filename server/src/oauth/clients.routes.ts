/** The endpoints about OAuth clients, for operators. No answer holds a secret. */
import {
  CreateOAuthClientRequest,
  DeletedOAuthClient,
  KnownOAuthProviderList,
  OAuthClient,
  OAuthClientList,
  OAuthClientPath,
  RotateOAuthSecretRequest,
  UpdateOAuthClientRequest,
} from '@inlay/contract/oauth-clients';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import * as clients from './clients.ts';
import type { OAuthContext } from './context.ts';
import { presets } from './presets.ts';

const about = { access: 'operator', tag: 'OAuth clients' } as const;
const path = '/api/v1/integrations/oauth/clients';
const one = `${path}/:oauth_client_id`;

export function oauthClientRoutes(app: FastifyInstance, ctx: OAuthContext): void {
  endpoint(app, {
    ...about,
    method: 'GET',
    url: '/api/v1/integrations/oauth/providers',
    summary: 'List known OAuth providers',
    description:
      'Providers that need only an id and a secret of your app. Others are described by an issuer or by endpoints.',
    answer: KnownOAuthProviderList,
    errors: [],
    handle: async () => ({ data: Object.entries(presets).map(presentPreset) }),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: path,
    summary: 'List OAuth clients',
    description: 'What is registered with providers, oldest first. Secrets are masked.',
    answer: OAuthClientList,
    errors: [],
    handle: async ({ principal }) => ({ data: await clients.listClients(ctx, principal.organizationId) }),
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: path,
    isAdministration: true,
    summary: 'Create OAuth client',
    description:
      'Keeps the id and the secret of an app that you have registered with a provider. Enter `redirect_url` of the answer with the provider.',
    body: CreateOAuthClientRequest,
    status: 201,
    answer: OAuthClient,
    errors: ['oauth_client_limit'],
    handle: ({ principal, body, cause }) => clients.createClient(causedBy(ctx, cause), principal.organizationId, body),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: one,
    summary: 'Get OAuth client',
    params: OAuthClientPath,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
    handle: ({ principal, params }) => clients.getClient(ctx, principal.organizationId, params.oauth_client_id),
  });

  endpoint(app, {
    ...about,
    method: 'PATCH',
    url: one,
    isAdministration: true,
    summary: 'Update OAuth client',
    description:
      'Changes what is given. If the secret would go to other hosts than before, give it anew. The redirect address stays.',
    params: OAuthClientPath,
    body: UpdateOAuthClientRequest,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
    handle: ({ principal, params, body, cause }) =>
      clients.updateClient(causedBy(ctx, cause), principal.organizationId, params.oauth_client_id, body),
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${one}/rotate-secret`,
    isAdministration: true,
    summary: 'Rotate secret of OAuth client',
    description:
      'Uses a new secret. During the overlap the old secret is tried where the provider refuses the new one.',
    params: OAuthClientPath,
    body: RotateOAuthSecretRequest,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
    handle: ({ principal, params, body, cause }) =>
      clients.rotateSecret(causedBy(ctx, cause), principal.organizationId, params.oauth_client_id, body),
  });

  endpoint(app, {
    ...about,
    method: 'DELETE',
    url: one,
    isAdministration: true,
    summary: 'Delete OAuth client',
    description: 'Only while no credential and no template uses it: its secret is needed to refresh tokens.',
    params: OAuthClientPath,
    answer: DeletedOAuthClient,
    errors: ['oauth_client_not_found', 'oauth_client_in_use'],
    handle: async ({ principal, params, cause }) => {
      const { organizationId } = principal;
      const deleted = await clients.deleteClient(causedBy(ctx, cause), organizationId, params.oauth_client_id);
      return { id: deleted.id, deleted_at: isoTime(deleted.deletedAt) };
    },
  });
}

function presentPreset([key, { name, documentation, tried, notes, ...endpoints }]: [string, (typeof presets)[string]]) {
  return { key, name, documentation, tried, notes: notes ?? null, endpoints };
}
