/*
 * Reads the pages of a stream for the engine: sends each request, checks the response, and decides which records count
 * and where the next page is (paging.ts). Invariants: pages are requested only from the API's own origin, the key is
 * sent only in the configured way, and the number of pages is bounded.
 */

import { headersByName } from '@inlay/guard/http-client';
import type { Given } from '@inlay/manifests/component';
import type { Paginator, ReviewedPage } from '@inlay/manifests/requests/pagination';
import { ConnectorError } from '@inlay/protocol/connector';
import { recordsAt } from '../kit/records.ts';
import type { StreamConfiguration } from './configuration.ts';
import { type Pager, type Place, pagerFor } from './paging.ts';
import { keyParameter, pageParts } from './parameters.ts';

export interface Limits {
  pages: number;
  /** Limit of empty pages in a row. */
  emptyPages: number;
}

export const defaultLimits: Limits = { pages: 100_000, emptyPages: 1000 };

/** How far the pages of a slice have been read. It is the token of the next page. */
interface Position {
  pager: Pager;
  place: Place;
  endStatuses: readonly number[];
  pages: number;
  /** The previous page. */
  from?: URL | undefined;
}

/** @param hasWorked a response without a list then has no records, if others had one. */
export function watchedPages(given: Given, stream: StreamConfiguration, limits: Limits, hasWorked: boolean): Paginator {
  const { name, record_path = '', pagination = { type: 'none' } } = stream;
  const newPager = () => pagerFor(pagination, record_path, limits.emptyPages);
  const { first } = newPager();
  const keyName = keyParameter(given.config);

  function review({ page, found, records, token, slice }: ReviewedPage) {
    const { pager, pages } = (token as Position | undefined) ?? { pager: newPager(), pages: 0 };
    const isPage = page !== undefined && page.answer.status !== 204;
    if (!isPage) return { take: pager.after(undefined).take, next: undefined };
    // Some APIs leave an empty list out. Where a list is expected, its absence is rather a mistake in the path.
    const isPart = Object.keys(slice.cursor).length + Object.keys(slice.partition).length > 0;
    if (found.length === 0 && pages === 0 && !(hasWorked && isPart)) recordsAt(page.response, record_path, false);
    const headers = headersByName(page.answer.rawHeaders);
    const step = pager.after({ body: page.response, headers, found, records });
    if (step.note !== undefined) given.run.log('WARN', `Stream ${name}: ${step.note}`);
    if (!step.next) return { take: step.take, next: undefined };
    const { next: place, endStatuses = [] } = step;
    const next: Position = { pager, place, endStatuses, pages: pages + 1, from: page.answer.url };
    return { take: step.take, next };
  }

  return {
    initialToken: () => undefined,
    next: () => undefined,
    path(token) {
      const { place, from } = (token as Position | undefined) ?? { place: first };
      return 'link' in place ? linkedPage(place.link, from, keyName) : undefined;
    },
    parts(token) {
      const { place, pages } = (token as Position | undefined) ?? { place: first, pages: 0 };
      if (pages === limits.pages) {
        throw new ConnectorError(`There are more than ${limits.pages} pages. Check the pagination.`);
      }
      return pageParts(stream, keyName, 'link' in place ? undefined : place.parameters);
    },
    endStatuses: (token) => (token as Position | undefined)?.endStatuses ?? [],
    review,
  };
}

/** The key is sent as configured, whatever the link contains. */
function linkedPage(link: string, current: URL | undefined, keyName: string | undefined): string {
  if (!URL.canParse(link, current?.href)) {
    throw new ConnectorError('The link to the next page is not a valid URL. Check the pagination.');
  }
  const url = new URL(link, current?.href);
  if (url.origin !== current?.origin) {
    throw new ConnectorError(
      `The next page is on another server (${url.origin}), where credentials are not sent. Check the pagination.`,
    );
  }
  if (keyName !== undefined) url.searchParams.delete(keyName);
  return url.href;
}
