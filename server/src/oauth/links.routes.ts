/** The endpoint with which operators make links for customers who sign in without a widget. */
import { CreateSignInLinkRequest, SignInLink } from '@inlay/contract/oauth-flows';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import type { FlowsContext } from './flows.ts';
import { createLink } from './links.ts';

export function signInLinkRoutes(app: FastifyInstance, ctx: FlowsContext): void {
  endpoint(app, {
    method: 'POST',
    url: '/api/v1/integrations/oauth/links',
    access: 'operator',
    tag: 'OAuth clients',
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
    handle: ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return createLink(causedBy(ctx, cause), principal.organizationId, body);
    },
  });
}
