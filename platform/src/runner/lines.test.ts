import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linesOf, readBlocks } from './lines.ts';

async function read(chunks: Buffer[], maxLineBytes = 1000): Promise<string[][]> {
  const lines: string[][] = [];
  for await (const blocks of readBlocks(Readable.from(chunks), maxLineBytes)) lines.push([...linesOf(blocks)]);
  return lines;
}

describe('lines', () => {
  test('are the same however the text is cut into chunks', async () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat({ max: 60 })), fc.boolean(), async (lines, cuts, isEnded) => {
        const bytes = Buffer.from(lines.join('\n') + (isEnded ? '\n' : ''));
        const ends = [...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const chunks = ends
          .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
          .filter((chunk) => chunk.length);
        const found = (await read(chunks)).flat();
        const expected = bytes.toString().split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(found).toEqual(expected);
      }),
    );
  });

  test('may be as long as the limit and no longer', async () => {
    const [half, newline] = ['x'.repeat(500), '\n'].map((text) => Buffer.from(text)) as [Buffer, Buffer];
    await expect(read([half, half, newline])).resolves.toEqual([['x'.repeat(1000)]]);
    await expect(read([half, half, Buffer.from('x\n')])).rejects.toThrow('longer than 1000 bytes');
    await expect(read([half, half, Buffer.from('x')])).rejects.toThrow('longer than 1000 bytes');
  });
});
