/* Changes of the keys of records: their letters, and how deep they are. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  component,
  type Given,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';

import { matchesOf, valueAtPath } from '../run/paths.ts';
import { pythonText } from '../values/printing.ts';
import type { Transformation } from './transformations.ts';

type Data = Record<string, unknown>;

function replaceContent(record: Data, entries: Iterable<[string, unknown]>): void {
  const all = [...entries];
  for (const key of Object.keys(record)) delete record[key];
  for (const [key, value] of all) {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

function makeKeysToLower(): Transformation {
  return (record) =>
    replaceContent(
      record,
      Object.entries(record).map(([key, value]) => [key.toLowerCase(), value]),
    );
}

/** Words of a key: runs of capitals, capitalized or small words, and numbers. */
const word = /[A-Z]+[a-z]*|[a-z]+|\d+|[^a-zA-Z\d]+/g;

/** Letters that are not a plain letter with a mark. */
const plainLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
};
const notPlain = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');

function snakeCase(key: string): string {
  const plain = key
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(notPlain, (letter) => plainLetters[letter] ?? letter);
  const parts = (plain.match(word) ?? []).map((part) => (/[a-zA-Z\d]/.test(part) ? part.toLowerCase() : ''));
  // Separators between words are dropped, except at the start and end of a key.
  const kept = parts.filter((part, index) => part !== '' || index === 0 || index === parts.length - 1);
  if (/^\d/.test(kept[0] ?? '')) kept.unshift('');
  return kept.join('_');
}

function makeKeysToSnakeCase(): Transformation {
  const change = (value: unknown): unknown => {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [snakeCase(key), change(item)]));
  };
  return (record) => replaceContent(record, Object.entries(change(record) as Data));
}

function makeKeysReplace(given: Given): Transformation {
  const [old, next] = [given.template('old'), given.template('new')];
  return (record, names) => {
    const [from, to] = [old, next].map((part) => part?.text({ ...names, record }) ?? '');
    const change = (value: unknown): unknown => {
      if (!isJsonObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [from ? key.replaceAll(from, to ?? '') : key, change(item)]),
      );
    };
    replaceContent(record, Object.entries(change(record) as Data));
  };
}

/**
 * From the last field to the first, like the reference runtime. A key is prefixed with those of its ancestors if the
 * short key is taken, and always after a list.
 */
function makeFlattenFields(given: Given): Transformation {
  const withLists = given.flag('flatten_lists', true);
  return (record) => {
    const flat = new Map<string, unknown>();
    const waiting: [unknown, string][] = [[record, '_']];
    let isBehindList = false;
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [value, key] = next;
      if (isJsonObject(value)) {
        for (const [name, item] of Object.entries(value)) {
          waiting.push([item, isBehindList || flat.has(name) ? `${key}.${name}` : name]);
        }
      } else if (Array.isArray(value) && withLists) {
        isBehindList ||= value.length > 0;
        for (const [index, item] of value.entries()) waiting.push([item, `${key}.${index}`]);
      } else flat.set(key, value);
    }
    replaceContent(record, flat);
  };
}

function makeDpathFlattenFields(given: Given): Transformation {
  const path = given.texts('field_path').map((key) => given.asTemplate(key));
  const keyChange = given.child<(key: string) => string>('key_transformation') ?? ((key: string) => key);
  return (record, names) => {
    const keys = path.map((key) => key.text({ ...names, record }));
    const value = (keys.includes('*') ? matchesOf(record, keys)[0] : valueAtPath(record, keys))?.value;
    if (!isJsonObject(value)) return;
    const flat = Object.fromEntries(Object.entries(value).map(([key, item]) => [keyChange(key), item]));
    if (given.flag('replace_record') && Object.keys(flat).length > 0) {
      replaceContent(record, Object.entries(flat));
      return;
    }
    // If a key already exists, the object is unchanged.
    if (Object.keys(flat).some((key) => Object.hasOwn(record, key))) return;
    if (given.flag('delete_origin_value')) removeAt(record, keys);
    Object.assign(record, flat);
  };
}

function removeAt(record: Data, keys: readonly string[]): void {
  for (const { parent, key } of matchesOf(record, keys)) if (!Array.isArray(parent)) delete parent[key];
}

function makeKeyTransformation(given: Given): (key: string) => string {
  const [prefix, suffix] = ['prefix', 'suffix'].map((option) => pythonText(given.rendered(option, '') ?? ''));
  return (key) => `${prefix}${key}${suffix}`;
}

export const keyTransformationComponents: ComponentDefinition[] = [
  {
    name: 'KeysToLower',
    step: 'S3',
    words: 'Converts the keys of records to lower case.',
    options: {},
    make: makeKeysToLower,
  },
  {
    name: 'KeysToSnakeCase',
    step: 'S3',
    words: 'Converts keys to snake case, in objects at every depth.',
    options: {},
    make: makeKeysToSnakeCase,
  },
  {
    name: 'KeysReplace',
    step: 'S3',
    words: 'Replaces text in keys at every depth.',
    options: { old: required(template, 'The text to replace.'), new: required(template, 'The replacement.') },
    make: makeKeysReplace,
  },
  {
    name: 'FlattenFields',
    step: 'S3',
    words: 'Flattens nested objects into the record, from the last field to the first.',
    options: { flatten_lists: optional(boolean, 'Also flattens lists, by index.', true) },
    make: makeFlattenFields,
  },
  {
    name: 'DpathFlattenFields',
    step: 'S3',
    words: 'Flattens one nested object into the record.',
    options: {
      field_path: required(list(template), 'Path of the object.'),
      delete_origin_value: optional(boolean, 'Removes the original object.', false),
      replace_record: optional(boolean, 'Replaces the record with the fields of the object.', false),
      key_transformation: optional(component('KeyTransformation'), 'Renames the keys.'),
    },
    make: makeDpathFlattenFields,
  },
  {
    name: 'KeyTransformation',
    step: 'S3',
    words: 'Adds a prefix or suffix to keys.',
    options: { prefix: optional(text, 'The prefix.'), suffix: optional(text, 'The suffix.') },
    make: makeKeyTransformation,
  },
];
