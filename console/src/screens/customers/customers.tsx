/** All customers, with search and filters. */
import type { OperatorWorkspace } from '@inlay/contract/pipelines/operating';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { HealthBadge, StatusBadge } from '../../parts/badges.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { OwnPage } from '../../parts/own-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Choice, Filters, Search } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import type { Column } from '../../parts/tables/table.tsx';
import { usePages } from '../../parts/tables/use-pages.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words } from '../../words/words.ts';

const WidgetLink = lazyPart(async () => (await import('../first-steps/widget-link.tsx')).WidgetLink);

export function CustomersScreen({ place }: { place: Place }) {
  const { mayWrite } = useConsole();
  const [isAdding, setAdding] = useState(false);
  const asked = (name: string) => place.query.get(name) ?? undefined;
  const pages = usePages(
    requestTo('GET /integrations/workspaces', {
      query: {
        name_contains: asked('name_contains'),
        health: asked('health'),
        status: asked('status'),
        sort: asked('sort'),
        limit: 50,
      },
    }),
    () => true,
  );
  const columns: Column<OperatorWorkspace>[] = [
    {
      title: words.column.customer,
      isWide: true,
      cell: ({ id, name }) => (
        <>
          <Link to={pathTo('customer', id)}>{name}</Link> <OwnPage customer={{ id, name }} isShort />
        </>
      ),
    },
    { title: words.column.health, cell: ({ health }) => <HealthBadge state={health.state} since={health.since} /> },
    {
      title: words.column.connections,
      isNumber: true,
      cell: ({ id, connections }) => (
        <Link to={pathTo('connections', undefined, { workspace_id: id })}>
          {formatting.number(Object.values(connections).reduce((sum, count) => sum + count, 0))}
        </Link>
      ),
    },
    { title: words.column.lastGood, cell: ({ health }) => <When time={health.last_good_at} /> },
    { title: words.column.status, cell: ({ status }) => <StatusBadge status={status} /> },
    { title: words.column.created, cell: ({ created_at }) => <When time={created_at} /> },
  ];
  return (
    <Page
      title={words.customers.title}
      beside={mayWrite && <Button onClick={() => setAdding(true)}>{words.customers.add}</Button>}
    >
      <Filters place={place}>
        <Search place={place} name="name_contains" label={words.customers.search} />
        <Choice place={place} name="health" label={words.column.health} options={words.health} all={words.list.all} />
        <Choice place={place} name="status" label={words.column.status} options={words.status} all={words.list.all} />
        <Choice place={place} name="sort" label={words.list.sort} options={words.customers.sorts} />
      </Filters>
      <PagedTable
        label={words.customers.title}
        pages={pages}
        columns={columns}
        idOf={({ id }) => id}
        empty={place.query.size === 0 ? words.overview.firstText : undefined}
      />
      {isAdding && <WidgetLink customer={undefined} onChanged={pages.reload} onClose={() => setAdding(false)} />}
    </Page>
  );
}
