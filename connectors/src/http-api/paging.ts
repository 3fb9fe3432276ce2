/*
 * Finds the next page of a stream. A short or empty page does not always mean the end: APIs may filter records out of a
 * page and may say that there are more. Still, every pagination terminates: because the API says so, at an empty page,
 * or because the API repeats pages, tokens or links. watched-pages.ts requests the pages.
 */
import { ConnectorError } from '@inlay/protocol/connector';
import { ExactNumber, valueAt } from '@inlay/protocol/json';
import type { PageSize, Pagination } from './configuration.ts';
import { type Answer, type MorePages, nextLink, saysOfMorePages } from './more-pages.ts';
import { digest } from './new-records.ts';

type Records = Record<string, unknown>[];

interface Page extends Answer {
  /** Everything that is in the page. */
  found: readonly unknown[];
  /** What of that is wanted. */
  records: Records;
}

/** Query parameters in addition to those of the stream, or a URL that may be relative to the previous page. */
export type Place = { parameters: Record<string, string | number> } | { link: string };

interface Step {
  /** The records that are certain to be new, a list for each page. */
  take: Records[];
  /** Absent: this was the last page. */
  next?: Place;
  /** Statuses with which the API would report that there is no next page. */
  endStatuses?: readonly number[];
  /** For the log: notable facts about how reading ended. */
  note?: string;
}

export interface Pager {
  first: Place;
  /** Called once for each page, in order; with undefined if there is no such page. */
  after(page: Page | undefined): Step;
}

/** How many empty pages in a row are read where the API only counts more than it has sent, or names a next page: many do so beyond the last too. */
const maxEmptyPagesWithoutFlag = 20;

const noSuchPage = [404, 410, 416];
/** After a page that looks like the last one, some APIs call the next one a mistake. */
const noSuchPageOrRefused = [...noSuchPage, 400, 422];

/** @param maxEmptyPages in a row; an API that sends so many is not believed that there are more. */
export function pagerFor(pagination: Pagination, recordPath: string, maxEmptyPages: number): Pager {
  const says = (page: Page, flagPath?: string) => saysOfMorePages(page, recordPath, flagPath);
  /** A configured stop condition replaces all others. */
  const saysOfEnd = ({ end = 'automatic', more_path }: { end?: string; more_path?: string }) => {
    return (page: Page): MorePages => (end === 'automatic' ? says(page, more_path) : {});
  };
  switch (pagination.type) {
    case 'none':
      return singlePage(says);
    case 'page': {
      const { page_parameter = 'page', first_page = 1, end } = pagination;
      return countingPager(pagination, page_parameter, saysOfEnd(pagination), maxEmptyPages, end === 'short_page', {
        position: ({ pages }) => first_page + pages,
        lacks: ({ pages, records }, done) =>
          pages === undefined ? done.pages * done.longestPage < (records ?? 0) : done.pages < pages,
      });
    }
    case 'offset': {
      const { offset_parameter = 'offset', size_parameter = 'limit', page_size = 100, end } = pagination;
      const size = { size_parameter, page_size };
      // Counts records received, since an API may return fewer per page than requested. If it filters a page after
      // counting, some records come twice, and none is missed.
      const position = ({ records, emptyPages }: Progress) => records + emptyPages * page_size;
      return countingPager(size, offset_parameter, saysOfEnd(pagination), maxEmptyPages, end === 'short_page', {
        position,
        lacks: ({ records }, done) => position(done) < (records ?? 0),
      });
    }
    case 'last_id': {
      const { id_field = 'id', id_parameter, end, page_size = 1 } = pagination;
      const find = ({ found }: Page) => {
        const id = valueAt(found.at(-1), id_field);
        if (isPointer(id)) return { parameters: { [id_parameter]: textOrNumber(id) } };
        if (found.length === 0) return undefined;
        throw new ConnectorError(`The last record of a page has no field ${id_field}. Check the pagination.`);
      };
      const isLast = ({ found }: Page, flag: boolean | undefined) =>
        flag === false || found.length === 0 || (end === 'short_page' && found.length < page_size);
      return pointingPager('id', pagination, find, saysOfEnd(pagination), isLast);
    }
    case 'cursor': {
      const { token_path, token_parameter, more_path } = pagination;
      const find = ({ body }: Page) => {
        const token = valueAt(body, token_path);
        return isPointer(token) ? { parameters: { [token_parameter]: textOrNumber(token) } } : undefined;
      };
      // Some APIs return a token with every page, for clients that poll later.
      const isLast = ({ found }: Page, flag: boolean | undefined) =>
        flag === false && (Boolean(more_path) || found.length === 0);
      return pointingPager('token', pagination, find, (page) => says(page, more_path), isLast);
    }
    case 'link': {
      const { url_path = '' } = pagination;
      const find = ({ body, headers }: Page) => {
        const link = url_path === '' ? nextLink(headers.link) : valueAt(body, url_path);
        return isPointer(link) ? { link: String(link) } : undefined;
      };
      return pointingPager('link', pagination, find, says, ({ found }, flag) => flag === false && found.length === 0);
    }
  }
}

function singlePage(says: (page: Page) => MorePages): Pager {
  return {
    first: { parameters: {} },
    after(page) {
      if (!page) return { take: [] };
      const { flag, pointer } = says(page);
      const note = 'The API reports more pages. They are not read because no pagination is configured.';
      return { take: [page.records], ...((flag ?? pointer) && { note }) };
    },
  };
}

function sizeParameters({ size_parameter, page_size }: PageSize): Record<string, number> {
  return size_parameter !== undefined && page_size !== undefined ? { [size_parameter]: page_size } : {};
}

/** What has come so far. */
interface Progress {
  pages: number;
  records: number;
  emptyPages: number;
  longestPage: number;
}

interface Counting {
  /** Number of the next page. */
  position(done: Progress): number;
  /** Whether the API counts more records than were requested so far. */
  lacks(said: MorePages, done: Progress): boolean;
}

/** We say which page is next. */
function countingPager(
  size: PageSize,
  parameter: string,
  says: (page: Page) => MorePages,
  maxEmptyPages: number,
  endsWithShortPage: boolean,
  { position, lacks }: Counting,
): Pager {
  const progress: Progress = { pages: 0, records: 0, emptyPages: 0, longestPage: 0 };
  const seen = new Set<string>();
  let emptyInARow = 0;
  /** A page that was there before, until it is known whether the API repeats itself or has records that are alike. */
  let held: Records | undefined;
  const place = () => ({ parameters: { ...sizeParameters(size), [parameter]: position(progress) } });

  function release(records?: Records): Records[] {
    const released = [held, records].filter((list) => list !== undefined);
    held = undefined;
    return released;
  }

  function afterRepeated(length: number, flag: boolean | undefined): Step {
    const isTheOnlyPage = seen.size === 1;
    const isFull = size.page_size === undefined || length >= size.page_size;
    if (flag || (isTheOnlyPage && isFull)) {
      throw new ConnectorError(
        `The API keeps returning the same page and seems to ignore the parameter ${parameter}. Check the pagination.`,
      );
    }
    return { take: [], note: `The API repeats pages from page ${progress.pages - 1} on, so reading stopped there.` };
  }

  function afterEmpty(said: MorePages): Step {
    emptyInARow += 1;
    progress.emptyPages += 1;
    if (said.flag === false) return { take: release([]) };
    if (said.flag && emptyInARow >= maxEmptyPages) {
      throw new ConnectorError(
        `The API reports more pages but returned ${maxEmptyPages} empty pages in a row. Check the pagination.`,
      );
    }
    if (said.flag) return { take: release([]), next: place(), endStatuses: noSuchPage };
    if (!said.pointer && !lacks(said, progress)) return { take: release([]) };
    if (emptyInARow < maxEmptyPagesWithoutFlag) {
      return { take: release([]), next: place(), endStatuses: noSuchPageOrRefused };
    }
    const note = `The API returned only empty pages after ${progress.records} records, although it reports more.`;
    return { take: release([]), note };
  }

  return {
    first: place(),
    after(page) {
      if (!page) return { take: release() };
      const { found, records } = page;
      const said = says(page);
      progress.pages += 1;
      if (found.length === 0) return afterEmpty(said);
      emptyInARow = 0;
      progress.records += found.length;
      const digested = digest(found);
      const isRepeated = seen.has(digested);
      if (isRepeated && held) return afterRepeated(found.length, said.flag);
      seen.add(digested);
      const take = isRepeated ? release() : release(records);
      const isShort = found.length < Math.max(progress.longestPage, size.page_size ?? 0);
      if (said.flag === false || (isShort && endsWithShortPage)) {
        return { take: isRepeated ? [...take, records] : take };
      }
      if (isRepeated) held = records;
      progress.longestPage = Math.max(progress.longestPage, found.length);
      const isAll = (said.pages !== undefined || said.records !== undefined) && !lacks(said, progress);
      const looksLast = isShort || said.pointer === false || isAll;
      return { take, next: place(), endStatuses: looksLast ? noSuchPageOrRefused : noSuchPage };
    },
  };
}

/** The API says which page is next. */
function pointingPager(
  what: string,
  size: PageSize,
  find: (page: Page) => Place | undefined,
  says: (page: Page) => MorePages,
  isLast: (page: Page, flag: boolean | undefined) => boolean,
): Pager {
  const seen = new Set<string>();
  return {
    first: { parameters: sizeParameters(size) },
    after(page) {
      if (!page) return { take: [] };
      const take = [page.records];
      const { flag } = says(page);
      if (isLast(page, flag)) return { take };
      const place = find(page);
      if (!place) {
        if (!flag) return { take };
        throw new ConnectorError(
          `The API reports more pages, but its response has no next page ${what} at the configured place. Check the pagination.`,
        );
      }
      const key = digest(place);
      if (seen.has(key)) {
        throw new ConnectorError(`The API keeps returning the same next page ${what}. Check the pagination.`);
      }
      seen.add(key);
      return { take, next: 'link' in place ? place : { parameters: { ...sizeParameters(size), ...place.parameters } } };
    },
  };
}

function isPointer(value: unknown): value is string | number | ExactNumber {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || value instanceof ExactNumber;
}

/** A body of JSON has numbers; in a query they are texts all the same. */
function textOrNumber(value: string | number | ExactNumber): string | number {
  return value instanceof ExactNumber ? value.text : value;
}
