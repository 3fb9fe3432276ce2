/**
 * The one platform client: it translates what the service wants into the hosted platform's public API. The platform's
 * own error messages go to the log, never to a caller.
 */
import { setMaxListeners } from 'node:events';
import { type CallOptions, createCalls, readable } from './calls.ts';
import { createPipelinesClient, unlessGone } from './pipelines-client.ts';
import { type NewPlatformWorkspace, oldestFirst, PlatformError, type PlatformPort } from './platform-port.ts';
import { createWorkersClient } from './workers-client.ts';
import { WorkspaceListing } from './workspace-listing.ts';

export function createPlatformClient(options: Omit<CallOptions, 'endingQuestions'>): PlatformPort {
  const ending = new AbortController();
  // As many listen as calls are under way.
  setMaxListeners(0, ending.signal);
  const call = createCalls({ ...options, endingQuestions: ending.signal });
  const listing = new WorkspaceListing(call, options.runtime);

  return {
    ...createPipelinesClient(call, options.runtime, ending.signal),
    ...createWorkersClient(call, options.runtime),
    findWorkspacesByName: async (organizationId, name) => oldestFirst(await listing.find(organizationId, name)),
    listWorkspaces: (organizationId) => listing.all('list_workspaces', organizationId),
    async createWorkspace({ organizationId, name, regionId }: NewPlatformWorkspace) {
      const answer = await call('create_workspace', 'create', {
        method: 'POST',
        path: '/workspaces',
        body: { name, organizationId, regionId },
      });
      const { workspaceId } = readable(answer, 'unknown') as { workspaceId?: unknown };
      if (typeof workspaceId !== 'string') throw new PlatformError('unknown', 'created, but the response has no id');
      return { id: workspaceId.toLowerCase(), name };
    },
    async renameWorkspace(id, name) {
      return await call('rename_workspace', 'write', { method: 'PATCH', path: `/workspaces/${id}`, body: { name } });
    },
    async limitSyncs(id, limit) {
      const request = { method: 'PUT', path: `/workspaces/${id}/limits`, body: { maxConcurrentSyncs: limit } } as const;
      try {
        return { ...(await call('limit_syncs', 'write', request)), isKept: limit !== null };
      } catch (error) {
        if (!(error instanceof PlatformError) || !error.settled) throw error;
        // Some platforms answer an unknown request as a forbidden one. Credentials that are refused fail here again.
        if (error.failure === 'unauthorised') await listing.organizations();
        else if (error.failure !== 'not_found' && error.failure !== 'rejected') throw error;
        return { settled: true, isKept: false };
      }
    },
    async deleteWorkspace(id) {
      await unlessGone(call('delete_workspace', 'write', { method: 'DELETE', path: `/workspaces/${id}` }));
    },
    listOrganizations: () => listing.organizations(),
    traits: (organizationId) => listing.traits(organizationId),
    endQuestions: () => ending.abort(),
    close: () => options.transport.close(),
  };
}
