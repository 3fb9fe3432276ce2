import { describe, expect, it } from 'vitest';
import { pageOverlap, pageSize, readPages } from './paging.ts';

describe('reading a list in pages', () => {
  const list = (length: number) => {
    const asked: number[] = [];
    const items = Array.from({ length }, (_, i) => i);
    const fetchPage = async (offset: number) => {
      asked.push(offset);
      return items.slice(offset, offset + pageSize);
    };
    return { asked, items, fetchPage };
  };
  /** In order, each once: pages overlap. */
  const read = async (fetchPage: (offset: number) => Promise<number[]>) => {
    const got = new Set<number>();
    for await (const page of readPages(fetchPage)) for (const item of page) got.add(item);
    return [...got];
  };

  it.each([0, 1, 99, 100, 101, 200, 1_000, 10_000])('gives all %i items in order', async (length) => {
    const { items, fetchPage } = list(length);
    expect(await read(fetchPage)).toEqual(items);
  });

  it('asks for nothing beyond the end of a short list', async () => {
    const { asked, fetchPage } = list(150);
    await read(fetchPage);
    expect(asked).toEqual([0, 90]);
  });

  it('has up to four pages of a long list under way', async () => {
    const { items, fetchPage } = list(2_000);
    let underWay = 0;
    let most = 0;
    const got = await read(async (offset) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return await fetchPage(offset);
    });
    expect(got).toEqual(items);
    expect(most).toBe(4);
  });

  it('fetches no further ahead than that, however slowly the pages are used', async () => {
    const { asked, fetchPage } = list(2_000);
    let used = 0;
    for await (const _page of readPages(fetchPage)) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(asked.length - ++used).toBeLessThanOrEqual(4);
    }
  });

  it('misses nothing when items leave the front of the list while it is read', async () => {
    const { items, fetchPage } = list(1_000);
    const last = items.slice(-500);
    let pages = 0;
    const got = await read(async (offset) => {
      const page = await fetchPage(offset);
      if (pages++ < 5) items.splice(0, pageOverlap);
      return page;
    });
    expect(got).toEqual(expect.arrayContaining(last));
  });

  it('gives every page before the page that fails, and ignores failures after it', async () => {
    const { items, fetchPage } = list(2_000);
    const got = new Set<number>();
    const reading = async () => {
      for await (const page of readPages(async (offset) => {
        if (offset >= 450) throw new Error(`page at ${offset}`);
        return await fetchPage(offset);
      }))
        for (const item of page) got.add(item);
    };
    await expect(reading()).rejects.toThrow('page at 450');
    expect([...got]).toEqual(items.slice(0, 460));
  });
});
