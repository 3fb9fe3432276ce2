/**
 * A list of texts or numbers, one in each row. Enter adds a row, Backspace in an empty row removes the row, and several
 * lines pasted at once become several rows. Empty rows are ignored.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { FaultText } from './field-frame.tsx';
import { typeOf } from './fields.ts';
import { type ControlProps, faultId, fieldId, useField, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { CrossIcon, PlusIcon } from './icons.tsx';
import { exampleOf, noProse } from './text-controls.tsx';

type Row = string | number;

export function ListControl({ value, onChange }: ControlProps) {
  const words = useWords().form;
  const { field, id, path } = useField();
  const { formId, faults, isDisabled } = useForm();
  const container = useRef<HTMLDivElement>(null);
  const rowToFocus = useRef<number | undefined>(undefined);
  const items = isObject(field.schema.items) ? field.schema.items : {};
  const isNumeric = typeOf(items) !== 'string';
  const held: Row[] = Array.isArray(value) ? value.map((row) => row ?? '') : [];
  const rows = held.length > 0 ? held : [''];

  useLayoutEffect(() => {
    if (rowToFocus.current === undefined) return;
    container.current?.querySelectorAll('input')[rowToFocus.current]?.focus();
    rowToFocus.current = undefined;
  });

  const replace = (index: number, count: number, ...texts: string[]) =>
    onChange(rows.toSpliced(index, count, ...texts));
  const add = (index: number) => {
    rowToFocus.current = index;
    replace(index, 0, '');
  };
  const remove = (index: number) => {
    rowToFocus.current = Math.max(0, index - 1);
    replace(index, 1);
  };

  return (
    <div class="inlay-list" ref={container}>
      {rows.map((row, index) => {
        // Faults count only the rows that hold something.
        const rowId = fieldId(formId, [...path, rows.slice(0, index).filter((earlier) => earlier !== '').length]);
        const fault = row === '' ? undefined : faults.get(rowId);
        const name = words.numbered(field.title, index + 1);
        return (
          <div key={index}>
            <div class="inlay-list-row">
              <input
                {...noProse}
                id={row === '' ? `${id}/row-${index}` : rowId}
                class="inlay-control"
                type="text"
                inputMode={isNumeric ? 'decimal' : 'text'}
                aria-label={name}
                aria-invalid={fault !== undefined}
                aria-describedby={fault && faultId(rowId)}
                disabled={isDisabled}
                placeholder={exampleOf(items) ?? exampleOf(field.schema)}
                value={String(row)}
                onInput={({ currentTarget }) => replace(index, 1, currentTarget.value)}
                onPaste={(event) => {
                  const lines = (event.clipboardData?.getData('text') ?? '')
                    .split(/\r?\n/)
                    .filter((line) => line !== '');
                  if (lines.length < 2) return;
                  event.preventDefault();
                  rowToFocus.current = index + lines.length - 1;
                  replace(index, row === '' ? 1 : 0, ...lines);
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && row !== '' && !event.isComposing) {
                    event.preventDefault();
                    add(index + 1);
                  }
                  if (event.key === 'Backspace' && row === '' && rows.length > 1) {
                    event.preventDefault();
                    remove(index);
                  }
                }}
              />
              {(rows.length > 1 || row !== '') && (
                <button
                  type="button"
                  class="inlay-icon-button"
                  disabled={isDisabled}
                  aria-label={words.remove(name)}
                  onClick={() => remove(index)}
                >
                  <CrossIcon />
                </button>
              )}
            </div>
            {fault && <FaultText id={rowId} message={fault} />}
          </div>
        );
      })}
      {rows.at(-1) !== '' && (
        <button
          type="button"
          class="inlay-form-button"
          disabled={isDisabled}
          aria-label={words.addTo(field.title)}
          onClick={() => add(rows.length)}
        >
          <PlusIcon />
          {words.add}
        </button>
      )}
    </div>
  );
}
