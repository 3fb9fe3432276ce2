/** The result of a new version: how many sources it updated, and which stay on an earlier one and why. */
import type { MovedSources } from '@inlay/contract/catalog/definitions';
import { Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words } from './words.ts';

type Staying = MovedSources['staying'][number];

const shown = 20;

export function StayingSourcesPanel({ moved, staying }: MovedSources) {
  const rest = staying.length - shown;
  const columns: Column<Staying>[] = [
    {
      title: words.staying.source,
      isName: true,
      cell: ({ name, workspace_id }) => <Link to={pathTo('customer', workspace_id)}>{name}</Link>,
    },
    { title: words.version, cell: ({ version }) => formatting.number(version) },
    { title: words.staying.reason, isWide: true, cell: ({ reason }) => reason },
  ];
  return (
    <Panel title={words.staying.title}>
      <p class="c-panel-text">{words.moved(moved, staying.length)}</p>
      <Table label={words.staying.title} rows={staying.slice(0, shown)} columns={columns} idOf={({ id }) => id} />
      {rest > 0 && <p class="c-panel-text c-muted">{words.versions.more(rest)}</p>}
    </Panel>
  );
}
