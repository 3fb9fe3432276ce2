/** The state of all customers: what fails and why, who has to act, what is queued, and how much has arrived. */
import type { CauseRetry } from '@inlay/contract/pipelines/cause-retries';
import type { Overview, UnwellWorkspace } from '@inlay/contract/pipelines/overview';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { HealthBadge } from '../../parts/badges.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { useHolding, useKept } from '../../parts/tables/steady-rows.ts';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { failureInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';
import { Causes } from './cause.tsx';
import { Plots } from './plots.tsx';
import { OtherRetries, useRetries } from './retries.tsx';
import { ServiceStrip } from './service-strip.tsx';
import { Tiles } from './tiles.tsx';

const FirstSteps = lazyPart(async () => (await import('../first-steps/first-steps.tsx')).FirstSteps, {
  meanwhile: () => <Bones rows={6} />,
  without: ({ children, below }) => (
    <>
      {children}
      {below}
    </>
  ),
});

export function OverviewScreen() {
  const { data, error, reload } = useAnswer(
    requestTo('GET /integrations/overview', { query: { limit: 10, causes: 5 } }),
    { live: () => true },
  );
  // Awaited, because anything that appears later would move what is under the pointer.
  const { retries, reload: reloadRetries } = useRetries();
  const onChanged = () => {
    reload();
    reloadRetries();
  };
  return (
    <Page title={words.overview.title}>
      <ServiceStrip isDue={data !== undefined || error !== undefined} />
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {(!data || !retries) && !error && <Bones rows={6} />}
      {data && retries && <Content overview={data} retries={retries} onChanged={onChanged} />}
    </Page>
  );
}

interface ContentProps {
  overview: Overview;
  retries: readonly CauseRetry[];
  onChanged(): void;
}

function Content({ overview, retries, onChanged }: ContentProps) {
  const { unwell, more_unwell, causes, more_causes } = overview;
  const { isHeld, holding } = useHolding();
  const others = retries.filter((retry) => causes.every(({ cause }) => cause !== retry.cause));
  // While the pointer is over the lists, nothing above its row comes or goes.
  const shape = useKept(
    {
      isEmpty: Object.values(overview.workspaces).every((count) => count === 0),
      // The setup guide has done its work once a sync has brought rows.
      isNew: overview.connections.healthy === 0 && overview.days.every(({ rows }) => rows === 0),
      isPartial: !overview.counts_are_complete,
      hasCauses: causes.length > 0,
      moreCauses: more_causes,
      hasUnwell: unwell.length > 0,
    },
    isHeld,
  );
  if (shape.isEmpty) {
    return (
      <FirstSteps overview={overview} onChanged={onChanged}>
        <Empty title={words.overview.firstTitle}>
          <p class="c-muted">{words.overview.firstText}</p>
        </Empty>
      </FirstSteps>
    );
  }
  const content = (
    <>
      <Tiles overview={overview} />
      {shape.isPartial && <Notice>{words.overview.partial}</Notice>}
      {!shape.isNew && !shape.hasUnwell && !shape.hasCauses && (
        <Notice kind="success" title={words.overview.allWell}>
          <p>{words.overview.allWellText}</p>
        </Notice>
      )}
      {(shape.hasCauses || shape.hasUnwell) && (
        <div class="c-lists" {...holding}>
          {shape.hasCauses && (
            <Panel title={words.overview.causes}>
              <Causes causes={causes} retries={retries} isHeld={isHeld} onChanged={onChanged} />
              {shape.moreCauses > 0 && (
                <p class="c-panel-foot c-muted">{words.overview.moreCauses(shape.moreCauses)}</p>
              )}
            </Panel>
          )}
          {shape.hasUnwell && (
            <Panel title={unwellTitle(unwell)} beside={<span class="c-muted">{words.overview.unwellOrder}</span>}>
              <Unwell rows={unwell} />
              {more_unwell > 0 && (
                <p class="c-panel-foot">
                  <Link to={pathTo('customers', undefined, { health: 'failing' })}>
                    {words.overview.moreUnwell(more_unwell)}
                  </Link>
                </p>
              )}
            </Panel>
          )}
        </div>
      )}
      {others.length > 0 && <OtherRetries retries={others} onChanged={onChanged} />}
      <Plots overview={overview} />
    </>
  );
  return shape.isNew ? <FirstSteps overview={overview} onChanged={onChanged} below={content} /> : content;
}

function unwellTitle(rows: readonly UnwellWorkspace[]): string {
  const states = new Set(rows.map(({ health }) => health));
  const [state] = states;
  return words.overview.unwell[states.size === 1 && state ? state : 'both'];
}

function Unwell({ rows }: { rows: readonly UnwellWorkspace[] }) {
  const columns: Column<UnwellWorkspace>[] = [
    {
      title: words.column.customer,
      isName: true,
      cell: ({ workspace_id, workspace_name }) => <Link to={pathTo('customer', workspace_id)}>{workspace_name}</Link>,
    },
    { title: words.column.source, isName: true, cell: ({ connection }) => connection?.source_name ?? words.none },
    {
      title: words.column.health,
      cell: ({ health, since }) => <HealthBadge state={health as 'failing'} since={since} />,
    },
    {
      title: words.column.error,
      isWide: true,
      cell: ({ first_error, connection }) => {
        const text = first_error ? failureInWords(first_error) : words.noReason;
        return (
          <span class="c-clamp" title={text}>
            {connection?.job_id ? <Link to={pathTo('job', connection.job_id)}>{text}</Link> : text}
          </span>
        );
      },
    },
    {
      title: words.column.lastGood,
      cell: ({ connection }) => <When time={connection?.last_good_at} none={words.overview.neverGood} />,
    },
  ];
  return <Table label={unwellTitle(rows)} rows={rows} columns={columns} idOf={({ workspace_id }) => workspace_id} />;
}
