/**
 * The values of a form from opening to submitting: a new form is filled with defaults, the form of an existing source
 * with its configuration, and at the end the values become a configuration again.
 *
 * Invariants: an unchanged configuration is submitted unchanged, including unknown keys, empty texts and masked secrets; empty
 * fields are absent; constants are always present.
 */
import { deepCompareStrict } from '@cfworker/json-schema';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { type ChoiceField, type Field, fixedValue, type ObjectField, typeOf } from './fields.ts';

export type Value = Record<string, unknown>;

/** Keys and places in lists, from the whole configuration to something in it. */
export type Path = readonly (string | number)[];

/** What a field holds when there is no configuration yet. Undefined: nothing. */
export function initialValue(field: Field): unknown {
  const { schema, required } = field;
  switch (field.kind) {
    case 'constant':
      return fixedValue(schema);
    case 'object':
      return { ...initialObject(field), ...(isObject(schema.default) ? schema.default : {}) };
    case 'choice': {
      const preset = isObject(schema.default) ? schema.default : {};
      const branch = chosenBranch(field, preset) ?? field.branches[0];
      return branch ? { ...initialObject(branch), ...preset } : preset;
    }
    case 'objects':
      return Array.isArray(schema.default) ? schema.default : required ? [initialValue(field.item)] : undefined;
    case 'switch':
      return typeof schema.default === 'boolean' ? schema.default : required ? false : undefined;
    default:
      return schema.default ?? undefined;
  }
}

function initialObject({ fields }: ObjectField): Value {
  return withoutAbsent(fields.map((field) => [field.key, initialValue(field)]));
}

/** What a field holds when it is opened with a value: only required values are added. */
export function openedValue(field: Field, value: unknown): unknown {
  if (field.kind === 'objects' && Array.isArray(value)) return value.map((item) => openedValue(field.item, item));
  const fields = field.kind === 'choice' ? chosenBranch(field, value)?.fields : field.kind === 'object' && field.fields;
  if (!fields || !isObject(value)) return value;
  const opened = fields.map((inner): [string, unknown] => {
    if (inner.kind === 'constant') return [inner.key, initialValue(inner)];
    if (Object.hasOwn(value, inner.key)) return [inner.key, openedValue(inner, value[inner.key])];
    return [inner.key, inner.required ? initialValue(inner) : undefined];
  });
  return { ...value, ...withoutAbsent(opened) };
}

/** What is sent for a field; `before` is the value that the field was opened with. Undefined: the field is left out. */
export function submittedValue(field: Field, current: unknown, before?: unknown): unknown {
  if (before !== undefined && deepCompareStrict(current, before)) return before;
  switch (field.kind) {
    case 'constant':
      return fixedValue(field.schema);
    case 'object':
      return submittedObject(field, field, current, before);
    case 'choice':
      return submittedObject(field, chosenBranch(field, current), current, before);
    case 'objects':
      return Array.isArray(current) && current.length > 0
        ? current.map((item, index) => submittedValue(field.item, item ?? {}, memberOf(before, index)))
        : undefined;
    case 'list':
    case 'checkboxes': {
      const items = Array.isArray(current) ? current.filter((item) => !isEmpty(item)) : [];
      return items.length > 0 ? items.map((item) => submittedItem(field, item)) : undefined;
    }
    case 'select':
      return current ?? undefined;
    default:
      return isEmpty(current) ? undefined : current;
  }
}

/** Rows are typed as text. Text that isn't a number is kept, and is a fault. */
function submittedItem({ schema, kind }: Field, item: unknown): unknown {
  const isNumeric = kind === 'list' && isObject(schema.items) && typeOf(schema.items) !== 'string';
  return isNumeric && typeof item === 'string' && Number.isFinite(Number(item)) ? Number(item) : item;
}

function submittedObject(
  field: ObjectField | ChoiceField,
  form: ObjectField | undefined,
  current: unknown,
  before: unknown,
): Value | undefined {
  if (!isObject(current) || !form) return isObject(current) || field.required ? {} : undefined;
  const known = new Set(form.fields.map(({ key }) => key));
  const others = Object.entries(current).filter(([key]) => !known.has(key));
  const submitted = withoutAbsent([
    ...others,
    ...form.fields.map((inner): [string, unknown] => {
      return [inner.key, submittedValue(inner, memberOf(current, inner.key), memberOf(before, inner.key))];
    }),
  ]);
  if (field.required || before !== undefined) return submitted;
  return isUnwanted(field, form, submitted) ? undefined : submitted;
}

/** An optional object without entries needs no completion. */
function isUnwanted(field: ObjectField | ChoiceField, form: ObjectField, submitted: Value): boolean {
  if (Object.keys(submitted).length === 0) return true;
  if (isComplete(form, submitted)) return false;
  return deepCompareStrict(submitted, submittedValue({ ...field, required: true }, initialValue(field)));
}

function isComplete(form: ObjectField, value: Value): boolean {
  return form.fields.every((field) => {
    const member = memberOf(value, field.key);
    if (member === undefined) return !field.required;
    if (field.kind === 'object') return isObject(member) && isComplete(field, member);
    if (field.kind !== 'choice') return true;
    const branch = chosenBranch(field, member);
    return branch !== undefined && isObject(member) && isComplete(branch, member);
  });
}

/** The branch that fits a value; undefined if none does or the value is ambiguous. */
export function chosenBranch({ branches }: ChoiceField, value: unknown): ObjectField | undefined {
  if (!isObject(value)) return undefined;
  const isTagged = branches.every(({ fields }) => fields.some(({ kind }) => kind === 'constant'));
  let best: ObjectField | undefined;
  let bestFit = -1;
  for (const branch of branches) {
    const fit = fitOf(branch, value, isTagged);
    if (fit > bestFit) [best, bestFit] = [branch, fit];
  }
  return best;
}

/** How many keys of the value a branch knows; less than zero when the value cannot belong to this branch. */
function fitOf({ fields }: ObjectField, value: Value, isTagged: boolean): number {
  const constants = fields.filter(({ key, kind }) => kind === 'constant' && Object.hasOwn(value, key));
  if (constants.some(({ key, schema }) => !deepCompareStrict(value[key], fixedValue(schema)))) return -1;
  if (isTagged && constants.length === 0) return -1;
  if (!isTagged && fields.some(({ key, required }) => required && !Object.hasOwn(value, key))) return -1;
  return fields.filter(({ key }) => Object.hasOwn(value, key)).length;
}

/**
 * What a choice holds after another branch is chosen: the values that both branches know, and the defaults of the new
 * one. `earlier` is what the new branch held when it was last chosen, so that looking at another branch loses nothing.
 */
export function switchBranch(from: ObjectField | undefined, to: ObjectField, value: unknown, earlier?: Value): Value {
  const shared = to.fields.filter(
    (field) => field.kind !== 'constant' && from?.fields.some((other) => isSameQuestion(field, other)),
  );
  const kept = shared.map((field): [string, unknown] => [field.key, memberOf(value, field.key)]);
  return { ...(earlier ?? initialObject(to)), ...withoutAbsent(kept) };
}

function isSameQuestion(a: Field, b: Field): boolean {
  if (a.key !== b.key || a.kind !== b.kind || a.kind === 'choice') return false;
  return a.kind !== 'select' || deepCompareStrict(a.schema.enum, b.schema.enum);
}

export function memberOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}

/** A copy with another value in one place. Missing objects on the path are made; undefined removes the value. */
export function withValueAt(whole: unknown, path: Path, next: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  const inner = withValueAt(memberOf(whole, key), rest, next);
  if (Array.isArray(whole)) return whole.map((item, index) => (index === key ? inner : item));
  const object = isObject(whole) ? whole : {};
  if (inner !== undefined) return { ...object, [key]: inner };
  const { [key]: _gone, ...others } = object;
  return others;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function withoutAbsent(entries: readonly [string, unknown][]): Value {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
