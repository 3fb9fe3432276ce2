import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonLines } from './json-files.ts';

async function readSome(text: string, chunkLength: number, maxLength = 30) {
  async function* chunks() {
    for (let at = 0; at < text.length; at += chunkLength) yield text.slice(at, at + chunkLength);
  }
  const skipped: unknown[] = [];
  const records: unknown[] = [];
  for await (const record of readJsonLines(chunks(), ['id', 'key'], (known) => void skipped.push(known), maxLength)) {
    records.push(record);
  }
  return { records, skipped };
}

describe('lines of JSON that are too long', () => {
  it('are left out wherever they stand, and recognized by their keys', async () => {
    const line = fc.record({ text: fc.string({ maxLength: 60 }), id: fc.nat(99) });
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 15 }), fc.boolean(), async (all, size, isEnded) => {
        const isLong = (one: object) => JSON.stringify(one).length > 30;
        const text = all.map((one) => JSON.stringify(one)).join('\n') + (isEnded ? '\n' : '');
        const { records, skipped } = await readSome(text, size);
        expect(records).toEqual(all.filter((one) => !isLong(one)));
        expect(skipped).toEqual(all.filter(isLong).map(({ id }) => ({ id: String(id) })));
      }),
    );
  });
});
