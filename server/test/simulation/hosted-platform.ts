/**
 * A hosted platform with every fault that a real one may have, behind a bad network: slow, unreliable, throttled,
 * unordered, not idempotent. It keeps every version of everything, so that a listing can be old, and it remembers who
 * did what, so that the oracle can judge.
 */
import type { PlatformAnswer, PlatformRequest, Transport } from '../../src/kernel/platform/transport.ts';
import { TransportError } from '../../src/kernel/platform/transport.ts';
import type { World } from './world.ts';

export interface Weather {
  /** The probability of each fault, per request. */
  refused: number;
  lostRequest: number;
  lostAnswer: number;
  lateApply: number;
  serverError: number;
  throttled: number;
  garbled: number;
  /** How old a listing may be. */
  listLagMs: number;
  /** How late a request may still be applied. */
  lateMs: number;
  slowMs: number;
  honorsNameFilter: boolean;
  offersInternalListing: boolean;
  shuffles: boolean;
}

interface Version {
  at: number;
  name: string;
  deleted: boolean;
}

export interface HostedWorkspace {
  id: string;
  organizationId: string;
  createdAt: number;
  /** Made by a create of the service, not by someone else. */
  ours: boolean;
  versions: Version[];
}

export interface HostedConnection {
  id: string;
  workspaceId: string;
  active: boolean;
}

export class HostedPlatform {
  readonly workspaces = new Map<string, HostedWorkspace>();
  readonly connections = new Map<string, HostedConnection>();
  /** Creates that reached the platform, by name. */
  readonly creates = new Map<string, number>();
  /** Ids that the service renamed or deleted. */
  readonly touched = new Set<string>();
  calm = false;

  constructor(
    private readonly world: World,
    readonly weather: Weather,
    private readonly say?: (line: string) => void,
  ) {}

  create(organizationId: string, name: string, ours: boolean): HostedWorkspace {
    const at = this.world.now;
    const workspace = {
      id: this.world.newId(),
      organizationId,
      createdAt: at,
      ours,
      versions: [{ at, name, deleted: false }],
    };
    this.workspaces.set(workspace.id, workspace);
    return workspace;
  }

  change(id: string, change: Partial<Version>): boolean {
    const workspace = this.workspaces.get(id);
    const last = workspace?.versions.at(-1);
    if (!workspace || !last || last.deleted) return false;
    workspace.versions.push({ ...last, ...change, at: this.world.now });
    if (change.deleted) {
      for (const connection of this.connections.values()) {
        if (connection.workspaceId === id) this.connections.delete(connection.id);
      }
    }
    return true;
  }

  live(): { id: string; name: string; organizationId: string; ours: boolean }[] {
    return this.#seenAt(this.world.now);
  }

  #seenAt(time: number) {
    const seen = [];
    for (const { id, organizationId, ours, versions } of this.workspaces.values()) {
      const version = versions.findLast(({ at }) => at <= time);
      if (version && !version.deleted) seen.push({ id, organizationId, ours, name: version.name });
    }
    return seen;
  }

  /** The network between one replica and the platform. `isDown`: that replica has crashed. */
  transport(check: () => void): Transport {
    return {
      close: async () => {},
      send: async (request) => {
        check();
        const answer = await this.#exchange(request);
        check();
        return answer;
      },
    };
  }

  async #exchange(request: PlatformRequest): Promise<PlatformAnswer> {
    const { world, weather } = this;
    const calm = this.calm || request.path.startsWith('/applications/');
    const happens = (probability: number) => !calm && world.chance(probability);
    const failed = (message: string, sent: boolean, timedOut = false) =>
      new TransportError(message, { sent, timedOut });

    await world.pause(world.between(1, calm ? 20 : weather.slowMs));
    if (happens(weather.refused)) throw failed('refused', false);
    if (happens(weather.throttled))
      return { status: 429, headers: world.chance(0.5) ? { 'retry-after': '1' } : {}, text: '{}' };
    if (happens(weather.lostRequest)) {
      await world.pause(world.between(1, request.timeoutMs));
      throw failed('reset before it was applied', true);
    }
    if (happens(weather.serverError)) {
      if (world.chance(0.5)) this.#apply(request);
      return { status: world.pick([500, 502, 503, 504]), headers: {}, text: '<html>' };
    }
    if (happens(weather.lateApply)) {
      // Applied after we have given up, at any time within the bound.
      world.at(world.between(request.timeoutMs, Math.max(request.timeoutMs, weather.lateMs)), () =>
        this.#apply(request),
      );
      await world.pause(request.timeoutMs);
      throw failed('timed out', true, true);
    }
    const answer = this.#apply(request);
    await world.pause(world.between(1, calm ? 20 : weather.slowMs));
    if (happens(weather.lostAnswer)) throw failed('reset after it was applied', true);
    if (happens(weather.garbled)) return { ...answer, text: '{"workspaceId": ' };
    return answer;
  }

  #apply({ method, path, body, api }: PlatformRequest): PlatformAnswer {
    if (api === 'internal') {
      return this.weather.offersInternalListing ? this.#listInternally(JSON.parse(body ?? '{}')) : answer(404, {});
    }
    if (method !== 'GET') this.say?.(`applied: ${method} ${path} ${body ?? ''}`);
    const url = new URL(path, 'http://platform');
    const [, resource, id = ''] = url.pathname.split('/');
    const input = body === undefined ? {} : JSON.parse(body);
    if (resource === 'applications') return answer(200, { access_token: 'token', expires_in: 86_400 });
    if (resource === 'organizations') {
      const ids = new Set([...this.workspaces.values()].map(({ organizationId }) => organizationId));
      return answer(200, { data: [...ids].map((organizationId) => ({ organizationId })) });
    }
    if (resource === 'connections') return this.#applyToConnections(method, id, url, input);
    if (method === 'GET') return this.#list(url);
    if (method === 'POST') {
      this.creates.set(input.name, (this.creates.get(input.name) ?? 0) + 1);
      const workspace = this.create(input.organizationId, input.name, true);
      return answer(200, { workspaceId: workspace.id, name: input.name });
    }
    this.touched.add(id);
    const done = method === 'DELETE' ? this.change(id, { deleted: true }) : this.change(id, { name: input.name });
    return done ? answer(method === 'DELETE' ? 204 : 200, {}) : answer(404, {});
  }

  #list(url: URL): PlatformAnswer {
    const name = url.searchParams.get('name');
    const isWanted = (item: { name: string }) =>
      name === null || !this.weather.honorsNameFilter || item.name.normalize('NFC') === name;
    const offset = Number(url.searchParams.get('offset'));
    return answer(200, { data: this.#page(isWanted, offset, Number(url.searchParams.get('limit'))) });
  }

  #listInternally(query: {
    organizationId: string;
    nameContains?: string;
    pagination: { pageSize: number; rowOffset: number };
  }): PlatformAnswer {
    const { organizationId, nameContains = '', pagination } = query;
    const isWanted = (item: { name: string; organizationId: string }) =>
      item.organizationId === organizationId && item.name.toLowerCase().includes(nameContains.toLowerCase());
    return answer(200, { workspaces: this.#page(isWanted, pagination.rowOffset, pagination.pageSize) });
  }

  #page(isWanted: (item: { name: string; organizationId: string }) => boolean, offset: number, limit: number) {
    const { world, weather } = this;
    const lag = this.calm ? 0 : world.between(0, weather.listLagMs);
    let items = this.#seenAt(world.now - lag).filter(isWanted);
    if (!this.calm && weather.shuffles) items = items.toSorted(() => world.random() - 0.5);
    return items
      .slice(offset, offset + limit)
      .map((item) => ({ workspaceId: item.id, name: item.name, organizationId: item.organizationId }));
  }

  #applyToConnections(method: string, id: string, url: URL, input: { status?: string }): PlatformAnswer {
    if (method === 'GET') {
      const workspaceId = url.searchParams.get('workspaceIds');
      const data = [...this.connections.values()]
        .filter((connection) => connection.workspaceId === workspaceId)
        .map((connection) => ({
          connectionId: connection.id,
          workspaceId,
          status: connection.active ? 'active' : 'inactive',
        }));
      return answer(200, { data });
    }
    const connection = this.connections.get(id);
    if (!connection) return answer(404, {});
    connection.active = input.status === 'active';
    return answer(200, {});
  }
}

function answer(status: number, body: object): PlatformAnswer {
  return { status, headers: {}, text: JSON.stringify(body) };
}
