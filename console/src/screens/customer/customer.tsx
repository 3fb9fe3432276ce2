/** One customer: health, sources and connections, timeline, and actions. */
import type { OperatorConnection, WorkspaceHealth } from '@inlay/contract/pipelines/operating';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import type { Workspace } from '@inlay/contract/tenancy/workspaces';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { HealthBadge, StatusBadge } from '../../parts/badges.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { OwnPage } from '../../parts/own-page.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { HowLong, When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { failureInWords, reasonInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';
import { Actions } from './actions.tsx';
import { ConnectionActions } from './connection-actions.tsx';
import { Timeline } from './timeline.tsx';

export function CustomerScreen({ place }: { place: Place }) {
  const { mayWrite } = useConsole();
  const { id } = place;
  const live = { live: (ids: ReadonlySet<string>) => ids.has(id) };
  const workspace = useAnswer(requestTo('GET /workspaces/{workspace_id}', { ids: [id] }), live);
  const health = useAnswer(requestTo('GET /workspaces/{workspace_id}/health', { ids: [id] }), live);
  const query = { workspace_id: id };
  const sources = useAnswer(requestTo('GET /integrations/sources', { query }), live);
  const connections = useAnswer(requestTo('GET /integrations/connections', { query: { ...query, limit: 100 } }), live);
  const reload = () => {
    for (const one of [workspace, health, sources, connections]) one.reload();
  };
  const { data: customer, error } = workspace;
  const trail = <Link to={pathTo('customers')}>{words.customers.title}</Link>;
  if (!customer) {
    return (
      <Page title={words.column.customer} trail={trail}>
        {error ? <ErrorNotice error={error} onTryAgain={workspace.reload} /> : <Bones rows={6} />}
      </Page>
    );
  }
  return (
    <Page
      title={customer.name}
      trail={trail}
      beside={
        <div class="c-badges">
          <OwnPage customer={customer} />
          {health.data && <HealthBadge state={health.data.health.state} />}
          <StatusBadge status={customer.status} />
          {mayWrite && <SeeWhatTheySee customer={customer} />}
        </div>
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={workspace.reload} />}
      <Facts customer={customer} health={health.data} />
      <div class="c-beside">
        <div class="c-column">
          <Panel title={words.customer.connections}>
            {connections.error && <ErrorNotice error={connections.error} onTryAgain={connections.reload} />}
            {!connections.data && !connections.error && <Bones />}
            {connections.data && <Connections rows={connections.data.data} onChanged={reload} />}
          </Panel>
          <Panel title={words.customer.sources}>
            {sources.error && <ErrorNotice error={sources.error} onTryAgain={sources.reload} />}
            {!sources.data && !sources.error && <Bones />}
            {sources.data && <Sources rows={sources.data.data} />}
          </Panel>
          <Timeline workspaceId={id} sources={sources.data?.data ?? []} />
        </div>
        {mayWrite && (
          <Actions
            customer={customer}
            counts={{ sources: sources.data?.data.length ?? 0, connections: connections.data?.data.length ?? 0 }}
            onChanged={reload}
          />
        )}
      </div>
    </Page>
  );
}

/** The widget and its texts load on the first click. */
const CustomerView = lazyPart(async () => (await import('./customer-view.tsx')).CustomerView);

function SeeWhatTheySee({ customer }: { customer: Workspace }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{words.customer.seeWhat}</Button>
      {isOpen && <CustomerView customer={customer} onClose={() => setOpen(false)} />}
    </>
  );
}

function Facts({ customer, health }: { customer: Workspace; health: WorkspaceHealth | undefined }) {
  const { state, since, first_error, last_good_at, attention } = health?.health ?? {};
  const isUnwell = state === 'failing' || state === 'needs_attention';
  const reason = reasonInWords(attention, attention?.what) ?? (first_error && failureInWords(first_error));
  return (
    <dl class="c-fact-list" aria-label={words.customer.summary}>
      {isUnwell && (
        <div class="c-fact-wide">
          <dt>{words.column.error}</dt>
          <dd>{reason ?? words.noReason}</dd>
        </div>
      )}
      {isUnwell && since && (
        <div>
          <dt>{words.lasting[state]}</dt>
          <dd>
            <HowLong since={since} />
          </dd>
        </div>
      )}
      <div>
        <dt>{words.column.lastGood}</dt>
        <dd>
          <When time={last_good_at} none={words.overview.neverGood} />
        </dd>
      </div>
      <div>
        <dt>{words.column.created}</dt>
        <dd>
          <When time={customer.created_at} />
        </dd>
      </div>
      <div>
        <dt>{words.customer.id}</dt>
        <dd class="c-id">
          <code>{customer.id}</code> <CopyButton text={customer.id} label={words.customer.copyId} />
        </dd>
      </div>
    </dl>
  );
}

function Connections({ rows, onChanged }: { rows: readonly OperatorConnection[]; onChanged(): void }) {
  if (rows.length === 0) return <Empty title={words.customer.noConnections} />;
  const columns: Column<OperatorConnection>[] = [
    {
      title: words.column.connection,
      isWide: true,
      cell: ({ id, name }) => <Link to={pathTo('jobs', undefined, { connection_id: id })}>{name}</Link>,
    },
    { title: words.column.health, cell: ({ health }) => <HealthBadge state={health.state} /> },
    {
      title: words.column.lastGood,
      cell: ({ health }) => <When time={health.last_good_at} none={words.overview.neverGood} />,
    },
    {
      title: words.column.job,
      cell: ({ last_run }) =>
        last_run ? <Link to={pathTo('job', last_run.id)}>{words.job.short(last_run.id)}</Link> : words.none,
    },
    { title: words.column.nextRun, cell: ({ next_run_at }) => <When time={next_run_at} tense="future" /> },
    {
      title: words.column.actions,
      cell: (connection) => <ConnectionActions connection={connection} onChanged={onChanged} />,
    },
  ];
  return <Table label={words.customer.connections} rows={rows} columns={columns} idOf={({ id }) => id} />;
}

function Sources({ rows }: { rows: readonly SourceSummary[] }) {
  if (rows.length === 0) return <Empty title={words.customer.noSources} />;
  const columns: Column<SourceSummary>[] = [
    {
      title: words.column.source,
      isWide: true,
      cell: ({ id, name }) => <Link to={pathTo('jobs', undefined, { source_id: id })}>{name}</Link>,
    },
    { title: words.column.health, cell: ({ health }) => <HealthBadge state={health.state} since={health.since} /> },
    { title: words.column.created, cell: ({ created_at }) => <When time={created_at} /> },
  ];
  return <Table label={words.customer.sources} rows={rows} columns={columns} idOf={({ id }) => id} />;
}
