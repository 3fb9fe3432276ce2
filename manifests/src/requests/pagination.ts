/* How to get from one page to the next. */
import {
  boolean,
  type ComponentDefinition,
  component,
  condition,
  either,
  type Given,
  integer,
  optional,
  required,
  template,
} from '../component.ts';
import type { Answer } from '../http/answer.ts';
import { emptyParts, type RequestParts } from '../http/request.ts';
import type { Slice } from '../run/slice.ts';
import type { DataRecord } from '../run/stream.ts';
import { pythonText } from '../values/printing.ts';
import { RequestOption, RequestPath } from './request-options.ts';

/** What is known after a page. */
export interface PageRead {
  answer: Answer;
  /** The response as the decoder passes it to templates. */
  response: unknown;
  /** Records after filtering. */
  size: number;
  lastRecord: Record<string, unknown> | undefined;
  /** The token that the page was requested with. */
  token: unknown;
}

/** A page for a paginator that looks at pages before their records are taken. */
export interface ReviewedPage {
  /** Undefined if the API reports that there is no such page. */
  page: PageRead | undefined;
  /** Everything that the extractor found, before filtering. */
  found: readonly unknown[];
  records: DataRecord[];
  token: unknown;
  slice: Slice;
}

export interface Review {
  /** The records that are certain to be taken now, a list for each page. */
  take: DataRecord[][];
  /** The token of the next page; undefined if this was the last one. */
  next: unknown;
}

export interface Paginator {
  /** Undefined: the first page is requested without a token. */
  initialToken(): unknown;
  /** Undefined: there is no next page. `size`: the requested page size, if different from the manifest's. */
  next(page: PageRead, size?: number): unknown;
  path(token: unknown): string | undefined;
  /** `size`: another page size than that of the manifest. */
  parts(token: unknown, size?: number): RequestParts;
  /** The page size that is sent; undefined if none is. */
  sentSize?(): number | undefined;
  /** Replaces `next`, for a paginator that may hold records back until it knows more. */
  review?(page: ReviewedPage): Review;
  /** Statuses with which the API would report that there is no page with this token. */
  endStatuses?(token: unknown): readonly number[];
}

export const noPagination: Paginator = {
  initialToken: () => undefined,
  next: () => undefined,
  path: () => undefined,
  parts: emptyParts,
};

interface Strategy {
  initialToken: unknown;
  pageSize(response?: unknown): number | undefined;
  next(page: PageRead, size?: number): unknown;
}

function readPageSize(given: Given, response?: unknown): number | undefined {
  const value = given.value('page_size');
  if (value === undefined) return undefined;
  const size =
    typeof value === 'number' ? value : given.asTemplate(pythonText(value)).value({ response: response ?? {} });
  if (size === '') return undefined;
  const number = Number(size);
  if (!Number.isInteger(number)) throw new Error(`The page size "${pythonText(size)}" is not a whole number.`);
  return number;
}

function makePageIncrement(given: Given): Strategy {
  const first = given.number('start_from_page') ?? 0;
  const size = readPageSize(given);
  return {
    initialToken: given.flag('inject_on_first_request') ? first : undefined,
    pageSize: () => size,
    next({ answer: { extractedRecords }, token }) {
      if ((size && extractedRecords < size) || extractedRecords === 0) return undefined;
      return token === undefined ? first + 1 : Number(token) + 1;
    },
  };
}

function makeOffsetIncrement(given: Given): Strategy {
  return {
    initialToken: given.flag('inject_on_first_request') ? 0 : undefined,
    pageSize: (response) => readPageSize(given, response),
    next({ answer: { extractedRecords }, response, token }, reduced) {
      const size = reduced ?? readPageSize(given, response);
      if ((size && extractedRecords < size) || extractedRecords === 0) return undefined;
      return Number(token ?? 0) + extractedRecords;
    },
  };
}

function makeCursorPagination(given: Given): Strategy {
  const size = readPageSize(given);
  const token = given.template('cursor_value');
  const stop = given.condition('stop_condition');
  return {
    initialToken: undefined,
    pageSize: () => size,
    next(page, reduced) {
      const names = {
        response: page.response,
        headers: page.answer.headersWithLinks,
        last_record: page.lastRecord ?? null,
        last_page_size: page.size,
        page_size: reduced ?? size ?? null,
      };
      return stop?.isMet(names) ? undefined : token?.value(names);
    },
  };
}

function makeDefaultPaginator(given: Given): Paginator {
  const strategy = given.child<Strategy>('pagination_strategy');
  if (!strategy) throw new Error('A DefaultPaginator requires a pagination_strategy.');
  const sizeOption = given.child<RequestOption>('page_size_option');
  const tokenOption = given.child<RequestOption | RequestPath>('page_token_option');
  if (sizeOption && !strategy.pageSize()) throw new Error('A page_size_option requires a page_size in the strategy.');
  return {
    initialToken: () => strategy.initialToken,
    next(page, size) {
      const token = strategy.next(page, size);
      return isNothing(token) ? undefined : token;
    },
    path(token) {
      return tokenOption instanceof RequestPath && !isNothing(token) ? pythonText(token) : undefined;
    },
    parts(token, reduced) {
      const parts = emptyParts();
      if (tokenOption instanceof RequestOption && token !== undefined) tokenOption.put(parts, token);
      const size = sizeOption && (reduced ?? strategy.pageSize());
      if (size) sizeOption.put(parts, size);
      return parts;
    },
    sentSize: () => (sizeOption ? strategy.pageSize() : undefined),
  };
}

/** What Python takes for false. A token like that is none. */
export function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) === 0;
  const shown = pythonText(value);
  return shown === '{}' || shown === '0.0' || shown === '-0.0' || shown === '0';
}

const pageSize = either(integer, template);

export const paginationComponents: ComponentDefinition[] = [
  {
    name: 'DefaultPaginator',
    step: 'S1',
    words: 'Reads pages until the strategy returns no token for the next page.',
    options: {
      pagination_strategy: required(
        component('PageIncrement', 'OffsetIncrement', 'CursorPagination', 'CustomPaginationStrategy'),
        'Determines the token of the next page.',
      ),
      decoder: optional(component('JsonDecoder', 'XmlDecoder'), 'Not used. The decoder of the retriever applies.'),
      page_size_option: optional(component('RequestOption'), 'Where to send the page size in the request.'),
      page_token_option: optional(component('RequestOption', 'RequestPath'), 'Where to send the token in the request.'),
    },
    rule: ({ page_size_option: option, pagination_strategy: strategy }) => {
      const { type, page_size: size } = (strategy ?? {}) as Record<string, unknown>;
      const isKnown = String(type).startsWith('Custom') || (size !== undefined && size !== null && size !== 0);
      return option && !isKnown ? 'A page_size_option requires a page_size in the strategy' : undefined;
    },
    make: makeDefaultPaginator,
  },
  {
    name: 'NoPagination',
    step: 'S1',
    words: 'Reads a single page.',
    options: {},
    make: () => noPagination,
  },
  {
    name: 'PageIncrement',
    step: 'S1',
    words: 'Paginates by page number. Stops at a page with fewer records than the page size, or none.',
    options: {
      page_size: optional(pageSize, 'The number of records per page.'),
      start_from_page: optional(integer, 'The number of the first page.', 0),
      inject_on_first_request: optional(boolean, 'Also sends the page number with the first request.', false),
    },
    make: makePageIncrement,
  },
  {
    name: 'OffsetIncrement',
    step: 'S1',
    words: 'Paginates by record offset. Stops at a page with fewer records than the page size, or none.',
    options: {
      page_size: optional(pageSize, 'The number of records per page.'),
      inject_on_first_request: optional(boolean, 'Also sends the offset 0 with the first request.', false),
    },
    make: makeOffsetIncrement,
  },
  {
    name: 'CursorPagination',
    step: 'S1',
    words: 'Paginates by a token from the response. Stops at an empty token.',
    options: {
      cursor_value: required(template, 'The token. Available: response, headers, last_record and last_page_size.'),
      stop_condition: optional(
        condition,
        'Stops if true. Available: response, headers, last_record and last_page_size.',
      ),
      page_size: optional(pageSize, 'The number of records per page.'),
      decoder: optional(component('JsonDecoder', 'XmlDecoder'), 'Not used. The decoder of the retriever applies.'),
    },
    make: makeCursorPagination,
  },
];
