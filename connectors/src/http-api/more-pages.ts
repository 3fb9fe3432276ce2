/*
 * Detects whether a response announces more pages. APIs do this in many ways: a flag, a URL or number of the next page,
 * a count of pages or records. The usual names are recognized next to the records and in the usual wrapper objects,
 * never within a record. Only a flag can end pagination; other signs may belong to a different pagination, and one more
 * request settles it.
 */
import { isJsonObject, valueAt } from '@inlay/protocol/json';

export interface Answer {
  body: unknown;
  headers: Record<string, string | string[] | undefined>;
}

export interface MorePages {
  /** Set: a flag says whether there are more. */
  flag?: boolean;
  /** Set: the answer names the next page, or does so elsewhere and not here. */
  pointer?: boolean;
  /** How many pages and records there are in all. */
  pages?: number;
  records?: number;
}

const flags = ['has_more', 'has_next', 'has_next_page', 'has_more_pages', 'has_more_items', 'more_available'];
const endFlags = ['is_last', 'is_last_page', 'last'];
const pointers = [
  ...['next', 'next_page', 'next_url', 'next_link', 'next_page_url', 'next_href', '@odata.next_link'],
  ...['next_cursor', 'next_token', 'next_page_token'],
];
const pageCounts = ['total_pages', 'page_count', 'last_page', 'num_pages'];
const recordCounts = ['total', 'total_count', 'total_records', 'total_results', 'total_items', 'total_elements'];
const surroundings = [
  ...['meta', '_meta', 'metadata', 'pagination', 'paging', 'paginator', 'page', 'page_info', 'page_meta'],
  ...['links', '_links', 'response_metadata'],
];

/** @param flagPath path of the flag, if configured. */
export function saysOfMorePages({ body, headers }: Answer, recordPath: string, flagPath = ''): MorePages {
  const fields = fieldsAround(body, recordPath);
  const found: MorePages = {};
  const flag = flagPath === '' ? firstFlag(fields) : readFlag(valueAt(body, flagPath));
  if (flag !== undefined) found.flag = flag;
  const pointer = readLinkHeader(headers.link) ?? readPointer(first(fields, pointers) ?? headers['x-next-page']);
  if (pointer !== undefined) found.pointer = pointer;
  const pages = readCount(first(fields, pageCounts) ?? headers['x-total-pages']);
  if (pages !== undefined) found.pages = pages;
  const records = readCount(first(fields, recordCounts) ?? headers['x-total-count'] ?? headers['x-total']);
  if (records !== undefined) found.records = records;
  return found;
}

/** Objects that contain the records, with normalized names; the outermost wins. */
function fieldsAround(body: unknown, recordPath: string): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const add = (object: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(object)) {
      const known = snakeCase(name);
      if (!fields.has(known)) fields.set(known, value);
    }
  };
  let object = body;
  for (const key of recordPath === '' ? [] : recordPath.split('.')) {
    if (!isJsonObject(object)) break;
    add(object);
    for (const [name, value] of Object.entries(object)) {
      if (name !== key && surroundings.includes(snakeCase(name)) && isJsonObject(value)) add(value);
    }
    object = object[key];
  }
  return fields;
}

/** `hasMore` and `HasMore` are `has_more`. */
function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}

function first(fields: ReadonlyMap<string, unknown>, names: readonly string[]): unknown {
  return fields.get(names.find((name) => fields.has(name)) ?? '');
}

function firstFlag(fields: ReadonlyMap<string, unknown>): boolean | undefined {
  const values = flags.map((name) => fields.get(name));
  const ends = endFlags.map((name) => fields.get(name));
  const isMore = values.find((value) => typeof value === 'boolean');
  const isEnd = ends.find((value) => typeof value === 'boolean');
  return isMore ?? (isEnd === undefined ? undefined : !isEnd);
}

/** A field named as the "more pages" flag counts as true if present, whatever its type. */
function readFlag(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  return value !== null && value !== false && value !== 0 && value !== '' && value !== 'false';
}

function readPointer(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (isJsonObject(value)) return readPointer(value.href ?? null);
  return value !== null && value !== false && value !== '';
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The header has other links too; only one about pages that lacks the next says that there is none. */
function readLinkHeader(header: string | string[] | undefined): boolean | undefined {
  const links = linksOf(header);
  if (links.has('next')) return true;
  return links.has('prev') || links.has('previous') || links.has('first') ? false : undefined;
}

/** The target of `rel="next"` in a Link header (RFC 8288). */
export function nextLink(header: string | string[] | undefined): string | undefined {
  return linksOf(header).get('next');
}

function linksOf(header: string | string[] | undefined): Map<string, string> {
  const links = new Map<string, string>();
  const whole = Array.isArray(header) ? header.join(', ') : (header ?? '');
  for (const [, target = '', parameters = ''] of whole.matchAll(/<([^<>]*)>([^<]*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    for (const relation of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) {
      if (!links.has(relation)) links.set(relation, target);
    }
  }
  return links;
}
