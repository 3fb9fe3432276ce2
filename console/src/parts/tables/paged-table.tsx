/** A paged list with its loading, error and empty states. */
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
  /** Text of the empty list. Default: no results match the filters. */
  empty?: string | undefined;
  /** Space to reserve while loading, in rows. */
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
  // The button disappears with the last page. Keep the keyboard focus at the end of the list.
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
