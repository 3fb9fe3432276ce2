/** A table whose first column names and links the row. On narrow screens each row becomes a card. */
import type { ComponentChildren } from 'preact';
import { words } from '../../words/words.ts';
import { useHolding, useSteadyRows } from './steady-rows.ts';

export interface Column<T> {
  title: string;
  cell(row: T): ComponentChildren;
  isNumber?: boolean;
  /** Takes the remaining width. */
  isWide?: boolean;
  /** A user-defined name of any length. Wraps if long. */
  isName?: boolean;
}

export interface TableProps<T> {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  idOf(row: T): string;
  /** Identifies the query. Rows of another query may appear in any order. */
  scope?: string;
}

export function Table<T>({ label, rows, columns, idOf, scope = '' }: TableProps<T>) {
  const { isHeld, holding } = useHolding();
  const steady = useSteadyRows(rows, idOf, { isHeld, scope });
  return (
    <div class="c-table-frame" {...holding}>
      <table class="c-table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)} key={column.title}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steady.rows.map((row) => (
            <tr data-row class={steady.isGone(row) ? 'c-gone' : undefined} key={idOf(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th scope="row" class={classOf(column)} key={column.title}>
                    {column.cell(row)}
                    {steady.isGone(row) && <span class="inlay-unseen"> {words.list.gone}</span>}
                  </th>
                ) : (
                  <td class={classOf(column)} data-title={column.title} key={column.title}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {steady.isWaiting && (
        <p class="c-waiting" role="status">
          {words.list.waiting}
        </p>
      )}
    </div>
  );
}

function classOf<T>({ isNumber, isWide, isName }: Column<T>): string | undefined {
  if (isNumber) return 'c-number';
  if (isWide) return 'c-wide';
  return isName ? 'c-name' : undefined;
}
