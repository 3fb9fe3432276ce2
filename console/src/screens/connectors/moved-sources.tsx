/** After a new version: how many sources go on with it, and which stay on theirs, with the reason. */
import type { MovedSources } from '@inlay/contract/definitions';
import { useConsole } from '../../console.ts';
import { Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { counted } from '../../words/counted.ts';
import { connectorsWords } from './words.ts';

type Staying = MovedSources['staying'][number];

const shown = 20;

export function MovedSourcesPanel({ moved, staying }: MovedSources) {
  const words = connectorsWords.get();
  const { formatting } = useConsole();
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
      <p class="c-panel-text">{words.moved(counted(formatting, moved), counted(formatting, staying.length))}</p>
      <Table label={words.staying.title} rows={staying.slice(0, shown)} columns={columns} idOf={({ id }) => id} />
      {rest > 0 && <p class="c-panel-text c-muted">{words.versions.more(formatting.number(rest))}</p>}
    </Panel>
  );
}
