/** The endpoints with which operators try out how customers sign in; `inlay oauth test` does the same. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { serve } from '../../kernel/http/endpoint.ts';
import { causedBy } from '../../log/events/journal.ts';
import { findOldestWorkspaceId } from '../../tenancy/workspaces/live-workspaces.ts';
import type { FlowsContext } from './flows.ts';
import { getTest, startTest } from './test-flows.ts';

export function oauthTestRoutes(app: FastifyInstance, ctx: FlowsContext): void {
  // The row of a flow belongs to a workspace, and any will do: a test changes nothing there.
  const placeOf = async (organizationId: string) => {
    const workspaceId = await findOldestWorkspaceId(ctx.store, organizationId);
    if (workspaceId === undefined) throw new AppError('workspace_not_found');
    return { organizationId, workspaceId };
  };

  serve(app, operations.oauthTests, {
    start: async ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const place = await placeOf(principal.organizationId);
      const started = await startTest(causedBy(ctx, cause), place, body.source_template_id, body.values ?? {});
      return { id: started.id, start_url: started.url };
    },

    get: async ({ principal, params, reply }) => {
      reply.header('cache-control', 'no-store');
      return await getTest(ctx, principal.organizationId, params.oauth_test_id);
    },
  });
}
