/* Changes of records. */
import {
  type ComponentDefinition,
  choice,
  component,
  condition,
  type Given,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import type { Names } from '../interpolation.ts';
import { removeAtPath, removeValues, setAtPath } from '../run/paths.ts';
import type { LiteralType } from '../values/literals.ts';

/** Changes the record in place. The names are those of the record's place: record and stream_slice. */
export type Transformation = (record: Record<string, unknown>, names: Names) => void;

const literalTypes: Record<string, LiteralType[]> = {
  string: ['text'],
  number: ['number'],
  integer: ['integer'],
  boolean: ['boolean'],
  array: ['list'],
  object: ['object'],
};

export const valueTypeOption = optional(
  choice('string', 'number', 'integer', 'boolean', 'array', 'object'),
  'The type of the value. A result of a different type stays a string.',
);

export function literalTypesOf(given: Given): readonly LiteralType[] | undefined {
  return literalTypes[given.text('value_type') ?? ''];
}

function makeAddFields(given: Given): Transformation {
  const rule = given.condition('condition');
  const fields = (given.value('fields') as unknown[]).map((value) => {
    const field = given.inside(value);
    const path = field.texts('path');
    if (path.length === 0) throw new Error('AddFields requires a path with at least one key.');
    return { path, value: given.asTemplate(field.text('value') ?? ''), types: literalTypesOf(field) };
  });
  const { config } = given;
  return (record, names) => {
    const known = { config, ...names, record };
    for (const { path, value, types } of fields) {
      const found = value.valueWith(known, types);
      if (!rule || rule.isMet({ ...known, value: found, path })) setAtPath(record, path, found);
    }
  };
}

function makeRemoveFields(given: Given): Transformation {
  const rule = given.condition('condition');
  const pointers = given.value('field_pointers') as string[][];
  return (record) => {
    for (const pointer of pointers) {
      // With a condition, the reference runtime visits every value of the record, whatever the pointer.
      if (rule) removeValues(record, (value) => rule.isMet({ property: value }));
      else removeAtPath(record, pointer.map(String));
    }
  };
}

export const transformationComponents: ComponentDefinition[] = [
  {
    name: 'AddFields',
    step: 'S1',
    words: 'Adds or overwrites fields of records.',
    options: {
      fields: required(
        list(component('AddedFieldDefinition')),
        'The fields, in order. A field can use those before it.',
      ),
      condition: optional(condition, 'Adds a field only if true. Available: record, value and path.'),
    },
    make: makeAddFields,
  },
  {
    name: 'AddedFieldDefinition',
    step: 'S1',
    words: 'A field to add with AddFields.',
    options: {
      path: required(list(text), 'Path of the field. Missing objects are created.'),
      value: required(template, 'The value. Available: record and stream_slice.'),
      value_type: valueTypeOption,
    },
  },
  {
    name: 'RemoveFields',
    step: 'S1',
    words: 'Removes fields from records.',
    options: {
      field_pointers: required(list(list(text)), 'Paths of the fields. `*` matches any key, `**` any number of keys.'),
      condition: optional(condition, 'Removes only values for which this is true. Available: property.'),
    },
    make: makeRemoveFields,
  },
];
