/** Connections of all customers. The overview's numbers link here. */
import type { OperatorConnection } from '@inlay/contract/pipelines/operating';
import { requestTo } from '../../api/client.ts';
import { HealthBadge } from '../../parts/badges.tsx';
import { Page } from '../../parts/page.tsx';
import { Chip, Choice, Filters, Tick, withFilter } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import type { Column } from '../../parts/tables/table.tsx';
import { usePages } from '../../parts/tables/use-pages.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { reasonInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';

const filters = [
  'workspace_id',
  'source_template_id',
  'connection_template_id',
  'health',
  'status',
  'attention_by',
  'stale',
  'cause',
] as const;

export function ConnectionsScreen({ place }: { place: Place }) {
  const query = Object.fromEntries(filters.map((name) => [name, place.query.get(name) ?? undefined]));
  const pages = usePages(requestTo('GET /integrations/connections', { query: { ...query, limit: 50 } }), () => true);
  const columns: Column<OperatorConnection>[] = [
    {
      title: words.column.customer,
      cell: ({ workspace_id, workspace_name }) => <Link to={pathTo('customer', workspace_id)}>{workspace_name}</Link>,
    },
    { title: words.column.connection, isName: true, cell: ({ name }) => name },
    { title: words.column.health, cell: ({ health }) => <HealthBadge state={health.state} since={health.since} /> },
    {
      title: words.column.error,
      isWide: true,
      cell: ({ health, status_message, status_reason, last_run }) => {
        const { attention, first_error } = health;
        const text =
          reasonInWords(attention, attention?.what) ??
          reasonInWords(first_error, first_error?.message) ??
          reasonInWords(status_reason, status_message);
        if (!text) return <span class="c-muted">{words.none}</span>;
        return (
          <span class="c-clamp" title={text}>
            {last_run && health.first_error ? <Link to={pathTo('job', last_run.id)}>{text}</Link> : text}
          </span>
        );
      },
    },
    {
      title: words.column.lastGood,
      cell: ({ health }) => <When time={health.last_good_at} none={words.overview.neverGood} />,
    },
    { title: words.column.nextRun, cell: ({ next_run_at }) => <When time={next_run_at} tense="future" /> },
  ];
  return (
    <Page title={words.connectionsList.title}>
      <Filters place={place}>
        <Choice place={place} name="health" label={words.column.health} options={words.health} all={words.list.all} />
        <Choice
          place={place}
          name="attention_by"
          label={words.connectionsList.attention}
          options={words.connectionsList.attentionBy}
          all={words.list.all}
        />
        <Tick place={place} name="stale" label={words.connectionsList.staleOnly} />
        {place.query.has('cause') && (
          <Chip to={withFilter(place, 'cause', undefined)} text={words.connectionsList.oneCause} />
        )}
        {place.query.has('workspace_id') && (
          <Chip to={withFilter(place, 'workspace_id', undefined)} text={words.list.ofCustomer} />
        )}
      </Filters>
      <PagedTable label={words.connectionsList.title} pages={pages} columns={columns} idOf={({ id }) => id} />
    </Page>
  );
}
