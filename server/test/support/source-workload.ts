/** Sources that clients connect, change and disconnect, each in its own workspace, and what must be true about them. */
import { expect } from 'vitest';
import { call, type HostedPlatform, type Reply, requestToken, workspaceOf } from './deployment.ts';
import { localFiles, sampleData } from './pipelines.ts';
import type { ProxiedRequest } from './platform-proxy.ts';
import type { Service } from './service.ts';

export const sourceWorkKinds = ['connect', 'reconfigure', 'disconnect'] as const;
export type SourceWorkKind = (typeof sourceWorkKinds)[number];

export interface SourceWork {
  readonly kind: SourceWorkKind;
  readonly workspaceId: string;
  /** Known beforehand, unless the source is still to be connected. */
  sourceId: string | undefined;
  send(): Promise<Reply>;
}

/** What a platform has, asked directly. */
export type AskPlatform = (path: string) => Promise<Reply>;

export class SourceWorkload {
  readonly all: SourceWork[] = [];
  #templateId = '';

  constructor(
    private readonly ask: AskPlatform,
    /** The work that runs at the time. */
    private readonly service: () => Service,
  ) {}

  async makeTemplates(): Promise<void> {
    const templates = '/api/v1/integrations/templates';
    const source = await call(this.service(), 'POST', `${templates}/sources`, {
      actor_definition_id: sampleData,
      name: 'Sample',
      partial_default_config: { seed: 7 },
    });
    const connection = await call(this.service(), 'POST', `${templates}/connections`, {
      destination_name: 'Files',
      destination_definition_id: localFiles,
      destination_config: { path: 'out' },
      skip_check: true,
      cron_expression: null,
      sync_on_create: true,
    });
    expect([source.status, connection.status]).toEqual([201, 201]);
    this.#templateId = source.body.id;
  }

  async prepare(kind: SourceWorkKind): Promise<SourceWork> {
    const { body } = await requestToken(this.service(), `${kind} ${this.all.length}`);
    const workspaceId = workspaceOf(body.token);
    const path = (rest = '') => `/api/v1/integrations/sources${rest}?workspace_id=${workspaceId}`;
    const connect = () =>
      call(this.service(), 'POST', path(), { source_template_id: this.#templateId, source_config: { count: 1 } });
    const work: SourceWork = { kind, workspaceId, sourceId: undefined, send: connect };
    this.all.push(work);
    if (kind === 'connect') return work;
    const created = await connect();
    expect(created.status).toBe(201);
    work.sourceId = created.body.id;
    const one = path(`/${work.sourceId}`);
    work.send =
      kind === 'reconfigure'
        ? () => call(this.service(), 'PUT', one, { source_config: { count: 2 } })
        : () => call(this.service(), 'DELETE', one);
    return work;
  }

  /**
   * Checks that exactly the wanted things exist: nothing twice, nothing missing, nothing pending, nothing left over.
   */
  async expectConverged(work: SourceWork): Promise<void> {
    const { kind, workspaceId } = work;
    const list = async (what: string) => (await this.ask(`/${what}?workspaceIds=${workspaceId}`)).body.data;
    const [sources, connections] = [await list('sources'), await list('connections')];
    const path = `/api/v1/integrations/sources?workspace_id=${workspaceId}`;
    const here = (await call(this.service(), 'GET', path)).body.data;
    const isGone = kind === 'disconnect' || here.length === 0;
    const expected = isGone ? 0 : 1;
    expect([kind, here.length, sources.length, connections.length]).toEqual([kind, expected, expected, expected]);
    if (isGone) return;
    expect(here[0]).toMatchObject({ status: 'ready', status_message: null });
    expect(await list('destinations')).toHaveLength(1);
    expect(sources[0].configuration).toEqual({ seed: 7, count: kind === 'reconfigure' ? 2 : 1 });
    const jobs = (await this.ask(`/jobs?connectionId=${connections[0].connectionId}`)).body.data;
    expect(jobs, 'the first sync, once').toHaveLength(1);
  }
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Finds the workspace in which a request of the service to the platform acts. */
export function createOwnership(platform: HostedPlatform) {
  const workspaces = new Map<string, string>();

  async function lookUp(id: string): Promise<string | undefined> {
    for (const kind of ['sources', 'destinations', 'connections']) {
      const reply = await platform.request('GET', `/${kind}/${id}`).catch(() => undefined);
      if (reply) return reply.body.workspaceId;
    }
    return undefined;
  }

  return async function workspaceOfRequest({ path, body }: ProxiedRequest): Promise<string | undefined> {
    const named = /workspaceIds?["=:]+([0-9a-f-]{36})/.exec(`${path} ${body}`)?.[1];
    if (named) return named;
    for (const [id] of `${path} ${body}`.matchAll(uuid)) {
      const known = workspaces.get(id) ?? (await lookUp(id));
      if (known === undefined) continue;
      workspaces.set(id, known);
      return known;
    }
    return undefined;
  };
}
