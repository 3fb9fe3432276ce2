/**
 * Secrets that someone has written into a manifest. They belong into the configuration, but nothing keeps an author from
 * writing them down, so a manifest is shown without them.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';

export const mask = '**********';

/** Options of components whose value is a secret, unless it is a template that takes it from the configuration. */
const secretOptions = new Set([
  'access_token',
  'access_token_value',
  'api_token',
  'client_secret',
  'passphrase',
  'password',
  'private_key',
  'refresh_token',
  'secret_key',
  'session_token',
  'token',
]);
/** Options that are free lists of names and values. */
const freeOptions = /^(request_|refresh_request_)(headers|parameters|body_json|body_data|body)$/;
const secretNames = /authorization|api[-_]?key|token|secret|password|credential/i;

export function withoutSecrets(manifest: Record<string, unknown>): Record<string, unknown> {
  return walk(manifest, (name) => secretOptions.has(name)) as Record<string, unknown>;
}

/** Whether a mask was sent back where a secret belongs. Takes a manifest as JSON, because reading a large one takes time. */
export function hasMask(manifest: string): boolean {
  return manifest.includes(`:${JSON.stringify(mask)}`);
}

function walk(node: unknown, isSecret: (name: string) => boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => walk(item, isSecret));
  if (!isObject(node)) return node;
  const shown = Object.entries(node).map(([name, value]) => {
    if (typeof value === 'string') return [name, isSecret(name) && isLiteral(value) ? mask : value];
    if (name === 'default' && node.airbyte_secret === true) return [name, mask];
    return [name, walk(value, freeOptions.test(name) ? (one) => secretNames.test(one) : isSecret)];
  });
  const copy: Record<string, unknown> = Object.fromEntries(shown);
  if (node.airbyte_secret === true && typeof node.default === 'string') copy.default = mask;
  return copy;
}

/** References and templates only say where a secret is. */
function isLiteral(value: string): boolean {
  return value !== '' && !value.includes('{{') && !value.startsWith('#/');
}
