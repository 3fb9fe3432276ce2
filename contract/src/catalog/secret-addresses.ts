/**
 * Keeps secrets bound to their addresses. A caller who can change where a connector connects to must not be able to
 * send a stored secret there. When an address changes, every secret that would be kept has to be entered again.
 *
 * What counts as an address: what the specification marks (`inlay_address: true`, or `false` where the rules below are
 * wrong), a field with a format such as `uri` or `hostname`, a field whose name or title has a word such as host, port,
 * url, account or ssl, everything inside such a field, and every value that looks like a URL. In doubt a field is an
 * address, because entering a secret once more costs little.
 */
import {
  type Configuration,
  describedBy,
  holdsSecret,
  isMask,
  isObject,
  type JsonSchema,
} from './connector-configuration.ts';

/** The place of a secret in a configuration, as keys. A place in a list is a number, written as text. */
export type SecretPath = string[];

const addressWords = new Set(
  (
    'host hosts hostname hostnames port ports url urls uri uris endpoint endpoints server servers address addresses ' +
    'domain domains subdomain site sites base origin account tenant instance workspace region bucket container cluster ' +
    'broker brokers bootstrap proxy proxies tunnel gateway relay dsn jdbc odbc connection network ip dns shop store ' +
    'environment sandbox cloud datacenter realm authority issuer redirect callback webhook ' +
    'ssl tls sslmode certificate certificates verify insecure encryption encrypt'
  ).split(' '),
);
const addressFormats = /^(i?ur[il](-reference)?|(idn-)?hostname|ipv[46])$/;
const urlLike = /^\s*([a-z][a-z0-9+.-]*:)?\/\//i;

export interface ConfigurationChange {
  /** What the caller sent. Masked or missing secrets keep their stored values. */
  given: Configuration;
  /** The same configuration with the kept secrets in place of their masks. */
  accepted: Configuration;
  /** The whole configuration of the connector, before and after the change. */
  before: Configuration;
  after: Configuration;
}

/** The secrets that were not entered again although an address changed. */
export function redirectedSecrets(
  specification: JsonSchema,
  { given, accepted, before, after }: ConfigurationChange,
): SecretPath[] {
  const kept = keptSecrets(specification, given, accepted);
  return kept.length > 0 && hasNewAddress(specification, before, after) ? kept : [];
}

export function hasNewAddress(specification: JsonSchema, before: Configuration, after: Configuration): boolean {
  return isElsewhere(addressesIn(specification, before), addressesIn(specification, after));
}

/** Names of the fields that may contain an address. */
export function addressFields(specification: JsonSchema): string[] {
  return openAddresses([specification], [], false);
}

function openAddresses(schemas: readonly JsonSchema[], path: readonly string[], isInside: boolean): string[] {
  const described = describedBy(schemas);
  if (described.some((schema) => schema.airbyte_secret === true)) return [];
  const isAddress = saysAddress(described, path.at(-1) ?? '') ?? isInside;
  const names = new Set(described.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])));
  const items = described.flatMap((schema) => (isObject(schema.items) ? [schema.items] : []));
  if (items.length > 0) return openAddresses(items, [...path, '*'], isAddress);
  if (names.size === 0) return isAddress ? [path.join('.')] : [];
  return [...names].flatMap((name) => {
    const of = described.flatMap(({ properties }) => propertyOf(properties, name));
    return openAddresses(of, [...path, name], isAddress);
  });
}

/** Secrets that the caller omitted or masked, so that stored values are kept. */
export function keptSecrets(specification: JsonSchema, given: Configuration, accepted: Configuration): SecretPath[] {
  return keptIn([specification], given, accepted, []);
}

function keptIn(
  schemas: readonly JsonSchema[],
  given: unknown,
  accepted: unknown,
  path: readonly string[],
): SecretPath[] {
  const described = describedBy(schemas);
  if (described.some((schema) => schema.airbyte_secret === true)) {
    // A mask without a stored value was dropped.
    return accepted !== undefined && (given === undefined || isMask(given)) ? [[...path]] : [];
  }
  if (Array.isArray(given) || (given === undefined && Array.isArray(accepted))) {
    // In a list, masks are accepted at any index, because items may have moved.
    const items = described.flatMap((schema) => (isObject(schema.items) ? [schema.items] : []));
    const list = (Array.isArray(given) ? given : accepted) as unknown[];
    return list.flatMap((item, index) =>
      keptIn(items, Array.isArray(given) ? item : undefined, item, [...path, String(index)]),
    );
  }
  const values = [accepted, given].filter(isObject);
  const keys = new Set(values.flatMap(Object.keys));
  return [...keys].flatMap((key) => {
    const of = described.flatMap(({ properties }) => propertyOf(properties, key));
    return keptIn(of, memberOf(given, key), memberOf(accepted, key), [...path, key]);
  });
}

/** The values of addresses by path. In a path, `*` means any place in a list whose items have no secrets. */
type Addresses = Map<string, unknown[]>;

function addressesIn(specification: JsonSchema, configuration: Configuration): Addresses {
  const found: Addresses = new Map();
  collect([specification], configuration, [], false, found);
  return found;
}

function collect(
  schemas: readonly JsonSchema[],
  value: unknown,
  path: readonly string[],
  isInside: boolean,
  found: Addresses,
): void {
  const described = describedBy(schemas);
  if (described.some((schema) => schema.airbyte_secret === true)) return;
  const isAddress = saysAddress(described, path.at(-1) ?? '') ?? isInside;
  if (Array.isArray(value)) {
    const items = described.flatMap((schema) => (isObject(schema.items) ? [schema.items] : []));
    // Where items have secrets of their own, each secret has to stay with the address of its item.
    const placeOf = holdsSecret(items) ? String : () => '*';
    for (const [index, item] of value.entries()) collect(items, item, [...path, placeOf(index)], isAddress, found);
    return;
  }
  if (isObject(value)) {
    const withDefaults = { ...defaultsOf(described), ...value };
    for (const [key, member] of Object.entries(withDefaults)) {
      const of = described.flatMap(({ properties }) => propertyOf(properties, key));
      collect(of, member, [...path, key], isAddress, found);
    }
    return;
  }
  if (value === undefined || value === null || value === '') return;
  if (!isAddress && !(typeof value === 'string' && urlLike.test(value))) return;
  const place = JSON.stringify(path);
  found.set(place, [...(found.get(place) ?? []), normal(value)]);
}

/** Undefined: the outer field decides. */
function saysAddress(described: readonly JsonSchema[], name: string): boolean | undefined {
  const marked = described.find(({ inlay_address }) => typeof inlay_address === 'boolean')?.inlay_address;
  if (typeof marked === 'boolean') return marked;
  // An item of a list has no name; the name of the list decides.
  if (/^(\*|\d*)$/.test(name)) return undefined;
  const texts = [name, ...described.flatMap(({ title }) => (typeof title === 'string' ? [title] : []))];
  const hasWord = texts.flatMap(wordsIn).some((word) => addressWords.has(word));
  const hasFormat = described.some(({ format }) => typeof format === 'string' && addressFormats.test(format));
  return hasWord || hasFormat ? true : undefined;
}

/** `baseURL`, `base_url` and `Base URL` are the same words. */
function wordsIn(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''))
    .filter(Boolean);
}

/** Defaults of omitted fields. */
function defaultsOf(described: readonly JsonSchema[]): Configuration {
  const defaults: Configuration = {};
  for (const { properties } of described) {
    if (!isObject(properties)) continue;
    for (const [name, property] of Object.entries(properties)) {
      if (isObject(property) && !isObject(property.default) && property.default !== undefined)
        defaults[name] = property.default;
    }
  }
  return defaults;
}

/** The normal form of a value: two spellings of the same URL become equal. */
function normal(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  return URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text;
}

/** Whether there is a new address. An address that is removed from a list is no new address; any other change is. */
function isElsewhere(before: Addresses, after: Addresses): boolean {
  for (const place of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(place) ?? [];
    const now = after.get(place) ?? [];
    if (now.some((value) => !old.includes(value))) return true;
    if (!place.includes('"*"') && old.length > now.length) return true;
  }
  return false;
}

function propertyOf(properties: unknown, key: string): JsonSchema[] {
  const property = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isObject(property) ? [property] : [];
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
