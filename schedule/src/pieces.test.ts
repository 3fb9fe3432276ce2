import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longListText, mapInPieces, readLongList } from './pieces.ts';

test('any list is read as it was written, and is JSON for everybody else', async () => {
  const list = fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(',\n', '\n]', '[\n', '"')), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(list, async (items) => {
      const text = await longListText(items);
      const plain = JSON.parse(JSON.stringify(items));
      expect(JSON.parse(text)).toEqual(plain);
      expect(await readLongList(text)).toEqual(plain);
    }),
  );
  expect(await longListText([])).toBe('[]');
});

test.each(['[]', '[1,2]', '{"a":\n1}', 'nonsense', ''])('%j is left to others', async (text) => {
  expect(await readLongList(text)).toBeUndefined();
});

test('others have their turn between the pieces of long work', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const busy = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
    return ms;
  };
  expect(await mapInPieces(Array(20).fill(12), busy)).toEqual(Array(20).fill(12));
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(15);
});
