/**
 * Reads a list in pages by offset, some pages ahead of the reader. Offsets are computed, never taken from links;
 * a short or empty page is the last. As many pages are under way as full ones were seen, up to a few: a short list costs
 * no needless call, a long one is not waited for page by page, and no more than those few are in memory.
 *
 * Pages overlap, so items come twice. Where something leaves the front of a list while it is read, everything behind it
 * moves up, and what moves from a page not read yet into one already read would not be seen at all.
 */
export const pageSize = 100;
/** As many may leave between one page and the next. */
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
