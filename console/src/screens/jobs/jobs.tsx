/** Jobs of all customers, newest first. */
import type { OperatorJob } from '@inlay/contract/pipelines/operating';
import { requestTo } from '../../api/client.ts';
import { JobBadge } from '../../parts/badges.tsx';
import { Page } from '../../parts/page.tsx';
import { Chip, Choice, Filters, Tick, withFilter } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import type { Column } from '../../parts/tables/table.tsx';
import { usePages } from '../../parts/tables/use-pages.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { failureInWords, reasonInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';

const filters = [
  'workspace_id',
  'connection_id',
  'source_id',
  'status',
  'failing',
  'waiting',
  'started_after',
  'started_before',
  'ended_after',
  'ended_before',
];

export function JobsScreen({ place }: { place: Place }) {
  const query = Object.fromEntries(filters.map((name) => [name, place.query.get(name) ?? undefined]));
  const pages = usePages(requestTo('GET /integrations/jobs', { query: { ...query, limit: 50 } }), () => true);
  const endedAfter = place.query.get('ended_after');
  const number = (value: number | null) => (value === null ? words.none : formatting.number(value));
  const columns: Column<OperatorJob>[] = [
    { title: words.column.job, cell: ({ id }) => <Link to={pathTo('job', id)}>{words.job.short(id)}</Link> },
    {
      title: words.column.customer,
      isName: true,
      cell: ({ workspace_id, workspace_name }) => <Link to={pathTo('customer', workspace_id)}>{workspace_name}</Link>,
    },
    { title: words.column.status, cell: ({ status }) => <JobBadge status={status} /> },
    { title: words.column.started, cell: ({ started_at }) => <When time={started_at} /> },
    {
      title: words.column.duration,
      isNumber: true,
      cell: ({ duration_seconds }) => (duration_seconds === null ? words.none : formatting.duration(duration_seconds)),
    },
    { title: words.column.rows, isNumber: true, cell: ({ rows }) => number(rows) },
    {
      title: words.column.reason,
      isWide: true,
      cell: ({ failure, waiting_because, waiting_reason }) => {
        const text = reasonInWords(waiting_reason, waiting_because) ?? (failure ? failureInWords(failure) : undefined);
        return text ? (
          <span class="c-clamp" title={text}>
            {text}
          </span>
        ) : (
          <span class="c-muted">{words.none}</span>
        );
      },
    },
  ];
  return (
    <Page title={words.jobsList.title}>
      <Filters place={place}>
        <Choice
          place={place}
          name="status"
          label={words.column.status}
          options={words.jobStatus}
          all={words.list.all}
        />
        <Tick place={place} name="failing" label={words.jobsList.failingOnly} />
        <Tick place={place} name="waiting" label={words.jobsList.waitingOnly} />
        {endedAfter && (
          <Chip
            to={withFilter(place, 'ended_after', undefined)}
            text={words.jobsList.endedSince(formatting.dateTime(endedAfter))}
          />
        )}
        {place.query.has('workspace_id') && (
          <Chip to={withFilter(place, 'workspace_id', undefined)} text={words.list.ofCustomer} />
        )}
      </Filters>
      <PagedTable label={words.jobsList.title} pages={pages} columns={columns} idOf={({ id }) => id} />
    </Page>
  );
}
