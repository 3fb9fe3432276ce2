/* Creates workspaces with sources and connections through a running service's API, and measures its latency meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkOptions } from './benchmark.ts';
import { type Figure, figureOf, timed } from './figures.ts';
import type { ServiceProcess } from './service-process.ts';

const integrations = '/api/v1/integrations';

/** A service as its operator and its customers see it. */
export function callerOf(service: ServiceProcess, { signal, minutes }: BenchmarkOptions) {
  const list = async <Item>(path: string) => (await service.request<{ data: Item[] }>('GET', path)).data;
  const at = (workspaceId: string, path: string) => `${integrations}/${path}?workspace_id=${workspaceId}`;
  /** Makes something, and gives its id. */
  const create = async (path: string, body: object) => (await service.request<{ id: string }>('POST', path, body)).id;
  const until = async (happened: () => Promise<boolean>) => {
    while (!(await happened())) await delay(20, undefined, { signal });
  };

  /** Asks again and again until the function is called, which gives the slowest answer. */
  function watchLive() {
    let isOver = false;
    let slowestMs = 0;
    const watching = (async () => {
      while (!isOver) {
        const { tookMs } = await timed(() => service.statusOf('GET', '/health/live'));
        slowestMs = Math.max(slowestMs, tookMs);
        await delay(10);
      }
    })();
    // The failure is thrown where the result is awaited.
    watching.catch(() => {});
    return async () => {
      isOver = true;
      await watching;
      return { tookMs: slowestMs };
    };
  }

  return {
    at,
    create,
    until,
    watchLive,
    sourceTemplate: (definition: string, name: string) =>
      create(`${integrations}/templates/sources`, { actor_definition_id: definition, name }),
    connectionTemplate: (definition: string, body: object) =>
      create(`${integrations}/templates/connections`, {
        ...{ destination_name: 'Somewhere', destination_definition_id: definition, cron_expression: null, ...body },
      }),
    async workspace(name: string): Promise<string> {
      await service.request('POST', '/api/v1/embedded/scoped-token', { workspace_name: name });
      return (await list<{ id: string }>(`/api/v1/workspaces?name_contains=${name}`))[0]?.id ?? '';
    },
    connect: (workspaceId: string, template: string, source_config: object) =>
      create(at(workspaceId, 'sources'), { source_template_id: template, source_config }),
    /** The connections of a workspace, once so many are active. */
    async connections(workspaceId: string, count: number): Promise<string[]> {
      let ids: string[] = [];
      await until(async () => {
        const all = await list<{ id: string; status: string }>(at(workspaceId, 'connections'));
        ids = all.filter(({ status }) => status === 'active').map(({ id }) => id);
        return ids.length === count;
      });
      return ids;
    },
    /** The newest job's status. */
    lastStatus: async (workspaceId: string, id: string) =>
      (await list<{ status: string }>(at(workspaceId, `connections/${id}/jobs`)))[0]?.status,
    /** The statuses of the answers to so many checks of a source. */
    async check(workspaceId: string, body: object, times: number, atOnce: number): Promise<number[]> {
      const statuses: number[] = [];
      const ask = () => service.statusOf('POST', at(workspaceId, 'sources/check'), body);
      while (statuses.length < times) statuses.push(...(await Promise.all(Array.from({ length: atOnce }, ask))));
      return statuses;
    },
    /** The slowest answer of a service that has nothing to do: what the machine itself takes. */
    async slowestWhenIdle() {
      const idle = watchLive();
      await delay(Math.min(minutes * 60_000, 5_000), undefined, { signal });
      return await idle();
    },
  };
}

/** @param work what runs meanwhile. */
export const liveFigure = (
  work: string,
  slowest: { tookMs: number },
  idle: { tookMs: number },
  note?: string,
): Figure =>
  figureOf(work, ['each', 'ms'], slowest, {
    than: ['the slowest of an idle service', idle],
    target: { of: 'value', atMost: 100 },
    ...(note && { note }),
  });
