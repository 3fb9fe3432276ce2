/*
 * What the screens of the console ask for, with many customers, on both databases (see console-dataset.ts). Each answer is
 * compared with one row that is found by its key, which cannot be avoided. `--workspaces` sets the size; at most 100,000 are
 * made, with 300,000 connections and 5,000,000 jobs.
 */
import { onBothDatabases } from './benchmark.ts';
import { type ConsoleDataset, causeOf, fillConsole, jobsEach } from './console-dataset.ts';
import { organizationId } from './dataset.ts';
import { figureOf, type Measured, measureInTurns, medianAnswer, numberText } from './figures.ts';
import { listsOf } from './lists.ts';
import * as product from './product.ts';
import { everybody } from './source-row.ts';

const mostWorkspaces = 100_000;
const asked = 15;
const atMost = 200;
const dayMs = 24 * 3_600_000;

export const consoleScreens = onBothDatabases('console', async (database, options) => {
  const workspaces = Math.min(options.workspaces, mostWorkspaces);
  const size = `${numberText(workspaces * jobsEach)} jobs`;
  if (workspaces >= 10_000) options.log(`${database.name}: ${numberText(workspaces)} workspaces, ${size}`);
  let data: ConsoleDataset | undefined;
  const store = await database.open('console', options, async (store) => {
    data = await fillConsole(store, workspaces, options.signal);
  });
  const screens = Object.entries(screensOf(store, data as ConsoleDataset));
  const chosen = screens.filter(([name]) => name === oneRow || name.includes(options.only));
  const works = Object.fromEntries(chosen.map(([name, ask]) => [name, () => medianAnswer(asked, ask)]));
  const { [oneRow]: row, ...took } = await measureInTurns(works, options);
  return Object.entries(took).map(([name, measured]) =>
    figureOf(`${name} with ${size}, median answer`, ['each', 'ms'], measured as Measured, {
      than: [oneRow, row],
      target: { of: 'value', atMost },
    }),
  );
});

export const oneRow = 'one row by its key';

export function screensOf(store: product.Store, data: ConsoleDataset): Record<string, () => Promise<unknown>> {
  const { workspaceId, connectionId, sourceId, endpointId, sourceTemplateId, connectionTemplateId } = data;
  const { ctx, ...lists } = listsOf(store);
  const limit = 50;
  const customers = lists.workspaces({ limit });
  const connections = lists.connections({ limit });
  const sources = lists.sources({ limit });
  const jobs = lists.jobs({ limit });
  const newestFirst = { after: undefined, limit, newestFirst: { before: undefined } };
  const trail = (reader?: object) => () =>
    product.readTrail({ store } as product.AuditContext, { ...everybody, ...reader }, newestFirst);
  const events = (reader: object, after?: number) => () =>
    product.readPage({ store } as product.EventsContext, { ...everybody, ...reader }, { after, limit: 500 });
  const deliveries = (query?: object) => () =>
    product.listDeliveries({ store } as product.WebhooksContext, { organizationId }, endpointId, { limit, ...query });
  const since = new Date(Date.now() - dayMs).toISOString();
  const monthAgo = new Date(Date.now() - 30 * dayMs).toISOString();
  return {
    [oneRow]: () => store.db.selectFrom('workspaces').selectAll().where('id', '=', workspaceId).execute(),
    overview: () => product.readOverview(store, organizationId, { unwell: 10, causes: 5 }),
    customers: customers(),
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
    'health of a customer': () => product.getWorkspaceHealth(ctx, organizationId, workspaceId),
    'sources of a customer': sources({ workspace_id: workspaceId }),
    'connections of a customer': connections({ workspace_id: workspaceId }),
    'jobs of a customer in a month': jobs({ workspace_id: workspaceId, started_after: monthAgo, limit: 100 }),
    'audit of a customer': trail({ workspaceId }),
    connections: connections(),
    'failing connections': connections({ health: 'failing' }),
    'paused connections, of which there are none': connections({ health: 'paused' }),
    'failed connections, of which there are none': connections({ status: 'failed' }),
    'connections of a cause': connections({ cause: causeOf(3) }),
    'connections that need their customer': connections({ attention_by: 'customer' }),
    'failing connections that need an operator': connections({ attention_by: 'operator', health: 'failing' }),
    'stale connections': connections({ stale: 'true' }),
    'stale connections that fail': connections({ stale: 'true', health: 'failing' }),
    'uses of a source template': sources({ source_template_id: sourceTemplateId, limit: 100 }),
    'uses of a connection template': connections({ connection_template_id: connectionTemplateId, limit: 100 }),
    'paused connections of a template, of which there are none': connections({
      connection_template_id: connectionTemplateId,
      health: 'paused',
    }),
    jobs: jobs(),
    'failing jobs': jobs({ failing: 'true' }),
    'waiting jobs': jobs({ waiting: 'true' }),
    'running jobs': jobs({ status: 'running' }),
    'failed jobs since yesterday': jobs({ status: 'failed', ended_after: since }),
    'cancelled jobs since yesterday': jobs({ status: 'cancelled', ended_after: since }),
    'jobs of a month': jobs({ ended_after: monthAgo }),
    'jobs of a connection': jobs({ connection_id: connectionId, limit: 30 }),
    'failed jobs of a source': jobs({ source_id: sourceId, status: 'failed' }),
    'failing jobs of a connector': jobs({ definition_id: data.definitionId, failing: 'true' }),
    'a job with the last good one': () => product.getJobDetail(ctx, organizationId, '10'),
    'events, the newest': events({ since: new Date(Date.now() + 60_000).toISOString() }),
    'events of a type': events({ types: 'source.*' }, 0),
    audit: trail(),
    'audit of a type': trail({ types: 'source.created' }),
    'audit, what operators did': trail({ actor: 'operator_token' }),
    'audit, what was refused': trail({ outcome: 'refused' }),
    'deliveries of webhooks': deliveries(),
    'deliveries that failed': deliveries({ status: 'failed' }),
  };
}
