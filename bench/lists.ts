/*
 * Whether the lists over all workspaces stay fast: how long a page takes with many jobs and connections, compared with a
 * thousand jobs, on both databases. There are ten jobs to a connection, and a tenth of all fails. Pages lie so that they are
 * full however few there are.
 */
import { onBothDatabases } from './benchmark.ts';
import { organizationId } from './dataset.ts';
import { compareSizes, medianAnswer, numberText } from './figures.ts';
import * as product from './product.ts';

const jobsEach = 10;
const pages = 50;

export const lists = onBothDatabases('lists', (database, options) => {
  const many = options.workspaces;
  const pagesWith = async (jobs: number) => {
    const seeded = { jobs } as Seeded;
    const healthOf = (index: number) => (index % 10 === 0 ? 'failing' : 'healthy');
    const store = await database.open(`lists_${jobs}`, options, async (store) => {
      const size = { workspaces: Math.ceil(jobs / jobsEach), jobsEach };
      Object.assign(seeded, await product.seedPipelines(store, { organizationId, ...size, healthOf }));
    });
    const asked = Object.entries(pagesOf(store, seeded));
    return Object.fromEntries(asked.map(([name, ask]) => [name, () => medianAnswer(pages, ask)]));
  };
  const describe = (name: string) => `${name} with ${numberText(many)} jobs, median page`;
  return compareSizes([Math.min(1_000, many / 2), many], pagesWith, describe, { atMost: 1.3 }, options);
});

export type Seeded = Awaited<ReturnType<typeof product.seedPipelines>> & { jobs: number };

/** Ways to ask for a page of each list. */
export function listsOf(store: product.Store) {
  // What a page needs: the store, the clock, and how templates are shown.
  const templates = { store, publicUrl: 'http://localhost' };
  const ctx = {
    store,
    workspaces: { store },
    runtime: product.systemRuntime,
    templates,
  } as unknown as product.PipelinesContext;
  const list =
    (ask: (ctx: product.PipelinesContext, organizationId: string, query: object) => Promise<unknown>, usual: object) =>
    (query: object = {}) =>
    () =>
      ask(ctx, organizationId, { ...usual, ...query });
  return {
    ctx,
    workspaces: (usual: object) => list(product.listAllWorkspaces, usual),
    connections: (usual: object) => list(product.listAllConnections, usual),
    sources: (usual: object) => list(product.listAllSources, usual),
    jobs: (usual: object) => list(product.listAllJobs, usual),
  };
}

export function pagesOf(store: product.Store, seeded: Seeded): Record<string, () => Promise<unknown>> {
  const { sourceTemplateId, connectionTemplateId, definitionId } = seeded;
  const lately = Date.UTC(2026, 0, 1) + (seeded.jobs / jobsEach) * 900;
  const id = '00000000-0000-4000-8000-000000000000';
  const cursorAt = (time: number) => product.encodePosition({ time, id });
  const lists = listsOf(store);
  const newestFirst = { sort: '-created_at', cursor: cursorAt(lately), limit: 5 };
  const connections = lists.connections(newestFirst);
  const sources = lists.sources(newestFirst);
  const jobs = lists.jobs({ cursor: cursorAt(lately + (jobsEach - 1) * 60_000) });
  const workspaces = lists.workspaces({
    cursor: product.encodePlace({ order: 'created_at', key: lately, id }),
    limit: 5,
  });
  const onlyOne = { workspace_id: seeded.seeded.at(-1)?.workspaceId, cursor: undefined };
  const since = { created_after: '2026-01-01T00:00:00Z' };
  return {
    connections: connections(),
    'connections, oldest first': connections({ sort: 'created_at' }),
    'connections of a workspace': connections(onlyOne),
    'connections of a source template': connections({ source_template_id: sourceTemplateId }),
    'connections of a connection template': connections({ connection_template_id: connectionTemplateId }),
    'connections of a definition': connections({ definition_id: definitionId }),
    'connections, health=failing': connections({ health: 'failing' }),
    'connections, health=failing of a template': connections({
      health: 'failing',
      source_template_id: sourceTemplateId,
    }),
    'connections, health=paused, none': connections({ health: 'paused' }),
    'connections, status=active': connections({ status: 'active' }),
    'connections, status=failed, none': connections({ status: 'failed' }),
    'connections, created_after': connections(since),
    sources: sources(),
    'sources of a workspace': sources(onlyOne),
    'sources of a template': sources({ source_template_id: sourceTemplateId }),
    'sources of a definition': sources({ definition_id: definitionId }),
    'sources, health=failing': sources({ health: 'failing' }),
    'sources, health=paused, none': sources({ health: 'paused' }),
    'sources, created_after': sources(since),
    jobs: jobs(),
    'jobs, status=failed': jobs({ status: 'failed' }),
    'jobs, failing=true': jobs({ failing: 'true' }),
    'jobs, status=failed of a day': jobs({ status: 'failed', started_after: '2026-01-01T00:00:00Z' }),
    'jobs of a template': jobs({ source_template_id: sourceTemplateId }),
    'jobs, status=running, none': jobs({ status: 'running' }),
    workspaces: workspaces(),
    'workspaces, health=failing': workspaces({ health: 'failing' }),
    'workspaces, health=paused, none': workspaces({ health: 'paused' }),
    overview: () => product.readOverview(store, organizationId, { unwell: 20 }),
  };
}
