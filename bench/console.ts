/*
 * What the screens of the console ask for, with many customers, on both databases (see console-dataset.ts). Each answer is
 * compared with one row that is found by its key, which cannot be avoided. `--workspaces` sets the size; at most 100,000 are
 * made, with 300,000 connections and 5,000,000 jobs.
 */
import { join } from 'node:path';
import { type AuditContext, readTrail } from '../server/src/audit/trail.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { type EventsContext, readPage } from '../server/src/events/events.ts';
import type { PipelinesContext } from '../server/src/pipelines/context.ts';
import {
  getJobDetail,
  getWorkspaceHealth,
  listAllConnections,
  listAllJobs,
  listAllSources,
} from '../server/src/pipelines/lists.ts';
import { readOverview } from '../server/src/pipelines/overview.ts';
import { listAllWorkspaces } from '../server/src/pipelines/workspace-list.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import type { WebhooksContext } from '../server/src/webhooks/context.ts';
import { listDeliveries } from '../server/src/webhooks/deliveries.ts';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns, medianMs } from './benchmark.ts';
import { type ConsoleDataset, causeOf, fillConsole, jobsEach } from './console-dataset.ts';
import type { Log } from './settings.ts';

const mostWorkspaces = 100_000;
const asked = 15;
const atMostMs = 200;
const dayMs = 24 * 3_600_000;

export const benchmark: Benchmark = {
  name: 'console',

  async run(options, log) {
    const figures = await measure('SQLite', options, log, () =>
      openSqlite({ file: join(options.folder, 'console.db'), now: Date.now }),
    );
    const postgres = await options.databases.postgres();
    if (!postgres) return figures;
    const url = await postgres.makeEmpty('console');
    const open = () => openPostgres({ url, maxConnections: 2, onIdleError: () => {} });
    return [...figures, ...(await measure('PostgreSQL', options, log, open))];
  },
};

async function measure(database: string, options: BenchmarkOptions, log: Log, open: () => Store): Promise<Figure[]> {
  const store = open();
  try {
    const workspaces = Math.min(options.workspaces, mostWorkspaces);
    log(
      `${database}: ${workspaces.toLocaleString('en')} workspaces, ${(workspaces * jobsEach).toLocaleString('en')} jobs`,
    );
    const screens = screensOf(store, await fillConsole(store, workspaces));
    const turns = Object.fromEntries(
      Object.entries(screens)
        .filter(([name]) => name === oneRow || name.includes(options.only))
        .map(([name, ask]) => [name, () => medianMs(asked, ask)]),
    );
    const took = await measureInTurns(turns, options.rounds, (ms) => ms);
    const row = took[oneRow] ?? 0;
    return Object.keys(turns)
      .filter((name) => name !== oneRow)
      .map((name) => ({
        work: `${database}: ${name} with ${(workspaces * jobsEach).toLocaleString('en')} jobs, median answer`,
        value: took[name] ?? 0,
        unit: 'ms',
        reference: { name: oneRow, value: row },
        ratio: (took[name] ?? 0) / row,
        target: { of: 'value', atMost: atMostMs },
      }));
  } finally {
    await store.close();
  }
}

export const oneRow = 'one row by its key';

export function screensOf(store: Store, data: ConsoleDataset): Record<string, () => Promise<unknown>> {
  const { organizationId, workspaceId, connectionId, sourceId, endpointId } = data;
  const templates = { store, publicUrl: 'http://localhost' };
  const ctx = { store, workspaces: { store }, runtime: systemRuntime, templates } as unknown as PipelinesContext;
  const limit = 50;
  const customers = (query: object) => () => listAllWorkspaces(ctx, organizationId, { limit, ...query });
  const connections = (query: object) => () => listAllConnections(ctx, organizationId, { limit, ...query });
  const sources = (query: object) => () => listAllSources(ctx, organizationId, { limit, ...query });
  const jobs = (query: object) => () => listAllJobs(ctx, organizationId, { limit, ...query });
  const everybody = { organizationId, workspaceId: undefined, isCustomer: false } as const;
  const trail = (reader: object) => () =>
    readTrail(
      { store } as AuditContext,
      { ...everybody, ...reader },
      { after: undefined, limit, newestFirst: { before: undefined } },
    );
  const events = (reader: object, after?: number) => () =>
    readPage(
      { store } as EventsContext,
      { ...everybody, types: undefined, since: undefined, ...reader },
      { after, limit: 500 },
    );
  const deliveries = (query: object) => () =>
    listDeliveries({ store } as WebhooksContext, { organizationId }, endpointId, {
      limit,
      ...query,
    });
  const since = new Date(Date.now() - dayMs).toISOString();
  const monthAgo = new Date(Date.now() - 30 * dayMs).toISOString();
  return {
    [oneRow]: () => store.db.selectFrom('workspaces').selectAll().where('id', '=', workspaceId).execute(),
    overview: () => readOverview(store, organizationId, { unwell: 10, causes: 5 }),
    customers: customers({}),
    'customers by name': customers({ sort: 'name' }),
    'customers by activity': customers({ sort: '-last_activity_at' }),
    'customers, the longest unwell first': customers({ sort: 'unwell_since' }),
    'failing customers': customers({ health: 'failing' }),
    'failing customers by name': customers({ sort: 'name', health: 'failing' }),
    'healthy customers by activity': customers({ sort: '-last_activity_at', health: 'healthy' }),
    'customers never synced, of which there are none': customers({ health: 'never_synced' }),
    'inactive customers, of which there are none': customers({ status: 'inactive' }),
    'inactive customers by name, of which there are none': customers({ status: 'inactive', sort: 'name' }),
    'customers, a rare name, by activity': customers({ name_contains: 'customer 17', sort: '-last_activity_at' }),
    'customers, a common name': customers({ name_contains: 'customer' }),
    'customers, a common name, by name': customers({ name_contains: 'customer', sort: 'name' }),
    'customers, one letter': customers({ name_contains: 'c' }),
    'customers, a common name, failing': customers({ name_contains: 'customer', health: 'failing' }),
    'customers, a common name, of a health that none has': customers({ name_contains: 'customer', health: 'paused' }),
    'customers, a name that none has': customers({ name_contains: 'nobody' }),
    'health of a customer': () => getWorkspaceHealth(ctx, organizationId, workspaceId),
    'sources of a customer': sources({ workspace_id: workspaceId }),
    'connections of a customer': connections({ workspace_id: workspaceId }),
    'jobs of a customer in a month': jobs({ workspace_id: workspaceId, started_after: monthAgo, limit: 100 }),
    'audit of a customer': trail({ workspaceId }),
    connections: connections({}),
    'failing connections': connections({ health: 'failing' }),
    'paused connections, of which there are none': connections({ health: 'paused' }),
    'failed connections, of which there are none': connections({ status: 'failed' }),
    'connections of a cause': connections({ cause: causeOf(3) }),
    'connections that need their customer': connections({ attention_by: 'customer' }),
    'failing connections that need an operator': connections({ attention_by: 'operator', health: 'failing' }),
    'stale connections': connections({ stale: 'true' }),
    'stale connections that fail': connections({ stale: 'true', health: 'failing' }),
    'uses of a source template': sources({ source_template_id: data.sourceTemplateId, limit: 100 }),
    'uses of a connection template': connections({ connection_template_id: data.connectionTemplateId, limit: 100 }),
    'paused connections of a template, of which there are none': connections({
      connection_template_id: data.connectionTemplateId,
      health: 'paused',
    }),
    jobs: jobs({}),
    'failing jobs': jobs({ failing: 'true' }),
    'waiting jobs': jobs({ waiting: 'true' }),
    'running jobs': jobs({ status: 'running' }),
    'failed jobs since yesterday': jobs({ status: 'failed', ended_after: since }),
    'cancelled jobs since yesterday': jobs({ status: 'cancelled', ended_after: since }),
    'jobs of a month': jobs({ ended_after: monthAgo }),
    'jobs of a connection': jobs({ connection_id: connectionId, limit: 30 }),
    'failed jobs of a source': jobs({ source_id: sourceId, status: 'failed' }),
    'failing jobs of a connector': jobs({ definition_id: data.definitionId, failing: 'true' }),
    'a job with the last good one': () => getJobDetail(ctx, organizationId, '10'),
    'events, the newest': events({ since: new Date(Date.now() + 60_000).toISOString() }),
    'events of a type': events({ types: 'source.*' }, 0),
    audit: trail({}),
    'audit of a type': trail({ types: 'source.created' }),
    'audit, what operators did': trail({ actor: 'operator_token' }),
    'audit, what was refused': trail({ outcome: 'refused' }),
    'deliveries of webhooks': deliveries({}),
    'deliveries that failed': deliveries({ status: 'failed' }),
  };
}
