/*
 * One part of a stream that is read separately: a partition (of a list or of a parent's records), a time interval, or
 * both. Templates see both as one object; additional fields of a parent record are in `extra_fields`.
 */
import { ExactNumber, isJsonObject, survivesDouble } from '@inlay/protocol/json';

export interface Slice {
  partition: Record<string, unknown>;
  cursor: Record<string, unknown>;
  extraFields: Record<string, unknown>;
}

export const wholeStream: Slice = { partition: {}, cursor: {}, extraFields: {} };

const views = new WeakMap<Slice, Record<string, unknown>>();

/** As templates see it. Non-entries can be accessed by name but are not printed. */
export function sliceView(slice: Slice): Record<string, unknown> {
  const known = views.get(slice);
  if (known) return known;
  const view: Record<string, unknown> = { ...slice.partition, ...slice.cursor };
  hide(view, 'extra_fields', slice.extraFields);
  hide(view, 'partition', slice.partition);
  hide(view, 'cursor_slice', slice.cursor);
  views.set(slice, view);
  return view;
}

function hide(view: Record<string, unknown>, name: string, value: unknown): void {
  if (!Object.hasOwn(view, name)) Object.defineProperty(view, name, { value, enumerable: false });
}

const keys = new WeakMap<object, string>();

/** The same for equal partitions, whatever the order of their keys. Partitions are immutable. */
export function partitionKey(partition: unknown): string {
  if (typeof partition !== 'object' || partition === null || partition instanceof ExactNumber)
    return makeKey([partition]);
  let key = keys.get(partition);
  if (key === undefined) {
    key = makeKey(partition);
    keys.set(partition, key);
  }
  return key;
}

function makeKey(partition: object): string {
  return JSON.stringify(partition, function replace(this: Record<string, unknown>, key, value: unknown) {
    // The same partition in an answer and in a state, where 5.0 is 5.
    const given = this[key];
    if (given instanceof ExactNumber) return survivesDouble(given.text) ? Number(given.text) : value;
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });
}
