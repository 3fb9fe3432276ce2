/*
 * Where the next page of a stream is. Every way of paging ends: by what the API says, or because it sends the same page,
 * token or link again. Asking for pages is done in pages.ts.
 */
import { createHash } from 'node:crypto';
import { ConnectorError } from '../kit/connector.ts';
import { ExactNumber, valueAt } from '../kit/json.ts';
import type { Pagination } from './configuration.ts';

export interface Page {
  records: Record<string, unknown>[];
  /** All of the answer. */
  answer: unknown;
  linkHeader: string | undefined;
}

/** Query parameters beside those of the stream, or an address that may be relative to the page before. */
export type Place = { parameters: Record<string, string> } | { link: string };

export interface Step {
  /** Set when the page was there before, so that its records are not to be taken. */
  isRepeated?: true;
  /** Absent: this was the last page. */
  next?: Place;
}

interface Pager {
  first: Place;
  /** Called once for each page, in order, before its records are taken. */
  after(page: Page): Step;
  /** Whether the API may answer 404 to say that there is no further page. */
  mayEndWith404: boolean;
}

export function pagerFor(pagination: Pagination): Pager {
  switch (pagination.type) {
    case 'none':
      return { first: { parameters: {} }, after: () => ({}), mayEndWith404: false };
    case 'page': {
      const { page_parameter = 'page', first_page = 1 } = pagination;
      return countingPager(pagination, page_parameter, (pages) => first_page + pages);
    }
    case 'offset': {
      const { offset_parameter = 'offset', size_parameter = 'limit', page_size = 100 } = pagination;
      // Counts what came, since an API may give fewer records a page than it was asked for.
      return countingPager({ size_parameter, page_size }, offset_parameter, (_, records) => records);
    }
    case 'cursor': {
      const { token_path, token_parameter } = pagination;
      return pointingPager('token', pagination, ({ answer }) => {
        const token = valueAt(answer, token_path);
        return isPointer(token) ? { parameters: { [token_parameter]: String(token) } } : undefined;
      });
    }
    case 'link': {
      const { url_path = '' } = pagination;
      return pointingPager('link', pagination, ({ answer, linkHeader }) => {
        const link = url_path === '' ? nextLink(linkHeader) : valueAt(answer, url_path);
        return isPointer(link) ? { link: String(link) } : undefined;
      });
    }
  }
}

interface Size {
  size_parameter?: string;
  page_size?: number;
}

function sizeParameters({ size_parameter, page_size }: Size): Record<string, string> {
  return size_parameter !== undefined && page_size !== undefined ? { [size_parameter]: String(page_size) } : {};
}

/** We say which page is next. */
function countingPager(size: Size, parameter: string, position: (pages: number, records: number) => number): Pager {
  let pages = 0;
  let records = 0;
  let longest = 0;
  let before = '';
  const place = () => ({ parameters: { ...sizeParameters(size), [parameter]: String(position(pages, records)) } });
  return {
    first: place(),
    mayEndWith404: true,
    after(page) {
      const { length } = page.records;
      const digested = digest(page.records);
      if (length > 0 && digested === before) return repeated(length, size, parameter);
      before = digested;
      pages += 1;
      records += length;
      // Not compared with the size that was asked for: the API may have a lower limit of its own.
      if (length === 0 || length < longest) return {};
      longest = length;
      return { next: place() };
    },
  };
}

/** Some APIs answer with the last page when they are asked for one beyond it. */
function repeated(length: number, { page_size }: Size, parameter: string): Step {
  if (page_size !== undefined && length < page_size) return { isRepeated: true };
  throw new ConnectorError(
    `Two pages in a row are the same. Check the pagination: the API seems not to know the parameter ${parameter}.`,
  );
}

/** The API says which page is next. */
function pointingPager(what: string, size: Size, find: (page: Page) => Place | undefined): Pager {
  const seen = new Set<string>();
  return {
    first: { parameters: sizeParameters(size) },
    mayEndWith404: false,
    after(page) {
      const place = find(page);
      if (!place) return {};
      const key = digest(place);
      if (seen.has(key)) {
        throw new ConnectorError(
          `The API gives the same ${what} to the next page again and again. Check the pagination.`,
        );
      }
      seen.add(key);
      return { next: 'link' in place ? place : { parameters: { ...sizeParameters(size), ...place.parameters } } };
    },
  };
}

function isPointer(value: unknown): value is string | number | ExactNumber {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || value instanceof ExactNumber;
}

export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}

/** The target of `rel="next"` in a Link header (RFC 8288). */
export function nextLink(header: string | undefined): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}
