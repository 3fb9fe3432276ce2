/** A list with its states: loading, failed, empty, and a button for more. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { useConsole } from '../console.ts';
import { useWords } from '../words/words.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Bones, Empty } from './page.tsx';
import { type Column, Table } from './table.tsx';
import type { Pages } from './use-pages.ts';

export interface PagedTableProps<T> {
  label: string;
  pages: Pages<T>;
  columns: readonly Column<T>[];
  idOf(row: T): string;
  /** What to say where there is nothing. Undefined: that nothing matches the filters. */
  empty?: string | undefined;
}

export function PagedTable<T>({ label, pages, columns, idOf, empty }: PagedTableProps<T>) {
  const words = useWords();
  const { formatting } = useConsole();
  const { rows, error, hasMore, isLoadingMore, scope } = pages;
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={pages.reload} />}
      {!rows && !error && <Bones rows={8} />}
      {rows?.length === 0 && <Empty title={empty ?? words.list.nothing} />}
      {rows && rows.length > 0 && (
        <>
          <Table label={label} rows={rows} columns={columns} idOf={idOf} scope={scope} />
          <div class="c-list-end">
            <span class="c-muted">{words.list.shown(formatting.number(rows.length))}</span>
            {hasMore && (
              <Button isBusy={isLoadingMore} onClick={pages.more}>
                {words.list.more}
              </Button>
            )}
          </div>
        </>
      )}
    </>
  );
}
