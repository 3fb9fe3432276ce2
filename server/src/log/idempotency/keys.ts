/** What an Idempotency-Key may be, and what it stands for: a request of one token, with one body. */
import { createHash } from 'node:crypto';

export const maxKeyLength = 255;

/** As the draft of the IETF has it: a string of a structured field (RFC 9651), in quotation marks. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** As most clients send it. Without blanks and commas, which two headers joined into one would have. */
const bare = /^[\x21\x23-\x2b\x2d-\x7e]+$/;

/** The key without its quotation marks; undefined for a header that is no key. */
export function readKey(header: string | string[]): string | undefined {
  if (typeof header !== 'string') return undefined;
  const key = bare.test(header) ? header : quoted.exec(header)?.[1]?.replace(/\\(["\\])/g, '$1');
  return key !== undefined && key.length >= 1 && key.length <= maxKeyLength ? key : undefined;
}

export interface KeyedRequest {
  /** The id of the token that the request came with. */
  token: string;
  method: string;
  /** Without its query. */
  path: string;
  key: string;
}

/** The same for the same key, token, method and path. */
export function slotOf({ token, method, path, key }: KeyedRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([token, method, path, key]))
    .digest('hex');
}

/** The same for requests that say the same, whatever the order of their fields is. */
export function fingerprintOf(query: string, body: unknown): string {
  return createHash('sha256')
    .update(query)
    .update('\0')
    .update(JSON.stringify(sorted(body ?? {})))
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return { members: members.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}
