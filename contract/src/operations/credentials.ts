/** Operations on credentials: for operators, and for customers about their own workspace. No answer holds a token. */
import {
  Credential,
  CredentialList,
  CredentialPath,
  ListCredentialsQuery,
  ListOwnCredentialsQuery,
  OwnCredential,
  OwnCredentialList,
} from '../credentials/credentials.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'OAuth clients' } as const;

export const credentials = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/credentials',
    summary: 'List credentials',
    description: 'Returns the credentials of customers, newest first, with account, scopes and state.',
    query: ListCredentialsQuery,
    answer: CredentialList,
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/credentials/{credential_id}',
    summary: 'Get credential',
    params: CredentialPath,
    answer: Credential,
    errors: ['credential_not_found'],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/credentials/{credential_id}',
    summary: 'Delete credential',
    description:
      'Deletes the credential and revokes it at the provider in the background, if possible (see `revocation`). Sources that use it need a new sign-in.',
    params: CredentialPath,
    answer: Credential,
    errors: ['credential_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const embeddedCredentials = {
  list: {
    route: 'GET /api/v1/embedded/credentials',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List own credentials',
    description:
      'Returns completed sign-ins that no source uses yet, newest first: those started by a link, without a popup, or with `offer_later`. Create the source with the `id` of one.',
    query: ListOwnCredentialsQuery,
    answer: OwnCredentialList,
  },
  get: {
    route: 'GET /api/v1/embedded/credentials/{credential_id}',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'Get own credential',
    description: 'Returns the account that the customer signed in with, and whether the customer has to sign in again.',
    params: CredentialPath,
    answer: OwnCredential,
    errors: ['credential_not_found'],
  },
} as const satisfies Record<string, Operation>;
