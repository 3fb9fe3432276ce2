/** Operations that start sign-ins: in the widget, by a link, and as a test. */
import {
  CreateSignInLinkRequest,
  SignIn,
  SignInLink,
  SignInPath,
  SignInQuery,
  StartSignInRequest,
} from '../credentials/oauth-flows.ts';
import { OAuthTest, OAuthTestPath, StartedOAuthTest, StartOAuthTestRequest } from '../credentials/oauth-tests.ts';
import type { Operation } from './operation.ts';

const aboutScoped = { access: 'scoped', tag: 'Inside a workspace' } as const;
const aboutOperator = { access: 'operator', tag: 'OAuth clients' } as const;

export const signIns = {
  start: {
    ...aboutScoped,
    route: 'POST /api/v1/embedded/oauth/flows',
    summary: 'Start sign-in',
    description:
      'Starts a sign-in with the provider of a source template. Open `start_url` in a new window within ten minutes, then poll the sign-in until it is `connected`.',
    body: StartSignInRequest,
    status: 201,
    answer: SignIn,
    errors: ['source_template_not_found', 'source_not_found', 'sign_in_not_possible', 'sign_in_needs_https'],
  },
  get: {
    ...aboutScoped,
    route: 'GET /api/v1/embedded/oauth/flows/{flow_id}',
    summary: 'Get sign-in',
    description:
      'Returns the state of a sign-in. With `wait`, the request is held until the state changes (long polling). Rely on this response, not on whether a window was closed.',
    params: SignInPath,
    query: SignInQuery,
    answer: SignIn,
    errors: ['sign_in_not_found'],
  },
  confirm: {
    ...aboutScoped,
    route: 'POST /api/v1/embedded/oauth/flows/{flow_id}/confirm',
    summary: 'Confirm a different account',
    description:
      'Confirms an `unconfirmed` sign-in. The source switches to the new account and keeps its ID, state and history.',
    params: SignInPath,
    answer: SignIn,
    errors: ['sign_in_not_found', 'sign_in_not_unconfirmed'],
  },
} as const satisfies Record<string, Operation>;

export const signInLinks = {
  create: {
    ...aboutOperator,
    route: 'POST /api/v1/integrations/oauth/links',
    summary: 'Create sign-in link',
    description:
      'Creates a link to send to a customer. The link opens a confirmation page, then the provider. Afterwards, the source is created or reconnected. A link works for one connection.',
    body: CreateSignInLinkRequest,
    status: 201,
    answer: SignInLink,
    errors: [
      'workspace_not_found',
      'workspace_being_deleted',
      'source_template_not_found',
      'source_not_found',
      'sign_in_not_possible',
      'sign_in_needs_https',
    ],
  },
} as const satisfies Record<string, Operation>;

export const oauthTests = {
  start: {
    ...aboutOperator,
    route: 'POST /api/v1/integrations/oauth/tests',
    summary: 'Start test of a sign-in',
    description:
      'Starts a sign-in as a customer would see it. Open `start_url` in a new window within ten minutes, then poll the test. The tokens are inspected and discarded, and nothing is connected. Requires at least one workspace.',
    body: StartOAuthTestRequest,
    status: 201,
    answer: StartedOAuthTest,
    errors: ['workspace_not_found', 'source_template_not_found', 'sign_in_not_possible', 'sign_in_needs_https'],
  },
  get: {
    ...aboutOperator,
    route: 'GET /api/v1/integrations/oauth/tests/{oauth_test_id}',
    summary: 'Get test of a sign-in',
    description: 'Returns the result of the test: account, granted scopes and token lifetime, but no tokens.',
    params: OAuthTestPath,
    answer: OAuthTest,
    errors: ['sign_in_not_found'],
  },
} as const satisfies Record<string, Operation>;
