/** The endpoints of sign-ins, for the widget and for programs with a scoped token. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { type Reauthenticate, watchEnds } from '../../kernel/http/waiting-requests.ts';
import { causedBy } from '../../log/events/journal.ts';
import { awaitFlow, type FlowsContext, startFlow } from './flows.ts';
import { confirmFlow } from './sign-in.ts';

export function signInRoutes(app: FastifyInstance, ctx: FlowsContext, reauthenticate: Reauthenticate): void {
  const endOf = watchEnds(app);

  serve(app, operations.signIns, {
    start: ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return startFlow(causedBy(ctx, cause), principal, body);
    },

    get: async ({ principal, params, query: { wait = 0, known }, request, reply }) => {
      reply.header('cache-control', 'no-store');
      const waiting = { waitMs: wait * 1000, known, ended: endOf(reply) };
      const shown = await awaitFlow(ctx, principal, params.flow_id, waiting);
      // The token may have been revoked while the request waited.
      if (wait > 0) await reauthenticate(request);
      return shown;
    },

    confirm: ({ principal, params, cause }) => confirmFlow(causedBy(ctx, cause), principal, params.flow_id),
  });
}
