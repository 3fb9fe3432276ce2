/**
 * Reads a list in pages by offset, some pages ahead of the reader. Offsets are computed, never taken from links; a
 * short or empty page is the last. The number of pages that are fetched ahead grows with the number of full pages seen,
 * up to a limit. So a short list costs no needless call, a long list is not fetched one page after the other, and only
 * a few pages are in memory.
 *
 * Pages overlap, so some items come twice. When an item is removed from the front of the list meanwhile, all items
 * behind it move up. Without the overlap, an item that moves from an unread page into a page already read would never
 * be seen.
 */
export const pageSize = 100;
/** How many items may be removed between one page and the next. */
export const pageOverlap = 10;
const maxPagesUnderWay = 4;

export async function* readPages<T>(fetchPage: (offset: number) => Promise<T[]>): AsyncGenerator<T[]> {
  const underWay: Promise<T[]>[] = [];
  let nextOffset = 0;
  for (let fullPages = 0; ; fullPages++) {
    while (underWay.length < Math.max(1, Math.min(fullPages, maxPagesUnderWay))) {
      const page = fetchPage(nextOffset);
      // A page that fails after the list has ended, or after an earlier page failed, does not matter.
      page.catch(() => undefined);
      underWay.push(page);
      nextOffset += pageSize - pageOverlap;
    }
    const items = (await underWay.shift()) ?? [];
    if (items.length > 0) yield items;
    if (items.length < pageSize) return;
  }
}
