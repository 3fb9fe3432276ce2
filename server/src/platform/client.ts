/**
 * The one platform client: what the service wants of the platform, in the words of the hosted platform's public API. The
 * platform's own words go to the log, never to a caller.
 */
import { type CallOptions, createCalls, readable } from './calls.ts';
import { pageSize, readPages } from './paging.ts';
import {
  type NewPlatformWorkspace,
  oldestFirst,
  type Platform,
  type PlatformConnection,
  PlatformError,
  type Written,
} from './platform.ts';
import { WorkspaceListing } from './workspace-listing.ts';

export function createPlatformClient(options: CallOptions): Platform {
  const call = createCalls(options);
  const listing = new WorkspaceListing(call, options.runtime);

  async function connectionPage(workspaceId: string, offset: number): Promise<ConnectionItem[]> {
    const query = new URLSearchParams({ workspaceIds: workspaceId, limit: String(pageSize), offset: String(offset) });
    const answer = await call('list_connections', 'read', { method: 'GET', path: `/connections?${query}` });
    const { data } = readable(answer) as { data?: unknown };
    if (!Array.isArray(data)) throw new PlatformError('unavailable', 'the platform sent no list');
    return data;
  }

  return {
    findWorkspacesByName: async (organizationId, name) => oldestFirst(await listing.find(organizationId, name)),
    listWorkspaces: (organizationId) => listing.all('list_workspaces', organizationId),
    async createWorkspace({ organizationId, name, regionId }: NewPlatformWorkspace) {
      const answer = await call('create_workspace', 'create', {
        method: 'POST',
        path: '/workspaces',
        body: { name, organizationId, regionId },
      });
      const { workspaceId } = readable(answer, 'unknown') as { workspaceId?: unknown };
      if (typeof workspaceId !== 'string') throw new PlatformError('unknown', 'created, but the answer has no id');
      return { id: workspaceId.toLowerCase(), name };
    },
    async renameWorkspace(id, name) {
      return await call('rename_workspace', 'write', { method: 'PATCH', path: `/workspaces/${id}`, body: { name } });
    },
    async deleteWorkspace(id) {
      await unlessGone(call('delete_workspace', 'write', { method: 'DELETE', path: `/workspaces/${id}` }));
    },
    async listConnections(workspaceId) {
      const connections = new Map<string, PlatformConnection>();
      for await (const items of readPages((offset) => connectionPage(workspaceId, offset))) {
        for (const item of items) {
          if (typeof item?.connectionId !== 'string' || item.workspaceId !== workspaceId) continue;
          connections.set(item.connectionId, { id: item.connectionId, status: String(item.status) });
        }
      }
      return [...connections.values()];
    },
    async setConnectionStatus(connectionId, status) {
      const path = `/connections/${connectionId}`;
      return await unlessGone(call('set_connection_status', 'write', { method: 'PATCH', path, body: { status } }));
    },
    listOrganizations: () => listing.organizations(),
    traits: (organizationId) => listing.traits(organizationId),
    close: () => options.transport.close(),
  };
}

interface ConnectionItem {
  connectionId?: unknown;
  workspaceId?: unknown;
  status?: unknown;
}

/** What is gone needs no change, and nothing can still change it. */
async function unlessGone(work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return { settled: true };
    throw error;
  }
}
