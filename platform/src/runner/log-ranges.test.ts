import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/connectors.ts';
import { jobLog, type PlacedLine } from './job-log.ts';
import { findLevel, linesIn, openLogRanges } from './log-ranges.ts';

const message = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.constantFrom(
    'Error: no room',
    'ERROR',
    '"level":"ERROR"',
    'Straße \u{1f680} İstanbul',
    'a\nb\\n"c"',
    'x'.repeat(8_000),
  ),
);
const written = fc.record({ level: fc.constantFrom('INFO', 'WARN', 'ERROR', 'FATAL'), message });

describe('A log that is read by ranges of bytes', () => {
  test('gives the lines that a reader of the whole log would choose', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { maxLength: 120 }),
        fc.integer({ min: 2_000, max: 900_000 }),
        fc.nat(400_000),
        fc.constantFrom('error', 'no room', 'stra', 'i', '"c"', 'zzz', 'info source'),
        async (lines, maxBytes, offset, wanted) => {
          const file = join(temporaryFolder(), 'job.log');
          const log = jobLog(file, { maxBytes }, () => 0);
          for (const { level, message } of lines) log.write(level, 'source', message);
          log.close();
          // The machine went down while the last line was written.
          appendFileSync(file, '{"time":"1970');
          const ranges = await openLogRanges(file);
          const all: PlacedLine[] = [];
          for await (const chunk of ranges.from(0)) all.push(...linesIn(chunk, undefined));
          const later: PlacedLine[] = [];
          for await (const chunk of ranges.from(offset)) later.push(...linesIn(chunk, wanted));
          const backwards: PlacedLine[] = [];
          for await (const chunk of ranges.backwards()) backwards.unshift(...linesIn(chunk, undefined));
          const holds = ({ level, origin, message }: PlacedLine) =>
            `${level} ${origin} ${message}`.toLowerCase().includes(wanted);
          expect(later).toEqual(all.filter((line) => line.offset >= offset && holds(line)));
          expect(backwards).toEqual(all);
          const error = all.find(({ level }) => level === 'ERROR' || level === 'FATAL');
          expect(await findLevel(ranges, ['ERROR', 'FATAL'])).toBe(error?.offset);
          await ranges.close();
          const kept = lines.slice(-all.length).map((line) => line.message);
          if (lines.length === all.length) expect(all.map((line) => line.message)).toEqual(kept);
        },
      ),
      { numRuns: 60 },
    );
  });
});
