/** The endpoints with which operators try out how customers sign in; `inlay oauth test` does the same. */
import { OAuthTest, OAuthTestPath, StartedOAuthTest, StartOAuthTestRequest } from '@inlay/contract/oauth-tests';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import type { FlowsContext } from './flows.ts';
import { getTest, startTest } from './test-flows.ts';

const about = { access: 'operator', tag: 'OAuth clients' } as const;
const path = '/api/v1/integrations/oauth/tests';

/** The row of a sign-in belongs to a workspace, and any will do: a test changes nothing there. */
type FindWorkspace = (organizationId: string) => Promise<string | undefined>;

export function oauthTestRoutes(app: FastifyInstance, ctx: FlowsContext, findWorkspace: FindWorkspace): void {
  const placeOf = async (organizationId: string) => {
    const workspaceId = await findWorkspace(organizationId);
    if (workspaceId === undefined) throw new AppError('workspace_not_found');
    return { organizationId, workspaceId };
  };

  endpoint(app, {
    ...about,
    method: 'POST',
    url: path,
    summary: 'Start test of a sign-in',
    description:
      'Begins a sign-in as a customer would. Open `start_url` in a window of its own within ten minutes; then ask for the test. The tokens are looked at and thrown away: nothing is connected. There has to be a workspace.',
    body: StartOAuthTestRequest,
    status: 201,
    answer: StartedOAuthTest,
    errors: ['workspace_not_found', 'source_template_not_found', 'sign_in_not_possible', 'sign_in_needs_https'],
    handle: async ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const place = await placeOf(principal.organizationId);
      const started = await startTest(causedBy(ctx, cause), place, body.source_template_id, body.values ?? {});
      return { id: started.id, start_url: started.url };
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/:oauth_test_id`,
    summary: 'Get test of a sign-in',
    description: 'What came back: the account, what was granted, how long the tokens live. No token is told.',
    params: OAuthTestPath,
    answer: OAuthTest,
    errors: ['sign_in_not_found'],
    handle: async ({ principal, params, reply }) => {
      reply.header('cache-control', 'no-store');
      return await getTest(ctx, principal.organizationId, params.oauth_test_id);
    },
  });
}
