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
      'Begins a sign-in with the provider of a source template. Open `start_url` in a window of its own within ten minutes; then ask for the sign-in until it is `connected`.',
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
      'What became of a sign-in. With `wait` the answer comes as soon as its state is another one. Believe this answer alone, not whether a window was closed.',
    params: SignInPath,
    query: SignInQuery,
    answer: SignIn,
    errors: ['sign_in_not_found'],
  },
  confirm: {
    ...aboutScoped,
    route: 'POST /api/v1/embedded/oauth/flows/{flow_id}/confirm',
    summary: 'Confirm another account',
    description:
      'Uses an `unconfirmed` sign-in: its source is connected with another account than before, and keeps its id, its state and its history.',
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
      'A link that you send to a customer. It leads to a page that asks, and then to the provider. Afterwards the source is made, or connected again. It connects once.',
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
      'Begins a sign-in as a customer would. Open `start_url` in a window of its own within ten minutes; then ask for the test. The tokens are looked at and thrown away: nothing is connected. There has to be a workspace.',
    body: StartOAuthTestRequest,
    status: 201,
    answer: StartedOAuthTest,
    errors: ['workspace_not_found', 'source_template_not_found', 'sign_in_not_possible', 'sign_in_needs_https'],
  },
  get: {
    ...aboutOperator,
    route: 'GET /api/v1/integrations/oauth/tests/{oauth_test_id}',
    summary: 'Get test of a sign-in',
    description: 'What came back: the account, what was granted, how long the tokens live. No token is told.',
    params: OAuthTestPath,
    answer: OAuthTest,
    errors: ['sign_in_not_found'],
  },
} as const satisfies Record<string, Operation>;
