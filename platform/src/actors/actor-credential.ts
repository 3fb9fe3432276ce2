/**
 * What a credential means for a configuration: which of its fields are left open, and how they are filled when the connector
 * starts. Pure.
 *
 * Invariant: a stored configuration has no values in the fields of its credential, so text that a customer enters there
 * is never used, and no token is ever stored.
 */
import { type Configuration, isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { ActorRow } from '../db/tables.ts';
import type { ActorCredential } from './requests.ts';

/**
 * Placeholder for values that a connector requires but must not get, such as a refresh token. Long enough to pass as a
 * value.
 */
const placeholder = 'set-by-the-sign-in';

export function readCredential({ credential }: Pick<ActorRow, 'credential'>): ActorCredential | undefined {
  return credential === null ? undefined : JSON.parse(credential);
}

export function withoutFields(configuration: Configuration, { fields }: ActorCredential): Configuration {
  return Object.values(fields).reduce<Configuration>(withoutValue, configuration);
}

export function filled(
  configuration: Configuration,
  { fields }: Pick<ActorCredential, 'fields'>,
  values: Readonly<Record<string, string>> = {},
): Configuration {
  return Object.entries(fields).reduce<Configuration>(
    (result, [name, path]) => withValue(result, path, Object.hasOwn(values, name) ? values[name] : placeholder),
    configuration,
  );
}

/** The values that a configuration has in the fields of a credential, by name. Placeholders do not count. */
export function valuesAt(configuration: Configuration, { fields }: ActorCredential): Record<string, string> {
  const found = Object.entries(fields).flatMap(([name, path]) => {
    const value = valueAt(configuration, path);
    const isValue = (typeof value === 'string' && value !== placeholder) || typeof value === 'number';
    return isValue ? [[name, String(value)] as const] : [];
  });
  return Object.fromEntries(found);
}

/**
 * The specification without the rules for these fields, whose values are not known yet. All other rules still apply,
 * including that the fields exist.
 */
export function withOpenFields(specification: JsonSchema, { fields }: ActorCredential): JsonSchema {
  return Object.values(fields).reduce<JsonSchema>(withOpenField, specification);
}

function withOpenField(schema: JsonSchema, [key, ...rest]: readonly string[]): JsonSchema {
  if (key === undefined) return {};
  const opened: Record<string, unknown> = { ...schema };
  for (const branches of ['oneOf', 'anyOf', 'allOf']) {
    const list = schema[branches];
    if (Array.isArray(list))
      opened[branches] = list.map((each) => (isObject(each) ? withOpenField(each, [key, ...rest]) : each));
  }
  const { properties } = schema;
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (isObject(property)) opened.properties = { ...(properties as object), [key]: withOpenField(property, rest) };
  return opened;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}

/**
 * Sets a value in a copy, creating missing objects on the path. A computed key is always an own property, whatever its
 * name.
 */
function withValue(configuration: Configuration, [key, ...rest]: readonly string[], value: unknown): Configuration {
  if (key === undefined) return configuration;
  const inner = Object.hasOwn(configuration, key) ? configuration[key] : undefined;
  return { ...configuration, [key]: rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value) };
}

function withoutValue(configuration: Configuration, [key, ...rest]: readonly string[]): Configuration {
  if (key === undefined || !Object.hasOwn(configuration, key)) return configuration;
  const { [key]: inner, ...others } = configuration;
  if (rest.length === 0) return others;
  return isObject(inner) ? { ...configuration, [key]: withoutValue(inner, rest) } : configuration;
}
