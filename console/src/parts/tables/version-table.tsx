/** The versions of something, newest first, by pages: who made each, when, what it changed, and what can be done with it. */
import type { VersionAuthor } from '@inlay/contract/template-versions';
import type { ComponentChildren } from 'preact';
import { useConsole } from '../console.ts';
import { useWords } from '../words/words.ts';
import { Panel } from './page.tsx';
import { PagedTable } from './paged-table.tsx';
import type { Column } from './table.tsx';
import { usePages } from './use-pages.ts';
import { versionWords } from './version-words.ts';
import { When } from './when.tsx';

/** What every version tells. */
interface AnyVersion {
  version: number;
  is_current: boolean;
  copy_of: number | null;
  created_at: string;
  created_by: VersionAuthor | null;
}

export interface VersionTableProps<T> {
  /** Of the list. */
  path: string;
  /** `isFirst`: nothing is kept that is older. */
  changes(row: T, isFirst: boolean): ComponentChildren;
  /** What this kind of versions tells besides. */
  columns?: readonly Column<T>[];
  /** Without it there is nothing to do. */
  actions?: ((row: T) => ComponentChildren) | undefined;
}

const shown = 20;

export function VersionTable<T extends AnyVersion>({ path, changes, columns = [], actions }: VersionTableProps<T>) {
  const words = versionWords.get();
  const common = useWords();
  const { formatting } = useConsole();
  const pages = usePages<T>({ method: 'GET', path, query: { limit: shown } }, undefined, ({ version }) => version);
  const oldest = pages.hasMore ? undefined : pages.rows?.at(-1);
  const all: Column<T>[] = [
    {
      title: words.version,
      cell: ({ version, is_current, copy_of }) => (
        <span>
          {formatting.number(version)}
          {is_current && <span class="c-muted"> · {words.current}</span>}
          {copy_of !== null && <span class="c-muted"> · {words.copyOf(formatting.number(copy_of))}</span>}
        </span>
      ),
    },
    { title: words.changes, isWide: true, cell: (row) => changes(row, row === oldest) },
    ...columns,
    { title: words.by, cell: ({ created_by }) => <Author author={created_by} /> },
    { title: words.made, cell: ({ created_at }) => <When time={created_at} /> },
    ...(actions ? [{ title: common.customer.actions, cell: actions }] : []),
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

/** Each change on a line of its own. */
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
  const { none, customer } = useWords();
  if (!author) return <span class="c-muted">{none}</span>;
  // As the audit trail says it. Tokens are the usual authors.
  return author.kind === 'operator_token' ? (
    <span>{author.name}</span>
  ) : (
    <span>
      {author.name} <span class="c-muted">({customer.actors[author.kind]})</span>
    </span>
  );
}
