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
    summary: 'List built-in OAuth providers',
    description:
      'Returns the providers that only need the client ID and secret of your app. Configure other providers by issuer or endpoints.',
    answer: KnownOAuthProviderList,
  },
} as const satisfies Record<string, Operation>;

export const oauthClients = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/oauth/clients',
    summary: 'List OAuth clients',
    description: 'Returns the OAuth clients, oldest first. Secrets are masked.',
    answer: OAuthClientList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/integrations/oauth/clients',
    summary: 'Create OAuth client',
    description:
      'Stores the client ID and secret of an app that you registered with a provider. Register the returned `redirect_url` with the provider.',
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
      'Updates the given fields. If the secret would be sent to other hosts than before, enter it again. The redirect URL stays the same.',
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
      'Replaces the client secret. During the overlap, the old secret is tried when the provider rejects the new one.',
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
    description:
      'Deletes the OAuth client. Not possible while credentials or templates use it, because its secret is needed to refresh tokens.',
    params: OAuthClientPath,
    isAdministration: true,
    answer: DeletedOAuthClient,
    errors: ['oauth_client_not_found', 'oauth_client_in_use'],
  },
} as const satisfies Record<string, Operation>;
