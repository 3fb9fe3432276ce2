/** A list of objects: a card for each, with a button to remove it, and one below to add another. */

import ArrayFieldOfLibrary from '@rjsf/core/lib/components/fields/ArrayField.js';
import type { ArrayFieldItemTemplateProps, ArrayFieldTemplateProps, FieldProps } from '@rjsf/utils';
import type { FunctionComponent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useWords } from '../words/words.ts';
import { initialValue } from './configuration.ts';
import type { ObjectListField } from './fields.ts';
import { useField } from './form-context.ts';
import { CrossIcon, PlusIcon } from './icons.tsx';
import { fieldOf } from './library-schema.ts';

/** As the library types its other fields. */
const LibraryArrayField = ArrayFieldOfLibrary as unknown as FunctionComponent<FieldProps>;

/** Knows what a new item holds; the library does not know the defaults. */
export function ArrayField(props: FieldProps) {
  const field = fieldOf(props.uiSchema);
  if (field.kind !== 'objects') return <LibraryArrayField {...props} />;
  const change: typeof props.onChange = (value, path, ...rest) => {
    const isThisList = path.length === props.fieldPathId.path.length;
    const filled = isThisList && Array.isArray(value) ? value.map((item) => item ?? initialValue(field.item)) : value;
    props.onChange(filled, path, ...rest);
  };
  return <LibraryArrayField {...props} onChange={change} />;
}

export function ArrayFieldTemplate({ items, canAdd, onAddClick, disabled, uiSchema }: ArrayFieldTemplateProps) {
  const words = useWords().form;
  const { title } = fieldOf<ObjectListField>(uiSchema);
  const container = useRef<HTMLDivElement>(null);
  const count = useRef(items.length);

  // After adding, the new item; after removing, the button below: the one that was pressed is gone.
  useLayoutEffect(() => {
    const isMore = items.length > count.current;
    if (items.length === count.current) return;
    count.current = items.length;
    const cards = container.current?.querySelectorAll(':scope > .inlay-item');
    const place = isMore ? cards?.[items.length - 1] : container.current?.querySelector(':scope > .inlay-form-button');
    const control =
      place instanceof HTMLButtonElement ? place : place?.querySelector<HTMLElement>('input, select, textarea');
    control?.focus();
  }, [items.length]);

  return (
    <div class="inlay-items" ref={container}>
      {items}
      {canAdd && (
        <button
          type="button"
          class="inlay-form-button"
          disabled={disabled}
          aria-label={words.addTo(title)}
          onClick={(event) => onAddClick(event)}
        >
          <PlusIcon />
          {words.add}
        </button>
      )}
    </div>
  );
}

export function ArrayFieldItemTemplate({ children, buttonsProps, index, disabled }: ArrayFieldItemTemplateProps) {
  const words = useWords().form;
  const { field } = useField();
  const title = field.kind === 'objects' ? field.item.title : field.title;
  return (
    <div class="inlay-item">
      {children}
      <button
        type="button"
        class="inlay-icon-button inlay-item-remove"
        disabled={disabled}
        aria-label={words.remove(words.numbered(title, index + 1))}
        onClick={(event) => buttonsProps.onRemoveItem(event)}
      >
        <CrossIcon />
      </button>
    </div>
  );
}
