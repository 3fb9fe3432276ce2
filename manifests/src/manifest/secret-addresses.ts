/*
 * Where a manifest may send the secrets of a configuration. Comparing two versions ensures that a secret entered for
 * one version never goes to another address without consent.
 *
 * An entry of the list is an origin, such as `https://api.example.com`, where the manifest fixes it. Where it does not, the
 * entry is whatever decides: the template of the host, or a digest of the part that makes the address (`pages#…`). So the
 * same list means the same addresses, and in doubt a change counts as a new address. Secrets that are not sent but written
 * into records or messages count as well: those who write manifests read these.
 *
 * Settings that determine where a request goes are marked in the specification (`inlay_address`), whatever their name:
 * customers enter them and must not redirect a secret to another host. A choice between values of the manifest is safe.
 */
import { createHash } from 'node:crypto';
import { isJsonObject } from '@inlay/protocol/json';
import { settingUses } from './places.ts';
import type { Manifest } from './read-manifest.ts';

type Node = Record<string, unknown>;

/** `settings`: those that decide where requests go, such as `credentials.shop`; `*` if it may be any. */
export interface SecretAddresses {
  addresses: string[];
  settings: ReadonlySet<string>;
}

export function secretAddresses({ streams, dynamicStreams, check, spec }: Manifest): SecretAddresses {
  const found = new Set<string>();
  const settings = new Set<string>();
  const secrets = secretSettings(spec.connection_specification, []);
  for (const { component } of [...streams, ...dynamicStreams]) {
    collect(component, { part: component, isSent: false, secrets, found, settings });
  }
  // Both change the settings that templates of addresses read.
  for (const rules of [spec.config_normalization_rules, check?.config_overrides]) {
    if (rules === undefined || rules === null) continue;
    found.add(digest('settings', rules));
    if (settings.size > 0) noteSettings(rules, settings);
  }
  return { addresses: [...found].sort(), settings };
}

interface Search {
  /** The part of the manifest that makes addresses from answers and partitions: the retriever around a requester. */
  part: Node;
  /** Inside a request: what is rendered goes to the address of the request. */
  isSent: boolean;
  secrets: readonly string[];
  found: Set<string>;
  settings: Set<string>;
}

/** Its texts go into requests. What it does with answers does not. */
const sentBy = /^(.*requester|authenticator|authenticators|request_authentication|profile_assertion|quota_sources?)$/;
const notSent = new Set(['error_handler', 'paginator']);

function collect(node: unknown, search: Search): void {
  if (typeof node === 'string') lookAtText(node, search);
  if (Array.isArray(node)) {
    for (const item of node) collect(item, search);
    return;
  }
  if (!isJsonObject(node)) return;
  lookAtAddresses(node, search);
  for (const [key, value] of Object.entries(node)) {
    if (key === '$parameters' || key === 'schema' || key === 'description') continue;
    collect(value, {
      ...search,
      ...(/retriever$/.test(key) && isJsonObject(value) && { part: value }),
      ...(sentBy.test(key) && { isSent: true }),
      ...(notSent.has(key) && { isSent: false }),
    });
  }
}

/** A text outside requests ends in records, in messages or in addresses. */
function lookAtText(text: string, { isSent, secrets, found }: Search): void {
  if (!isSent && readsSecret(text, secrets)) found.add(`text ${text}`);
}

function readsSecret(text: string, secrets: readonly string[]): boolean {
  if (!isTemplate(text)) return false;
  const settings = settingUses(text);
  if (readsAny(text, settings)) return true;
  return settings.some((path) =>
    secrets.some((secret) => `${secret}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${secret}.`)),
  );
}

/** A use that names no setting may be of any. */
const readsAny = (text: string, settings: readonly string[]) =>
  (text.match(/\bconfig\b/g)?.length ?? 0) > settings.length;

const isTemplate = (text: string) => /\{[{%]/.test(text);

/** The settings that the templates in a part of the manifest read. */
function noteSettings(part: unknown, settings: Set<string>): void {
  for (const text of textsOf(part).filter(isTemplate)) {
    const uses = settingUses(text);
    for (const path of readsAny(text, uses) ? ['*'] : uses) settings.add(path);
  }
}

function lookAtAddresses(node: Node, search: Search): void {
  const { part, found, secrets, settings } = search;
  const addresses = ['url_base', 'url', 'token_refresh_endpoint'].flatMap((name) => textIn(node, name));
  if (addresses.length > 0 && mayBearSecret(node, part, secrets)) {
    for (const text of [...addresses, ...textIn(node, 'path').flatMap(asAddress)]) addAddress(text, node, search);
  }
  // These are appended to the base URL, where anything except a slash would extend the host name.
  for (const text of ['login_url', 'validate_session_url'].flatMap((name) => textIn(node, name))) {
    if (isTemplate(text) || !text.startsWith('/')) found.add(digest('login', text));
    if (!text.startsWith('/')) noteSettings(text, settings);
  }
  if (isJsonObject(node.page_token_option) && node.page_token_option.type === 'RequestPath') {
    found.add(digest('pages', node.pagination_strategy));
  }
  if (node.components_mapping !== undefined) {
    found.add(digest('streams', node.components_mapping));
    noteSettings(node.components_mapping, settings);
    for (const config of [node.stream_config].flat()) {
      // What the streams are made from is in this setting.
      if (isJsonObject(config) && Array.isArray(config.configs_pointer)) settings.add(config.configs_pointer.join('.'));
    }
  }
}

/** Requests without credentials whose part of the manifest reads no secret may go anywhere. */
function mayBearSecret(node: Node, part: Node, secrets: readonly string[]): boolean {
  const { authenticator } = node;
  if (isJsonObject(authenticator) && authenticator.type !== 'NoAuth') return true;
  if ('token_refresh_endpoint' in node) return true;
  return [node, part].some((one) => textsOf(one).some((text) => readsSecret(text, secrets)));
}

function addAddress(text: string, node: Node, { part, found, settings }: Search): void {
  const fixed = /^\s*(https?:\/\/[a-z0-9.-]+(?::\d+)?)(?=[/?#]|\s*$)/i.exec(text)?.[1];
  if (fixed !== undefined && URL.canParse(fixed)) {
    found.add(new URL(fixed).origin);
    return;
  }
  found.add(text);
  noteSettings(text, settings);
  if (/\bparameters\b/.test(text)) found.add(digest('parameters', node.$parameters));
  // Answers, records and partitions decide: whatever makes them does.
  if (
    /\b(?!config\b|parameters\b)(stream_\w+|response|record|\w*_response|next_page_token|headers|\w*_target)\b/.test(
      text,
    )
  ) {
    found.add(digest('part', part));
    noteSettings(part.partition_router, settings);
  }
}

/** A path stays below the base URL unless it is a URL itself, or a template may turn it into one. */
function asAddress(path: string): string[] {
  const relative = path.trim().replace(/^\/+/, '');
  const start = relative.split(/\{[{%#]/)[0] ?? '';
  if (/^[a-z][a-z0-9+.-]*:/i.test(start)) return [relative];
  return isTemplate(relative) && !/[/?#]/.test(start) ? [relative] : [];
}

function textIn(node: Node, name: string): string[] {
  const value = node[name];
  return typeof value === 'string' && value.trim() !== '' ? [value] : [];
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function secretSettings(schema: unknown, path: readonly string[]): string[] {
  if (!isJsonObject(schema)) return [];
  if (schema.airbyte_secret === true) return [path.join('.')];
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const branches = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...properties.flatMap(([name, property]) => secretSettings(property, [...path, name])),
    ...branches.flatMap((branch) => secretSettings(branch, path)),
    ...secretSettings(schema.items, path),
  ];
}

/** The schema with the settings marked that determine where requests go. Marks in the manifest itself are kept. */
export function withAddressMarks<Schema extends Node>(
  schema: Schema,
  settings: ReadonlySet<string>,
  path = '',
): Schema {
  const within = (value: unknown, at: string) => (isJsonObject(value) ? withAddressMarks(value, settings, at) : value);
  const { properties, items } = schema;
  const isRead = settings.has(path) || (settings.has('*') && !isJsonObject(properties));
  const isChoice = schema.type === 'boolean' || 'enum' in schema || 'const' in schema;
  return {
    ...(path !== '' && isRead && !isChoice && schema.airbyte_secret !== true && { inlay_address: true }),
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          within(property, path === '' ? name : `${path}.${name}`),
        ]),
      ),
    }),
    ...(isJsonObject(items) && { items: within(items, path) }),
    ...Object.fromEntries(
      ['oneOf', 'anyOf', 'allOf'].flatMap((name) => {
        const forms = schema[name];
        return Array.isArray(forms) ? [[name, forms.map((form) => within(form, path))]] : [];
      }),
    ),
  };
}

function digest(what: string, value: unknown): string {
  return `${what}#${createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, 32)}`;
}
