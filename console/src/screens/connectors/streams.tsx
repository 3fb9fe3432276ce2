/** Which streams of a manifest are supported, and what was ignored. */
import type { ManifestAnswer } from '@inlay/contract/catalog/definitions';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

type Stream = ManifestAnswer['streams'][number];

export interface StreamsProps {
  manifest: Pick<ManifestAnswer, 'streams' | 'warnings'>;
  level?: 2 | 3;
}

export function Streams({ manifest, level = 2 }: StreamsProps) {
  const columns: Column<Stream>[] = [
    {
      title: words.stream,
      cell: ({ name, is_dynamic }) => (
        <>
          {name} {is_dynamic && <span class="c-muted">({words.dynamic})</span>}
        </>
      ),
    },
    { title: words.supported, cell: ({ is_left_out }) => (is_left_out ? words.no : words.yes) },
    {
      title: words.problems,
      isWide: true,
      cell: ({ problems }) =>
        problems.length === 0 ? (
          <span class="c-muted">{common.none}</span>
        ) : (
          <ul>
            {problems.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        ),
    },
  ];
  return (
    <Panel title={words.streams} level={level}>
      <Table label={words.streams} rows={manifest.streams} columns={columns} idOf={({ name }) => name} />
      {manifest.warnings.length > 0 && (
        <Notice kind="warning" title={words.warnings}>
          <ul>
            {manifest.warnings.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </Panel>
  );
}
