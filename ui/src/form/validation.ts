/**
 * What is wrong with a configuration before it is sent, each fault beside its field and in the customer's language.
 *
 * Invariants: only visible fields have faults, because the customer can't correct the others. Values unchanged since the form
 * was opened have none, because they were accepted before and may be masks. The service validates everything again.
 */
import { deepCompareStrict, type Schema, Validator } from '@cfworker/json-schema';
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { chosenBranch, memberOf, type Path } from './configuration.ts';
import { type Field, type ObjectField, optionsOf, typeOf } from './fields.ts';
import type { FormWords } from './form-words.ts';
import { isQuick } from './quick-pattern.ts';

export interface FieldFault {
  /** into the configuration */
  path: Path;
  message: string;
}

type FaultWords = FormWords['faults'];

/** The faults in the order of the fields. `before` is what the form was opened with. */
export function faultsOf(
  field: Field,
  value: unknown,
  words: FaultWords,
  before?: unknown,
  path: Path = [],
): FieldFault[] {
  if (!field.isShown) return [];
  if (value === undefined) return field.required ? [{ path, message: missing(field, words) }] : [];
  const inside = (inner: Field, key: string | number) =>
    faultsOf(inner, memberOf(value, key), words, memberOf(before, key), [...path, key]);
  const insideAll = ({ fields }: ObjectField) => fields.flatMap((inner) => inside(inner, inner.key));

  if (field.kind === 'object') return insideAll(field);
  if (field.kind === 'choice') {
    const branch = chosenBranch(field, value);
    return branch ? insideAll(branch) : [{ path, message: words.choose }];
  }
  if (before !== undefined && deepCompareStrict(value, before)) return [];
  const message = messageFor(field.schema, value, words, field.kind);
  const own = message === undefined ? [] : [{ path, message }];
  if (!Array.isArray(value)) return own;
  if (field.kind === 'objects') return [...own, ...value.flatMap((_, index) => inside(field.item, index))];
  if (field.kind !== 'list') return own;
  const items = isObject(field.schema.items) ? field.schema.items : {};
  return [
    ...own,
    ...value.flatMap((item, index) => {
      const fault = messageFor(items, item, words, 'text');
      return fault === undefined ? [] : [{ path: [...path, index], message: fault }];
    }),
  ];
}

function missing({ kind }: Field, words: FaultWords): string {
  return ['select', 'choice', 'checkboxes'].includes(kind) ? words.choose : words.required;
}

/** The keywords that the validation library checks for one value, without its members. */
const keywords = [
  ...['type', 'enum', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems'],
];
const formats = new Set(['date', 'date-time', 'time', 'email', 'uri', 'hostname', 'ipv4', 'ipv6', 'uuid']);

function messageFor(schema: JsonSchema, value: unknown, words: FaultWords, kind: Field['kind']): string | undefined {
  const asked = Object.fromEntries(keywords.filter((name) => name in schema).map((name) => [name, schema[name]]));
  const [error] = new Validator(asked as Schema, '7').validate(value).errors;
  if (error) return messageOf(error.keyword, schema, words, kind);
  if (typeof value !== 'string') return undefined;
  const pattern = compiled(schema.pattern, value.length);
  if (pattern) return pattern.test(value) ? undefined : patternMessage(schema, words);
  // A pattern is more exact than a format and often differs from it, so the pattern decides.
  if (typeof schema.format !== 'string' || !formats.has(schema.format)) return undefined;
  return new Validator({ format: schema.format }, '7').validate(value).valid ? undefined : formatMessage(schema, words);
}

/**
 * Specifications are written for several programming languages: a pattern that JavaScript does not understand is left
 * to the connector's check. A pattern that might freeze the page is left to the service.
 */
export function compiled(pattern: unknown, textLength: number): RegExp | undefined {
  if (typeof pattern !== 'string' || !isQuick(pattern, textLength)) return undefined;
  try {
    return new RegExp(pattern, 'u');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function messageOf(keyword: string, schema: JsonSchema, words: FaultWords, kind: Field['kind']): string {
  const limit = Number(schema[keyword]);
  switch (keyword) {
    case 'type':
      if (kind === 'json') return words.json;
      return typeOf(schema) === 'integer' ? words.integer : typeOf(schema) === 'number' ? words.number : words.other;
    case 'enum':
      return optionsOf(schema) ? words.choose : words.other;
    case 'minimum':
      return words.minimum(limit);
    case 'maximum':
      return words.maximum(limit);
    case 'exclusiveMinimum':
      return words.moreThan(limit);
    case 'exclusiveMaximum':
      return words.lessThan(limit);
    case 'multipleOf':
      return words.multipleOf(limit);
    case 'minLength':
      return limit === 1 ? words.required : words.minLength(limit);
    case 'maxLength':
      return words.maxLength(limit);
    case 'minItems':
      return words.minItems(limit);
    case 'maxItems':
      return words.maxItems(limit);
    case 'uniqueItems':
      return words.uniqueItems;
    default:
      return words.other;
  }
}

function patternMessage({ pattern_descriptor: wanted }: JsonSchema, words: FaultWords): string {
  return typeof wanted === 'string' && wanted !== '' ? words.pattern(wanted) : words.format.other;
}

function formatMessage({ format }: JsonSchema, words: FaultWords): string {
  const named = words.format as Record<string, string>;
  return named[String(format)] ?? words.format.other;
}

/** The longest beginning of a path that leads to a visible field. Undefined: no part of it does. */
export function shownPart(root: ObjectField, configuration: unknown, path: Path): Path | undefined {
  let field: Field = root;
  let value = configuration;
  let depth = 0;
  for (const key of path) {
    const inner = innerField(field, value, key);
    if (!inner?.isShown) break;
    [field, value, depth] = [inner, memberOf(value, key), depth + 1];
  }
  const isRow = field.kind === 'list' && typeof path[depth] === 'number';
  return depth === 0 ? undefined : path.slice(0, isRow ? depth + 1 : depth);
}

function innerField(field: Field, value: unknown, key: string | number): Field | undefined {
  if (field.kind === 'objects') return memberOf(value, key) === undefined ? undefined : field.item;
  const form = field.kind === 'choice' ? chosenBranch(field, value) : field.kind === 'object' ? field : undefined;
  return form?.fields.find((inner) => inner.key === key);
}

/**
 * The title of the field that a path leads to, after the title of its list item. Empty: the path leads to no known
 * field.
 */
export function titleAt(root: ObjectField, configuration: unknown, path: Path, words: FormWords): string {
  let field: Field = root;
  let value = configuration;
  const titles: string[] = [];
  for (const key of path) {
    const inner = innerField(field, value, key);
    if (typeof key === 'number') titles.push(words.numbered((inner ?? field).title, key + 1));
    if (!inner) break;
    [field, value] = [inner, memberOf(value, key)];
  }
  const isNamed = field !== root && typeof path.at(-1) !== 'number';
  return [...titles, ...(isNamed ? [field.title] : [])].join(': ');
}
