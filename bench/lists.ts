/*
 * Whether the lists over all workspaces stay fast: how long a page takes with many jobs and connections, compared with a
 * thousand jobs, on both databases. There are ten jobs to a connection, and a tenth of all fails. Pages lie so that they are
 * full however few there are.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { createOrganization } from '../server/src/organizations/organizations.ts';
import type { PipelinesContext } from '../server/src/pipelines/context.ts';
import { encodePlace, encodePosition } from '../server/src/pipelines/list-cursor.ts';
import { listAllConnections, listAllJobs, listAllSources } from '../server/src/pipelines/lists.ts';
import { readOverview } from '../server/src/pipelines/overview.ts';
import { listAllWorkspaces } from '../server/src/pipelines/workspace-list.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns, medianMs } from './benchmark.ts';

const few = 1_000;
const jobsEach = 10;
const pages = 50;
const atMost = 1.3;

export const benchmark: Benchmark = {
  name: 'lists',

  async run(options) {
    const figures = await measure('SQLite', options, (rows) =>
      openSqlite({ file: join(options.folder, `lists-${rows}.db`), now: Date.now }),
    );
    const postgres = await options.databases.postgres();
    if (!postgres) return figures;
    const urls = new Map<number, string>();
    for (const rows of sizesOf(options)) urls.set(rows, await postgres.makeEmpty(`lists_${rows}`));
    const open = (rows: number) =>
      openPostgres({ url: urls.get(rows) ?? '', maxConnections: 2, onIdleError: () => {} });
    return [...figures, ...(await measure('PostgreSQL', options, open))];
  },
};

const sizesOf = ({ workspaces }: BenchmarkOptions) => [Math.min(few, workspaces / 2), workspaces] as const;

interface Seeded {
  store: Store;
  organizationId: string;
  rows: number;
  templateId: string;
  connectionTemplateId: string;
  definitionId: string;
  /** Of the workspace that a page of one workspace shows. */
  workspaceId: string;
}

async function measure(database: string, options: BenchmarkOptions, open: (rows: number) => Store): Promise<Figure[]> {
  const [small, large] = await Promise.all(sizesOf(options).map((rows) => seed(open(rows), rows)));
  if (!small || !large) return [];
  const turns: Record<string, () => Promise<number>> = {};
  for (const name of Object.keys(listsOf(small))) {
    for (const size of [small, large])
      turns[`${name} ${size.rows}`] = () => medianMs(pages, async () => listsOf(size)[name]?.());
  }
  try {
    const took = await measureInTurns(turns, options.rounds, (ms) => ms);
    const count = (rows: number) => rows.toLocaleString('en');
    return Object.keys(listsOf(small)).map((name) => {
      const [ofMany, ofFew] = [took[`${name} ${large.rows}`] ?? 0, took[`${name} ${small.rows}`] ?? 0];
      return {
        work: `${database}: ${name} with ${count(large.rows)} jobs, median page`,
        value: ofMany,
        unit: 'ms',
        reference: { name: `with ${count(small.rows)}`, value: ofFew },
        ratio: ofMany / ofFew,
        target: { of: 'ratio', atMost },
      };
    });
  } finally {
    await small.store.close();
    await large.store.close();
  }
}

async function seed(store: Store, rows: number): Promise<Seeded> {
  await migrate(store);
  const { id: organizationId } = await createOrganization(store, systemRuntime, { name: 'Bench' });
  const definitionId = randomUUID();
  const made = await seedPipelines(store, {
    organizationId,
    definitionId,
    workspaces: Math.ceil(rows / jobsEach),
    jobsEach,
    healthOf: (index) => (index % 10 === 0 ? 'failing' : 'healthy'),
  });
  if (store.kind === 'postgres') await sql`analyze`.execute(store.db);
  const { sourceTemplateId: templateId, connectionTemplateId } = made;
  const workspaceId = made.seeded.at(-1)?.workspaceId ?? '';
  return { store, organizationId, rows, templateId, connectionTemplateId, definitionId, workspaceId };
}

function listsOf(seeded: Seeded): Record<string, () => Promise<unknown>> {
  const { store, organizationId, rows, templateId, connectionTemplateId, definitionId, workspaceId } = seeded;
  // What a page needs: the store, the clock, and how templates are shown.
  const templates = { store, publicUrl: 'http://localhost' };
  const ctx = { store, workspaces: { store }, runtime: systemRuntime, templates } as unknown as PipelinesContext;
  const lately = Date.UTC(2026, 0, 1) + (rows / jobsEach) * 900;
  const cursorAt = (time: number) => encodePosition({ time, id: '00000000-0000-4000-8000-000000000000' });
  const placeAt = (key: number) =>
    encodePlace({ order: 'created_at', key, id: '00000000-0000-4000-8000-000000000000' });
  const jobs = (query: object) => () =>
    listAllJobs(ctx, organizationId, { cursor: cursorAt(lately + (jobsEach - 1) * 60_000), ...query });
  const workspaces = (query: object) => () =>
    listAllWorkspaces(ctx, organizationId, { cursor: placeAt(lately), limit: 5, ...query });
  const newestFirst = { sort: '-created_at', cursor: cursorAt(lately), limit: 5 } as const;
  const connections = (query: object) => () => listAllConnections(ctx, organizationId, { ...newestFirst, ...query });
  const sources = (query: object) => () => listAllSources(ctx, organizationId, { ...newestFirst, ...query });
  const onlyOne = { workspace_id: workspaceId, cursor: undefined };
  const since = { created_after: '2026-01-01T00:00:00Z' };
  return {
    connections: connections({}),
    'connections, oldest first': connections({ sort: 'created_at' }),
    'connections of a workspace': connections(onlyOne),
    'connections of a source template': connections({ source_template_id: templateId }),
    'connections of a connection template': connections({ connection_template_id: connectionTemplateId }),
    'connections of a definition': connections({ definition_id: definitionId }),
    'connections, health=failing': connections({ health: 'failing' }),
    'connections, health=failing of a template': connections({ health: 'failing', source_template_id: templateId }),
    'connections, health=paused, none': connections({ health: 'paused' }),
    'connections, status=active': connections({ status: 'active' }),
    'connections, status=failed, none': connections({ status: 'failed' }),
    'connections, created_after': connections(since),
    sources: sources({}),
    'sources of a workspace': sources(onlyOne),
    'sources of a template': sources({ source_template_id: templateId }),
    'sources of a definition': sources({ definition_id: definitionId }),
    'sources, health=failing': sources({ health: 'failing' }),
    'sources, health=paused, none': sources({ health: 'paused' }),
    'sources, created_after': sources(since),
    jobs: jobs({}),
    'jobs, status=failed': jobs({ status: 'failed' }),
    'jobs, failing=true': jobs({ failing: 'true' }),
    'jobs, status=failed of a day': jobs({ status: 'failed', started_after: '2026-01-01T00:00:00Z' }),
    'jobs of a template': jobs({ source_template_id: templateId }),
    'jobs, status=running, none': jobs({ status: 'running' }),
    workspaces: workspaces({}),
    'workspaces, health=failing': workspaces({ health: 'failing' }),
    'workspaces, health=paused, none': workspaces({ health: 'paused' }),
    overview: () => readOverview(store, organizationId, { unwell: 20 }),
  };
}
