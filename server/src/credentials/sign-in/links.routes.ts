/** The endpoint with which operators make links for customers who sign in without a widget. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { FlowsContext } from './flows.ts';
import { createLink } from './links.ts';

export function signInLinkRoutes(app: FastifyInstance, ctx: FlowsContext): void {
  serve(app, operations.signInLinks, {
    create: ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return createLink(causedBy(ctx, cause), principal.organizationId, body);
    },
  });
}
