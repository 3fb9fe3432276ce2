/** A list with its states: loading, failed, empty, and a button for more. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../../words/words.ts';
import { ErrorNotice } from '../error-notice.tsx';
import { Bones, Empty } from '../page.tsx';
import { type Column, Table } from './table.tsx';
import type { Pages } from './use-pages.ts';

export interface PagedTableProps<T> {
  label: string;
  pages: Pages<T>;
  columns: readonly Column<T>[];
  idOf(row: T): string;
  /** What to say where there is nothing. Undefined: that nothing matches the filters. */
  empty?: string | undefined;
  /** How many rows there are as a rule: the page keeps this room while it loads. */
  usualRows?: number;
}

export function PagedTable<T>({ label, pages, columns, idOf, empty, usualRows = 8 }: PagedTableProps<T>) {
  const { rows, error, hasMore, isLoadingMore, scope } = pages;
  const count = useRef<HTMLSpanElement>(null);
  const wasAsked = useRef(false);
  const askForMore = () => {
    wasAsked.current = true;
    pages.more();
  };
  // The button goes with the last page. Who works with the keyboard stays at the end of the list.
  useLayoutEffect(() => {
    if (!hasMore && wasAsked.current && document.activeElement === document.body) count.current?.focus();
    if (!hasMore) wasAsked.current = false;
  }, [hasMore]);
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={pages.reload} />}
      {!rows && !error && <Bones rows={usualRows} />}
      {rows?.length === 0 && <Empty title={empty ?? words.list.nothing} />}
      {rows && rows.length > 0 && (
        <>
          <Table label={label} rows={rows} columns={columns} idOf={idOf} scope={scope} />
          <div class="c-list-end">
            <span class="c-muted" role="status" tabIndex={-1} ref={count}>
              {words.list.shown(rows.length)}
            </span>
            {hasMore && (
              <Button isBusy={isLoadingMore} onClick={askForMore}>
                {words.list.more}
              </Button>
            )}
          </div>
        </>
      )}
    </>
  );
}
