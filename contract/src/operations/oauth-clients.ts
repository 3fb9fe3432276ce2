/** Operations on OAuth clients. No answer holds a secret. */
import {
  CreateOAuthClientRequest,
  DeletedOAuthClient,
  KnownOAuthProviderList,
  OAuthClient,
  OAuthClientList,
  OAuthClientPath,
  RotateOAuthSecretRequest,
  UpdateOAuthClientRequest,
} from '../credentials/oauth-clients.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'OAuth clients' } as const;

export const oauthProviders = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/oauth/providers',
    summary: 'List known OAuth providers',
    description:
      'Providers that need only an id and a secret of your app. Others are described by an issuer or by endpoints.',
    answer: KnownOAuthProviderList,
  },
} as const satisfies Record<string, Operation>;

export const oauthClients = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/oauth/clients',
    summary: 'List OAuth clients',
    description: 'What is registered with providers, oldest first. Secrets are masked.',
    answer: OAuthClientList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/integrations/oauth/clients',
    summary: 'Create OAuth client',
    description:
      'Keeps the id and the secret of an app that you have registered with a provider. Enter `redirect_url` of the answer with the provider.',
    body: CreateOAuthClientRequest,
    status: 201,
    isAdministration: true,
    answer: OAuthClient,
    errors: ['oauth_client_limit'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/oauth/clients/{oauth_client_id}',
    summary: 'Get OAuth client',
    params: OAuthClientPath,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
  },
  update: {
    ...about,
    route: 'PATCH /api/v1/integrations/oauth/clients/{oauth_client_id}',
    summary: 'Update OAuth client',
    description:
      'Changes what is given. If the secret would go to other hosts than before, give it anew. The redirect address stays.',
    params: OAuthClientPath,
    body: UpdateOAuthClientRequest,
    isAdministration: true,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
  },
  rotateSecret: {
    ...about,
    route: 'POST /api/v1/integrations/oauth/clients/{oauth_client_id}/rotate-secret',
    summary: 'Rotate secret of OAuth client',
    description:
      'Uses a new secret. During the overlap the old secret is tried where the provider refuses the new one.',
    params: OAuthClientPath,
    body: RotateOAuthSecretRequest,
    isAdministration: true,
    answer: OAuthClient,
    errors: ['oauth_client_not_found'],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/oauth/clients/{oauth_client_id}',
    summary: 'Delete OAuth client',
    description: 'Only while no credential and no template uses it: its secret is needed to refresh tokens.',
    params: OAuthClientPath,
    isAdministration: true,
    answer: DeletedOAuthClient,
    errors: ['oauth_client_not_found', 'oauth_client_in_use'],
  },
} as const satisfies Record<string, Operation>;
