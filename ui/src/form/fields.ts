/**
 * A connector's specification read as a form: which fields there are, of which kind, in which order and under which
 * titles. The only file that knows how specifications spell these things; the rest works on fields.
 *
 * Invariant: every property of the specification is a field, including hidden ones (`isShown`), so that walking the fields
 * walks the configuration.
 */
import { holdsSecret, isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export type SimpleKind =
  | 'text'
  | 'long-text'
  | 'secret'
  | 'number'
  | 'switch'
  | 'select'
  | 'checkboxes'
  | 'list'
  | 'date'
  | 'date-time'
  /** A value without a special control is edited as JSON. */
  | 'json'
  /** Always this value; never shown. */
  | 'constant';

interface Common {
  /** Name of the property; empty for the whole configuration and for the items of a list. */
  key: string;
  title: string;
  /** HTML of the connector's author. */
  description: string | undefined;
  required: boolean;
  isShown: boolean;
  /** Never folded away, even if it is optional. */
  isAlwaysShown: boolean;
  schema: JsonSchema;
}

export interface SimpleField extends Common {
  kind: SimpleKind;
}

export interface ObjectField extends Common {
  kind: 'object';
  /** In the order of the page; hidden fields come last. */
  fields: readonly Field[];
  sections: readonly Section[];
}

/** One of several forms of an object (`oneOf`). */
export interface ChoiceField extends Common {
  kind: 'choice';
  display: 'radio' | 'dropdown';
  branches: readonly ObjectField[];
}

/** A list whose items are objects. */
export interface ObjectListField extends Common {
  kind: 'objects';
  item: ObjectField | ChoiceField;
}

export type Field = SimpleField | ObjectField | ChoiceField | ObjectListField;

/** Fields that are shown together, in order. */
export interface Section {
  title: string | undefined;
  visible: readonly Field[];
  /** Fields that are closed at first and can be opened. */
  folded: readonly Field[];
}

/** `advancedAuth`: the part of a connector's specification that names the fields a sign-in fills. */
export function readSpecification(specification: JsonSchema, advancedAuth?: unknown): ObjectField {
  const signIn = pathsIn(advancedAuth);
  return objectField(
    { key: '', required: true, fallbackTitle: '', schema: specification, signIn },
    groupsOf(specification),
  );
}

interface Place {
  key: string;
  required: boolean;
  fallbackTitle: string;
  schema: JsonSchema;
  /** Paths from here to the fields that `advanced_auth` names. */
  signIn: readonly ConfigurationPath[];
}

type ConfigurationPath = readonly string[];

/** Every path into the configuration that `advanced_auth` names, in whichever of its parts. */
function pathsIn(advancedAuth: unknown): ConfigurationPath[] {
  if (Array.isArray(advancedAuth)) return advancedAuth.flatMap(pathsIn);
  if (!isObject(advancedAuth)) return [];
  return Object.entries(advancedAuth).flatMap(([name, value]) =>
    (name === 'predicate_key' || name === 'path_in_connector_config') && Array.isArray(value)
      ? [value.map(String)]
      : pathsIn(value),
  );
}

function fieldAt(place: Place): Field {
  const { schema } = place;
  const branches = objectBranches(schema);
  if (branches) return choiceField(place, branches);
  if (hasProperties(schema)) return objectField(place);
  if (isObject(schema.items) && (objectBranches(schema.items) || hasProperties(schema.items))) {
    return objectListField(place, schema.items);
  }
  const kind = simpleKind(place);
  return { ...common(place), kind, isShown: kind !== 'constant' && schema.airbyte_hidden !== true };
}

function objectField(place: Place, groups?: readonly Group[]): ObjectField {
  const { schema, signIn } = place;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const fields = properties
    .filter((entry): entry is [string, JsonSchema] => isObject(entry[1]))
    .map(([key, of]) =>
      fieldAt({
        key,
        required: required.has(key),
        fallbackTitle: titleFromKey(key),
        schema: unwrapped(of),
        signIn: signIn.filter(([first]) => first === key).map(([, ...rest]) => rest),
      }),
    )
    .sort(byPlace);
  const sections = sectionsOf(
    fields.filter((field) => field.isShown),
    groups,
  );
  const onPage = sections.flatMap(({ visible, folded }) => [...visible, ...folded]);
  const others = fields.filter((field) => !field.isShown);
  return { ...common(place), kind: 'object', fields: [...onPage, ...others], sections };
}

function choiceField(place: Place, branches: readonly JsonSchema[]): ChoiceField {
  const { schema } = place;
  // Rules beside `oneOf` hold in every branch.
  const { oneOf, title, description, default: _default, order, always_show, airbyte_hidden, ...shared } = schema;
  const tags = fixedInAll(branches);
  const isDisplay = schema.display_type === 'radio' || schema.display_type === 'dropdown';
  return {
    ...common(place),
    kind: 'choice',
    display: isDisplay ? (schema.display_type as 'radio' | 'dropdown') : branches.length <= 3 ? 'radio' : 'dropdown',
    branches: branches.map((branch, index) =>
      objectField({
        key: place.key,
        required: true,
        fallbackTitle: tags.map((tag) => String(fixedValue(propertyOf(branch, tag)))).join(', ') || String(index + 1),
        schema: merged(shared, branch, tags),
        signIn: place.signIn,
      }),
    ),
  };
}

function objectListField(place: Place, items: JsonSchema): ObjectListField {
  const item = fieldAt({ key: '', required: true, fallbackTitle: titleOf(place), schema: items, signIn: [] });
  return { ...common(place), kind: 'objects', item: item as ObjectField | ChoiceField };
}

function common(place: Place): Common {
  const { key, required, schema, signIn } = place;
  const description =
    typeof schema.description === 'string' && schema.description !== '' ? schema.description : undefined;
  return {
    key,
    required,
    schema,
    title: titleOf(place),
    description,
    isShown: schema.airbyte_hidden !== true,
    // Many specifications require no credentials because there are several ways to sign in.
    isAlwaysShown: schema.always_show === true || signIn.length > 0 || holdsSecret([schema]),
  };
}

function simpleKind({ schema, required }: Place): SimpleKind {
  if ('const' in schema || (required && fixedValue(schema) !== undefined)) return 'constant';
  if (optionsOf(schema)) return 'select';
  switch (typeOf(schema)) {
    case 'string':
      return textKind(schema);
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'switch';
    case 'array': {
      if (!isObject(schema.items)) return 'json';
      if (optionsOf(schema.items)) return 'checkboxes';
      return ['string', 'integer', 'number'].includes(typeOf(schema.items) ?? '') ? 'list' : 'json';
    }
    default:
      return 'json';
  }
}

function textKind(schema: JsonSchema): SimpleKind {
  if (schema.airbyte_secret === true) return 'secret';
  if (schema.multiline === true) return 'long-text';
  if (schema.format === 'date' || schema.format === 'date-time') return schema.format;
  return 'text';
}

/** The expected type. Nullable is treated as optional. */
export function typeOf({ type }: JsonSchema): string | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string' && name !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

export interface Option {
  value: unknown;
  label: string;
}

/** The options to choose from: an enumeration, perhaps with names, or constants with titles. */
export function optionsOf(schema: JsonSchema): Option[] | undefined {
  if (Array.isArray(schema.enum)) {
    const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum
      .map((value, index) => {
        const name = names[index];
        return { value, label: typeof name === 'string' && name.trim() !== '' ? name : labelOf(value) };
      })
      .filter(({ value }) => value !== null);
  }
  const constants = Array.isArray(schema.oneOf) ? schema.oneOf : [];
  if (constants.length === 0 || !constants.every((one) => isObject(one) && 'const' in one)) return undefined;
  return constants.map(({ const: value, title }) => ({
    value,
    label: typeof title === 'string' ? title : labelOf(value),
  }));
}

/** A value of spaces only would be invisible, so it is quoted. */
function labelOf(value: unknown): string {
  return typeof value === 'string' && value.trim() !== '' ? value : JSON.stringify(value);
}

/** Newer specifications say `const`; older ones use an enumeration with one value. */
export function fixedValue(schema: JsonSchema): unknown {
  if ('const' in schema) return schema.const;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

function objectBranches(schema: JsonSchema): JsonSchema[] | undefined {
  if (!Array.isArray(schema.oneOf) || schema.oneOf.length === 0) return undefined;
  return schema.oneOf.every((branch) => isObject(branch) && (hasProperties(branch) || branch.type === 'object'))
    ? schema.oneOf
    : undefined;
}

/** The discriminators: properties with a fixed value in every branch. */
function fixedInAll(branches: readonly JsonSchema[]): string[] {
  const [first] = branches;
  const names = isObject(first?.properties) ? Object.keys(first.properties) : [];
  return names.filter((name) => branches.every((branch) => fixedValue(propertyOf(branch, name)) !== undefined));
}

function propertyOf({ properties }: JsonSchema, name: string): JsonSchema {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(property) ? property : {};
}

function merged(shared: JsonSchema, branch: JsonSchema, tags: readonly string[]): JsonSchema {
  const lists = [shared.required, branch.required, tags];
  return {
    ...shared,
    ...branch,
    type: 'object',
    required: [...new Set(lists.flatMap((list) => (Array.isArray(list) ? list : [])))],
    properties: {
      ...(isObject(shared.properties) ? shared.properties : {}),
      ...(isObject(branch.properties) ? branch.properties : {}),
    },
  };
}

/** Some generators wrap a referenced schema in an `allOf` with one member. */
function unwrapped(schema: JsonSchema): JsonSchema {
  const { allOf, ...rest } = schema;
  return Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? { ...allOf[0], ...rest } : schema;
}

function hasProperties({ properties }: JsonSchema): boolean {
  return isObject(properties) && Object.keys(properties).length > 0;
}

function titleOf({ schema, fallbackTitle }: Place): string {
  return typeof schema.title === 'string' && schema.title.trim() !== '' ? schema.title : fallbackTitle;
}

const abbreviation = /^(api|aws|ca|gcp|https?|id|ip|ssh|ssl|sql|tls|url)$/i;

/** `start_date` and `startDate` are both a start date. */
export function titleFromKey(key: string): string {
  const words = key
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => (abbreviation.test(word) ? word.toUpperCase() : word.toLowerCase()));
  const text = words.join(' ');
  return text === '' ? key : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Sorts by `order`. Fields without an order come after those with one; then required before optional, then by name. */
function byPlace(a: Field, b: Field): number {
  const orderOf = ({ schema }: Field) => (typeof schema.order === 'number' ? schema.order : Number.POSITIVE_INFINITY);
  const [first, second] = [orderOf(a), orderOf(b)];
  if (first !== second) return first < second ? -1 : 1;
  if (a.required !== b.required) return a.required ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}

interface Group {
  id: string;
  title: string | undefined;
}

/** Undefined: there are no groups, even if fields name one. */
function groupsOf({ groups }: JsonSchema): Group[] | undefined {
  if (!Array.isArray(groups) || groups.length === 0) return undefined;
  return groups
    .filter((group) => isObject(group) && typeof group.id === 'string')
    .map(({ id, title }) => ({ id, title: typeof title === 'string' && title !== '' ? title : undefined }));
}

/** First the fields without a group, then the groups in their order, then groups that are not in the list, by name. */
function sectionsOf(fields: readonly Field[], groups: readonly Group[] | undefined): Section[] {
  if (!groups) return [section(undefined, fields)];
  const groupOf = ({ schema }: Field) => (typeof schema.group === 'string' ? schema.group : undefined);
  const announced = new Set(groups.map(({ id }) => id));
  const named = fields.map(groupOf).filter((id) => id !== undefined);
  const others = [...new Set(named)].filter((id) => !announced.has(id)).sort();
  const all = [{ id: undefined, title: undefined }, ...groups, ...others.map((id) => ({ id, title: undefined }))];
  return all
    .map(({ id, title }) => ({ title, fields: fields.filter((field) => groupOf(field) === id) }))
    .filter((group) => group.fields.length > 0)
    .map((group) => section(group.title, group.fields));
}

function section(title: string | undefined, fields: readonly Field[]): Section {
  const isVisible = ({ required, isAlwaysShown }: Field) => required || isAlwaysShown;
  return { title, visible: fields.filter(isVisible), folded: fields.filter((field) => !isVisible(field)) };
}
