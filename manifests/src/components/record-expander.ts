/* Makes several records of one: the items of a list inside. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  boolean,
  type ComponentDefinition,
  choice,
  component,
  type Given,
  list,
  optional,
  required,
  template,
} from '../component.ts';
import { isNothing } from '../requests/pagination.ts';
import { isPattern, matchesOf, setAtPath, valueAtPath } from '../run/paths.ts';
import { apart, type Retriever } from './retriever-surroundings.ts';
import type { RecordExtractor } from './selection.ts';

type Data = Record<string, unknown>;
/** Adds what an item takes from the record around it. */
type Change = (item: Data, around: Data) => Data;

function makeExpander(given: Given): RecordExtractor {
  const keysOf = (name: string) => given.texts(name).map((key) => given.asTemplate(key).text());
  const path = keysOf('expand_records_from_field');
  const indicator = keysOf('truncation_indicator_path');
  const retriever = given.child<Retriever>('truncated_list_retriever', apart);
  const emitsParent = given.text('on_no_records') === 'emit_parent';
  const changes = makeChanges(given, path);
  const change = (item: unknown, around: Data): unknown => {
    if (changes.length === 0) return isJsonObject(item) ? { ...item } : item;
    const start: Data = isJsonObject(item) ? { ...item } : { value: item };
    return changes.reduce((before, next) => next(before, around), start);
  };
  let hasWarned = false;

  function embedded(record: Data): unknown[] {
    const lists = path.some(isPattern)
      ? matchesOf(record, path).map(({ value }) => value)
      : [valueAtPath(record, path)?.value];
    const items = lists.filter(Array.isArray).flat();
    if (items.length === 0) return emitsParent ? [record] : [];
    return items.map((item) => change(item, record));
  }

  function warn(): void {
    if (hasWarned) return;
    hasWarned = true;
    const { streamName } = given.making;
    given.run.log(
      'WARN',
      `${streamName}: The list at ${path.join('.')} is truncated, and the manifest does not define how to get the rest.`,
    );
  }

  /** The complete list, for a record that has only part of it; nothing if the API has none. */
  async function fetched(record: Data): Promise<unknown[]> {
    const items: unknown[] = [];
    const slice = { partition: { parent_record: record }, cursor: {}, extraFields: {} };
    for await (const page of retriever?.read(slice) ?? []) for (const item of page) items.push(change(item, record));
    return items;
  }

  const isCutOff = (record: Data) => indicator.length > 0 && !isNothing(valueAtPath(record, indicator)?.value);

  if (!retriever) {
    return (values) =>
      values.flatMap((record) => {
        if (!isJsonObject(record) || path.length === 0) return [record];
        if (isCutOff(record)) warn();
        return embedded(record);
      });
  }
  return async (values) => {
    const all: unknown[] = [];
    for (const record of values) {
      if (!isJsonObject(record)) {
        all.push(record);
        continue;
      }
      const whole = isCutOff(record) ? await fetched(record) : [];
      for (const item of whole.length > 0 ? whole : embedded(record)) all.push(item);
    }
    return all;
  };
}

/** In the order of the reference runtime: all of the parent record, then single fields, then the record itself. */
function makeChanges(given: Given, path: readonly string[]): Change[] {
  const changes: Change[] = [];
  if (given.flag('merge_parent')) {
    changes.push((item, around) => ({ ...structuredClone(withoutAt(around, path)), ...item }));
  }
  for (const value of (given.value('parent_fields') as unknown[] | undefined) ?? []) {
    const field = given.inside(value);
    const [from, to] = ['parent_path', 'record_path'].map((name) =>
      field.texts(name).map((key) => given.asTemplate(key).text()),
    ) as [string[], string[]];
    changes.push((item, around) => {
      setAtPath(item, to, structuredClone(valueAtPath(around, from)?.value ?? null));
      return item;
    });
  }
  for (const value of (given.value('parent_fields_to_copy') as unknown[] | undefined) ?? []) {
    const field = given.inside(value);
    changes.push((item, around) => {
      const found = valueAtPath(around, field.texts('source_field_path'));
      if (found) setAtPath(item, [field.text('target_field') ?? ''], found.value);
      return item;
    });
  }
  if (given.flag('remain_original_record')) {
    changes.push((item, around) => ({ ...item, original_record: around }));
  }
  return changes;
}

/** A copy without the values at a path. */
function withoutAt(record: Data, path: readonly string[]): Data {
  const copy = structuredClone(record);
  // From last to first: removing an item of a list shifts those after it.
  for (const { parent, key } of matchesOf(copy, path).reverse()) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  }
  return copy;
}

export const recordExpanderComponents: ComponentDefinition[] = [
  {
    name: 'RecordExpander',
    step: 'S3',
    words: 'Expands a nested list into records.',
    options: {
      expand_records_from_field: required(list(template), 'Path of the list.'),
      remain_original_record: optional(boolean, 'Keeps the parent record as original_record.', false),
      on_no_records: optional(choice('skip', 'emit_parent'), 'What to do with a record without items.', 'skip'),
      parent_fields: optional(list(anything), 'Fields to copy from the parent record: parent_path and record_path.'),
      parent_fields_to_copy: optional(
        anything,
        'Fields to copy from the parent record: source_field_path and target_field.',
      ),
      merge_parent: optional(boolean, 'Copies all parent record fields that an item does not have.', false),
      truncation_indicator_path: optional(list(template), 'Path of the field that says whether the list is truncated.'),
      truncated_list_retriever: optional(
        component('SimpleRetriever', 'CustomRetriever'),
        "Requests the complete list if it is truncated. Available: stream_slice['parent_record'].",
      ),
    },
    rule: ({ truncated_list_retriever: retriever, truncation_indicator_path: path }) =>
      retriever && !path ? 'A truncated_list_retriever requires a truncation_indicator_path' : undefined,
    make: makeExpander,
  },
];
