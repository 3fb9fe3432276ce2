/*
 * One part of a stream that is read on its own: a partition (of a list or of a parent's records), a part of time, or
 * both. Templates see both as one object; what else a parent's record gives stands apart, as `extra_fields`.
 */
export interface Slice {
  partition: Record<string, unknown>;
  cursor: Record<string, unknown>;
  extraFields: Record<string, unknown>;
}

export const wholeStream: Slice = { partition: {}, cursor: {}, extraFields: {} };

const views = new WeakMap<Slice, Record<string, unknown>>();

/** As templates see it. What is no entry of it is found by name, but not printed. */
export function sliceView(slice: Slice): Record<string, unknown> {
  const known = views.get(slice);
  if (known) return known;
  const view = { ...slice.partition, ...slice.cursor };
  const besides = { extra_fields: slice.extraFields, partition: slice.partition, cursor_slice: slice.cursor };
  for (const [name, value] of Object.entries(besides)) {
    if (!Object.hasOwn(view, name)) Object.defineProperty(view, name, { value, enumerable: false });
  }
  views.set(slice, view);
  return view;
}

/** The same for equal partitions, whatever the order of their keys. */
export function partitionKey(partition: unknown): string {
  return JSON.stringify(partition, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
