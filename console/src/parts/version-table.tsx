/** The versions of something, newest first, by pages: who made each, when, what it changed, and what can be done with it. */
import type { VersionAuthor } from '@inlay/contract/template-versions';
import { Button } from '@inlay/ui/parts/button.tsx';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from '../api/use-loaded.ts';
import { useConsole } from '../console.ts';
import { useWords } from '../words/words.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Bones, Panel } from './page.tsx';
import { type Column, Table } from './table.tsx';
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
  // What the pages before ended with; the newest page has none.
  const [trail, setTrail] = useState<readonly string[]>([]);
  const cursor = trail.at(-1);
  const { data, error, reload } = useAnswer<{ data: T[]; next: string | null }>({
    method: 'GET',
    path,
    query: { limit: shown, cursor },
  });
  const oldest = data?.next === null ? data.data.at(-1) : undefined;
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
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={2} />}
      {data && (
        <Table
          label={words.title}
          rows={data.data}
          columns={all}
          idOf={({ version }) => String(version)}
          scope={cursor ?? ''}
        />
      )}
      {data && (data.next || trail.length > 0) && (
        <div class="c-tools c-panel-text">
          {trail.length > 0 && <Button onClick={() => setTrail(trail.slice(0, -1))}>{words.newer}</Button>}
          {data.next && <Button onClick={() => setTrail([...trail, data.next ?? ''])}>{words.older}</Button>}
        </div>
      )}
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
