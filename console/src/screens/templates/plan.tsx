/** What a change would do for each customer, and the button that applies exactly this plan. */
import type { TemplatePlan, TemplatePlanItem } from '@inlay/contract/catalog/template-plans';
import type { TemplateChange } from '@inlay/contract/catalog/template-versions';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useRef } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { type Kind, routesOf } from './kinds.ts';
import { words } from './words.ts';

interface PlanProps {
  kind: Kind;
  /** Id of the template. */
  id: string;
  plan: TemplatePlan;
  onSaved(): void;
}

export function Plan({ kind, id, plan, onSaved }: PlanProps) {
  const { announce } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [plan.plan_id]);
  const { outcomes, touches, data, destination } = plan;
  const columns: Column<TemplateChange>[] = [
    { title: words.field, cell: (change) => <code>{change.path.join('.')}</code> },
    { title: words.before, isWide: true, cell: ({ before }) => <Value value={before} /> },
    { title: words.after, isWide: true, cell: ({ after }) => <Value value={after} /> },
  ];
  return (
    <section class="c-stack">
      <h3 ref={heading} tabIndex={-1}>
        {words.planTitle}
      </h3>
      <Table
        label={words.planTitle}
        rows={plan.changes}
        columns={columns}
        idOf={(change) => JSON.stringify(change.path)}
      />
      <p>
        {words.touches[kind](
          Object.values(outcomes).reduce((sum, count) => sum + count, 0),
          touches.workspaces,
        )}
      </p>
      <FactList
        facts={(['changes', 'unchanged', 'needs_customer', 'breaks'] as const).map(
          (outcome) => [words.outcomes[outcome], formatting.number(outcomes[outcome])] as const,
        )}
      />
      {data.streams_dropped > 0 && <Notice kind="warning" title={words.dropped(data.streams_dropped)} />}
      {data.tables_moved > 0 && <Notice kind="warning" title={words.moved(data.tables_moved)} />}
      {destination.verdict === 'works' && <Notice kind="success" title={words.destination.works} />}
      {destination.verdict === 'fails' && (
        <Notice kind="danger" title={words.destination.fails}>
          {destination.message}
        </Notice>
      )}
      {touches.workspaces > 0 && <Items kind={kind} id={id} plan={plan} />}
      <div class="c-tools">
        <RequestButton
          label={words.save}
          kind="primary"
          request={requestTo(`PATCH ${routesOf[kind].template}`, {
            ids: [id],
            body: { plan_id: plan.plan_id, apply: plan.apply },
          })}
          onDone={() => {
            announce(words.saved);
            onSaved();
          }}
        />
      </div>
    </section>
  );
}

function Items({ kind, id, plan }: Omit<PlanProps, 'onSaved'>) {
  const { data, error, reload } = useAnswer(
    requestTo(`GET ${routesOf[kind].plan}/items`, { ids: [id, plan.plan_id], query: { limit: 100 } }),
  );
  const columns: Column<TemplatePlanItem>[] = [
    {
      title: words.customer,
      isName: true,
      cell: ({ workspace_id, workspace_name }) => <Link to={pathTo('customer', workspace_id)}>{workspace_name}</Link>,
    },
    { title: words.outcome, cell: ({ outcome }) => words.outcomes[outcome] },
    { title: words.reason, isWide: true, cell: ({ reason }) => reason ?? common.none },
  ];
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {data && (
        <Table
          label={words.outcome}
          rows={data.data}
          columns={columns}
          idOf={({ source_id, connection_id }) => `${source_id} ${connection_id}`}
        />
      )}
      {data?.next && <p class="c-muted">{words.more}</p>}
    </>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span class="c-muted">{common.none}</span>;
  return <span class="c-value">{JSON.stringify(value, null, 2)}</span>;
}
