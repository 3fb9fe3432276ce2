/** Versions, newest first: author, time, changes and actions. */
import type { VersionAuthor } from '@inlay/contract/catalog/template-versions';
import type { ComponentChildren } from 'preact';
import type { ApiRequest } from '../../api/client.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { Panel } from '../page.tsx';
import { When } from '../when.tsx';
import { PagedTable } from './paged-table.tsx';
import type { Column } from './table.tsx';
import { type Answer, usePages } from './use-pages.ts';
import { words } from './version-words.ts';

/** Fields that all versions have. */
interface AnyVersion {
  version: number;
  is_current: boolean;
  copy_of: number | null;
  created_at: string;
  created_by: VersionAuthor | null;
}

export interface VersionTableProps<T> {
  list: ApiRequest<Answer<T>>;
  /** `isFirst`: no older version is kept. */
  changes(row: T, isFirst: boolean): ComponentChildren;
  /** Columns specific to this kind of version. */
  columns?: readonly Column<T>[];
  /** Undefined: no actions column. */
  actions?: ((row: T) => ComponentChildren) | undefined;
}

const shown = 20;

export function VersionTable<T extends AnyVersion>({ list, changes, columns = [], actions }: VersionTableProps<T>) {
  const pages = usePages({ ...list, query: { limit: shown } }, undefined, ({ version }) => version);
  const oldest = pages.hasMore ? undefined : pages.rows?.at(-1);
  const all: Column<T>[] = [
    {
      title: words.version,
      cell: ({ version, is_current, copy_of }) => (
        <span>
          {formatting.number(version)}
          {is_current && <span class="c-muted"> · {words.current}</span>}
          {copy_of !== null && <span class="c-muted"> · {words.copyOf(copy_of)}</span>}
        </span>
      ),
    },
    { title: words.changes, isWide: true, cell: (row) => changes(row, row === oldest) },
    ...columns,
    { title: words.by, cell: ({ created_by }) => <Author author={created_by} /> },
    { title: words.made, cell: ({ created_at }) => <When time={created_at} /> },
    ...(actions ? [{ title: common.column.actions, cell: actions }] : []),
  ];
  return (
    <Panel title={words.title}>
      <PagedTable
        label={words.title}
        pages={pages}
        columns={all}
        idOf={({ version }) => String(version)}
        usualRows={2}
      />
    </Panel>
  );
}

/** One change per line. */
export function ChangeList({ changes }: { changes: readonly { name: string; what: ComponentChildren }[] }) {
  return (
    <ul class="c-changes">
      {changes.map(({ name, what }) => (
        <li key={name}>
          <code>{name}</code> {what}
        </li>
      ))}
    </ul>
  );
}

function Author({ author }: { author: VersionAuthor | null }) {
  const { none, customer } = common;
  if (!author) return <span class="c-muted">{none}</span>;
  // Tokens are the usual authors, so only other kinds are named.
  return author.kind === 'operator_token' ? (
    <span>{author.name}</span>
  ) : (
    <span>
      {author.name} <span class="c-muted">({customer.actors[author.kind]})</span>
    </span>
  );
}
