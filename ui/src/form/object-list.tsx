/** A list of objects: a card for each, with a button to remove it, and below the cards a button to add another. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { initialValue } from './configuration.ts';
import type { ObjectListField } from './fields.ts';
import { type OuterFieldProps, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { CrossIcon, PlusIcon } from './icons.tsx';

export function ObjectList({ field, path, value, Inner }: OuterFieldProps<ObjectListField>) {
  const words = useWords().form;
  const { change, isDisabled } = useForm();
  const container = useRef<HTMLDivElement>(null);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const keys = useRef<{ next: number; of: number[] }>({ next: 0, of: [] });
  // An item keeps its key when an item above it is removed. So its controls keep their state, for example a saved
  // secret.
  while (keys.current.of.length < items.length) keys.current.of.push(keys.current.next++);
  const count = useRef(items.length);

  // The focus goes to the new item after adding, and to the button below after removing, because the pressed button is
  // gone.
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

  const remove = (index: number) => {
    keys.current.of.splice(index, 1);
    change(path, items.toSpliced(index, 1));
  };
  return (
    <div class="inlay-items" ref={container}>
      {items.map((item, index) => (
        <div class="inlay-item" key={keys.current.of[index]}>
          <Inner field={field.item} path={[...path, index]} value={item} />
          <button
            type="button"
            class="inlay-icon-button inlay-item-remove"
            disabled={isDisabled}
            aria-label={words.remove(words.numbered(field.item.title, index + 1))}
            onClick={() => remove(index)}
          >
            <CrossIcon />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="inlay-form-button"
        disabled={isDisabled}
        aria-label={words.addTo(field.title)}
        onClick={() => change(path, [...items, initialValue(field.item)])}
      >
        <PlusIcon />
        {words.add}
      </button>
    </div>
  );
}
