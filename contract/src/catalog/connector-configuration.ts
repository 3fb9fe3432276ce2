/**
 * What happens to a connector's configuration on its way in and out of an API: merging, masking secrets, and keeping
 * the secrets that a caller only saw masked. Pure functions of a specification (JSON Schema) and values.
 *
 * What always holds: a value under a property marked `airbyte_secret` never leaves unmasked, whichever branch of a
 * `oneOf` it stands in, and a row of asterisks is never taken for a secret.
 */

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export type Configuration = Record<string, unknown>;

const SECRET_MASK = '*'.repeat(10);

/** Objects are merged key by key; anything else, arrays and null included, replaces what was there. */
export function mergeConfiguration(stored: Configuration, patch: Configuration): Configuration {
  const merged: Configuration = { ...stored };
  for (const [key, value] of Object.entries(patch)) {
    const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
    merged[key] = isObject(before) && isObject(value) ? mergeConfiguration(before, value) : value;
  }
  return merged;
}

export function maskSecrets(specification: JsonSchema, configuration: Configuration): Configuration {
  return mapSecrets([specification], configuration, configuration, mask) as Configuration;
}

const mask: Replace = (secret) => (secret === null ? null : SECRET_MASK);

/** Callers send back the masks that they were shown. A mask without a stored value behind it is dropped. */
export function keepMaskedSecrets(
  specification: JsonSchema,
  incoming: Configuration,
  stored: Configuration,
): Configuration {
  return mapSecrets([specification], incoming, stored, (secret, before) =>
    isMask(secret) ? before : secret,
  ) as Configuration;
}

/** Whether a caller has sent back what it was shown in place of a secret. */
export function isMask(value: unknown): boolean {
  return typeof value === 'string' && /^\*+$/.test(value);
}

/** All secret strings, including those inside secret objects, so that logs can redact them. */
export function listSecrets(specification: JsonSchema, configuration: Configuration): string[] {
  const secrets: string[] = [];
  mapSecrets([specification], configuration, configuration, (secret) => {
    secrets.push(...textsIn(secret));
    return secret;
  });
  return secrets;
}

/** The strings and numbers in a value, however deep, as text. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Replaces each secret. */
export function replaceSecrets(
  specification: JsonSchema,
  configuration: Configuration,
  replace: (secret: unknown) => unknown,
): Configuration {
  return mapSecrets([specification], configuration, configuration, replace) as Configuration;
}

type Replace = (secret: unknown, before: unknown) => unknown;

/**
 * Walks a value along every schema that may describe it: all branches of a `oneOf` count, chosen or not, since it is
 * better to mask one value too many. `before` is walked alongside and handed over where a secret is found.
 */
function mapSecrets(schemas: readonly JsonSchema[], value: unknown, before: unknown, replace: Replace): unknown {
  const described = describedBy(schemas);
  if (described.some((schema) => schema.airbyte_secret === true)) return replace(value, before);
  if (Array.isArray(value)) {
    const items = described.flatMap((schema) => (isObject(schema.items) ? [schema.items] : []));
    return value
      .map((item, index) => mapSecrets(items, item, itemBefore(items, value, index, before), replace))
      .filter((item) => item !== undefined);
  }
  if (!isObject(value)) return value;
  const result: Configuration = {};
  for (const [key, member] of Object.entries(value)) {
    const of = described.flatMap((schema) => propertySchema(schema, key));
    const memberBefore = isObject(before) && Object.hasOwn(before, key) ? before[key] : undefined;
    const mapped = mapSecrets(of, member, memberBefore, replace);
    if (mapped !== undefined) result[key] = mapped;
  }
  return result;
}

/**
 * Finds the stored item that a sent item of a list stands for: the item at the same place, or, when the length of the
 * list has changed, the only stored item that looks the same when masked. So a secret does not move to another item
 * because an item above was removed.
 */
function itemBefore(schemas: readonly JsonSchema[], list: unknown[], index: number, before: unknown): unknown {
  if (!Array.isArray(before)) return undefined;
  if (before.length === list.length) return before[index];
  const shown = asText(mapSecrets(schemas, list[index], undefined, mask));
  const alike = before.filter((item) => asText(mapSecrets(schemas, item, undefined, mask)) === shown);
  return alike.length === 1 ? alike[0] : undefined;
}

/** The value as JSON that does not depend on the order of the keys. */
function asText(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** The schemas with all their branches, chosen or not. */
export function describedBy(schemas: readonly JsonSchema[]): JsonSchema[] {
  return schemas.flatMap(withBranches);
}

function withBranches(schema: JsonSchema): JsonSchema[] {
  const branches = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [schema, ...branches.filter(isObject).flatMap(withBranches)];
}

/** Whether a value of one of these schemas may be or contain a secret. */
export function holdsSecret(schemas: readonly JsonSchema[]): boolean {
  return describedBy(schemas).some(({ airbyte_secret, items, properties }) => {
    if (airbyte_secret === true) return true;
    const inside = [items, ...(isObject(properties) ? Object.values(properties) : [])].filter(isObject);
    return holdsSecret(inside);
  });
}

function propertySchema(schema: JsonSchema, key: string): JsonSchema[] {
  const { properties } = schema;
  if (!isObject(properties) || !Object.hasOwn(properties, key)) return [];
  const property = properties[key];
  return isObject(property) ? [property] : [];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
