/* Makes several records of one. */
import { isJsonObject } from '../../kit/json.ts';
import {
  anything,
  boolean,
  type ComponentDefinition,
  choice,
  type Given,
  list,
  optional,
  required,
  template,
} from '../component.ts';
import { matchesOf, setAtPath, valueAtPath } from '../run/paths.ts';
import type { Extractor } from './selection.ts';

function makeExpander(given: Given): Extractor {
  const path = given.texts('expand_records_from_field').map((key) => given.asTemplate(key).text());
  const copied = ((given.value('parent_fields_to_copy') as unknown[] | undefined) ?? []).map((value) =>
    given.inside(value),
  );
  const keepsOriginal = given.flag('remain_original_record');
  const emitsParent = given.text('on_no_records') === 'emit_parent';
  const expand = (record: unknown): unknown[] => {
    if (!isJsonObject(record)) return [record];
    const lists = path.includes('*')
      ? matchesOf(record, path).map(({ value }) => value)
      : [valueAtPath(record, path)?.value];
    const items = lists.filter(Array.isArray).flat();
    if (items.length === 0) return emitsParent ? [record] : [];
    return items.map((item) => {
      if (!isJsonObject(item)) return item;
      const child = { ...item };
      if (keepsOriginal) child.original_record = record;
      for (const field of copied) {
        const found = valueAtPath(record, field.texts('source_field_path'));
        if (found) setAtPath(child, [field.text('target_field') ?? ''], found.value);
      }
      return child;
    });
  };
  return (values) => values.flatMap(expand);
}

export const recordExpanderComponents: ComponentDefinition[] = [
  {
    name: 'RecordExpander',
    step: 'S3',
    words: 'Takes the items of a list inside a record as records.',
    options: {
      expand_records_from_field: required(list(template), 'Where the list is.'),
      remain_original_record: optional(boolean, 'Keeps the record around as original_record.', false),
      on_no_records: optional(choice('skip', 'emit_parent'), 'What to do about a record without items.', 'skip'),
      parent_fields_to_copy: optional(anything, 'Fields of the record around: source_field_path and target_field.'),
    },
    make: makeExpander,
  },
];
