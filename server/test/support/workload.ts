/** The work that clients give a service, one piece of each kind at a time, and what must be true after a crash. */
import { expect } from 'vitest';
import { pageOverlap, pageSize } from '../../src/kernel/platform/paging.ts';
import {
  byId,
  call,
  type HostedPlatform,
  listWorkspaces,
  type Reply,
  requestToken,
  workspaceOf,
} from './deployment.ts';
import type { ProxiedRequest } from './platform-proxy.ts';
import type { Service } from './service.ts';

export type WorkKind = 'create' | 'rename' | 'deactivate' | 'activate' | 'delete' | 'sync';

export interface Work {
  readonly kind: WorkKind;
  /** The name when all is done. */
  readonly name: string;
  readonly id: string | undefined;
  readonly connections: string[];
  /** The work never reached the disk, and the client did not ask again. */
  isLost: boolean;
  send(): Promise<Reply>;
  /** Whether a request to the platform is part of this work. */
  owns(request: ProxiedRequest): boolean;
}

const connectionsPerWorkspace = 2;

export class Workload {
  readonly all: Work[] = [];

  constructor(
    private readonly platform: HostedPlatform,
    /** The work that runs at the time. */
    private readonly service: () => Service,
  ) {}

  /** Makes workspaces that only a sync finds: enough for this number of pages of the platform's list. */
  async fillPlatform(pages: number): Promise<void> {
    const length = (pages - 1) * (pageSize - pageOverlap) + pageOverlap + 1;
    const names = Array.from({ length }, (_, i) => `made elsewhere ${i}`);
    await Promise.all(names.map((name) => this.makeElsewhere(name)));
  }

  async makeElsewhere(name: string): Promise<string> {
    const { INLAY_ORGANIZATION_ID: organizationId } = this.platform.env;
    return (await this.platform.request('POST', '/workspaces', { name, organizationId })).body.workspaceId;
  }

  async prepare(kind: WorkKind): Promise<Work> {
    const work = await this.#prepare(kind, `${kind} ${this.all.length}`);
    this.all.push(work);
    return work;
  }

  async #prepare(kind: WorkKind, name: string): Promise<Work> {
    const blank = { kind, name, id: undefined, connections: [], isLost: false };
    if (kind === 'create') {
      const search = new URLSearchParams({ name }).toString();
      return {
        ...blank,
        send: () => requestToken(this.service(), name),
        owns: ({ path, body }) => path.includes(`${search}&`) || body.includes(`"${name}"`),
      };
    }
    if (kind === 'sync') {
      return {
        ...blank,
        send: () => call(this.service(), 'POST', '/api/v1/workspaces/sync'),
        owns: ({ method, path }) => method === 'GET' && path.startsWith('/workspaces?') && !path.includes('name='),
      };
    }
    const { status, body } = await requestToken(this.service(), kind === 'rename' ? `${name} before` : name);
    expect(status).toBe(200);
    const id = workspaceOf(body.token);
    const path = `/api/v1/workspaces/${id}`;
    const change = (wanted: object) => call(this.service(), 'PUT', path, wanted);
    const concernsStatus = kind === 'deactivate' || kind === 'activate';
    const connections = concernsStatus ? await this.platform.makeConnections(id, connectionsPerWorkspace) : [];
    if (kind === 'activate') expect((await change({ status: 'inactive' })).status).toBe(200);
    const send = {
      rename: () => change({ name }),
      deactivate: () => change({ status: 'inactive' }),
      activate: () => change({ status: 'active' }),
      delete: () => call(this.service(), 'DELETE', path),
    }[kind];
    const owns = (request: ProxiedRequest) => [id, ...connections].some((part) => request.path.includes(part));
    return { ...blank, id, connections, send, owns };
  }

  /** Asks once more, like a client that got no answer. */
  async retry(work: Work): Promise<void> {
    const { status } = await work.send();
    // By now the reconciler may have finished a deletion: then there is nothing left to delete.
    expect([work.name, status]).toEqual([work.name, work.kind === 'delete' && status === 404 ? 404 : 200]);
  }

  /** Both sides hold the same, no name twice, and every change that was recorded has been completed. */
  async expectBothSidesAgree(): Promise<void> {
    const [here, there] = await Promise.all([listWorkspaces(this.service()), this.platform.workspaces()]);
    expect(byId(here)).toEqual(byId(there));
    const names = there.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const found = new Map(here.map((workspace) => [workspace.id, [workspace.name, workspace.status]]));
    for (const work of this.all) {
      if (work.id === undefined) continue;
      const expected = stateOf(work);
      expect([work.name, found.get(work.id)]).toEqual([work.name, expected]);
      for (const connection of work.connections) {
        const { status } = (await this.platform.request('GET', `/connections/${connection}`)).body;
        expect([work.name, status]).toEqual([work.name, expected?.[1]]);
      }
    }
  }

  /** Checks that a token request works for every name and finds one workspace, even if the first request was lost. */
  async expectEveryNameToWork(): Promise<void> {
    for (const work of this.all) {
      const { kind, name, isLost } = work;
      if (kind === 'sync' || (kind === 'rename' && isLost)) continue;
      expect([name, (await requestToken(this.service(), name)).status]).toEqual([name, 200]);
      const expected = kind === 'delete' && !isLost ? 2 : kind === 'rename' ? 0 : 1;
      expect([name, this.platform.proxy.createsApplied(name)]).toEqual([name, expected]);
    }
    const names = (await this.platform.workspaces()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  }
}

/** Name and status of the workspace when the work is done, or when it was lost; nothing if it is gone. */
function stateOf({ kind, name, isLost }: Work): [string, string] | undefined {
  if (isLost) return [kind === 'rename' ? `${name} before` : name, kind === 'activate' ? 'inactive' : 'active'];
  if (kind === 'delete') return undefined;
  return [name, kind === 'deactivate' ? 'inactive' : 'active'];
}
