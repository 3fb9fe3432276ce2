/** The endpoints of sign-ins, for the widget and for programs with a scoped token. */
import { SignIn, SignInPath, SignInQuery, StartSignInRequest } from '@inlay/contract/oauth-flows';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { type Reauthenticate, watchEnds } from '../http/waiting-requests.ts';
import { confirmFlow } from './confirmation.ts';
import { awaitFlow, type FlowsContext, startFlow } from './flows.ts';

const about = { access: 'scoped', tag: 'Inside a workspace' } as const;
const path = '/api/v1/embedded/oauth/flows';

export function signInRoutes(app: FastifyInstance, ctx: FlowsContext, reauthenticate: Reauthenticate): void {
  const endOf = watchEnds(app);

  endpoint(app, {
    ...about,
    method: 'POST',
    url: path,
    summary: 'Start sign-in',
    description:
      'Begins a sign-in with the provider of a source template. Open `start_url` in a window of its own within ten minutes; then ask for the sign-in until it is `connected`.',
    body: StartSignInRequest,
    status: 201,
    answer: SignIn,
    errors: ['source_template_not_found', 'source_not_found', 'sign_in_not_possible', 'sign_in_needs_https'],
    handle: ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return startFlow(causedBy(ctx, cause), principal, body);
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/:flow_id`,
    summary: 'Get sign-in',
    description:
      'What became of a sign-in. With `wait` the answer comes as soon as its state is another one. Believe this answer alone, not whether a window was closed.',
    params: SignInPath,
    query: SignInQuery,
    answer: SignIn,
    errors: ['sign_in_not_found'],
    handle: async ({ principal, params, query: { wait = 0, known }, request, reply }) => {
      reply.header('cache-control', 'no-store');
      const waiting = { waitMs: wait * 1000, known, ended: endOf(reply) };
      const shown = await awaitFlow(ctx, principal, params.flow_id, waiting);
      // The token may have been revoked while the request waited.
      if (wait > 0) await reauthenticate(request);
      return shown;
    },
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${path}/:flow_id/confirm`,
    summary: 'Confirm another account',
    description:
      'Uses an `unconfirmed` sign-in: its source is connected with another account than before, and keeps its id, its state and its history.',
    params: SignInPath,
    answer: SignIn,
    errors: ['sign_in_not_found', 'sign_in_not_unconfirmed'],
    handle: ({ principal, params, cause }) => confirmFlow(causedBy(ctx, cause), principal, params.flow_id),
  });
}
