import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/connectors.ts';
import { jobLog, removeJobLog } from './job-log.ts';
import { linesIn, openLogRanges } from './log-ranges.ts';

const sizeOf = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

async function readJobLog(file: string) {
  const ranges = await openLogRanges(file);
  const lines = [];
  for await (const chunk of ranges.from(0)) lines.push(...linesIn(chunk, undefined));
  await ranges.close();
  return lines.map(({ offset: _offset, ...line }) => line);
}

describe('a job log', () => {
  const logFile = () => join(temporaryFolder(), 'w1', 'job-1.log');

  test('keeps time, level, origin and message of each line, on one line whatever it contains', async () => {
    const file = logFile();
    const log = jobLog(file, {}, () => 0);
    log.write('WARN', 'source', 'two\nlines \u001b[31mred');
    log.close();
    const time = '1970-01-01T00:00:00.000Z';
    expect(await readJobLog(file)).toEqual([
      { time, level: 'WARN', origin: 'source', message: 'two\nlines \u001b[31mred' },
    ]);
    expect([file, dirname(file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
  });

  test('keeps its beginning and its end, within its limit, however much is said', async () => {
    const file = logFile();
    const log = jobLog(file, { maxBytes: 30_000, maxMessageLength: 50 }, Date.now);
    for (let line = 0; line < 5000; line++) log.write('INFO', 'destination', `${line} ${'x'.repeat(100)}`);
    log.close();
    expect(sizeOf(dirname(file))).toBeLessThanOrEqual(30_000);
    const numbers = (await readJobLog(file)).map(({ message }) => Number.parseInt(message, 10));
    expect(numbers[0]).toBe(0);
    expect(numbers.at(-1)).toBe(4999);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers.length).toBeGreaterThan(100);
    expect((await readJobLog(file)).every(({ message }) => message.length <= 50)).toBe(true);
  });

  test('can be read while it is written, continues after a restart within its limit, and goes away whole', async () => {
    const file = logFile();
    const log = jobLog(file, { maxBytes: 3000 }, Date.now);
    for (let line = 0; line < 100; line++) log.write('INFO', 'platform', `old ${line}`);
    expect((await readJobLog(file)).at(-1)?.message).toBe('old 99');
    log.close();
    const next = jobLog(file, { maxBytes: 3000 }, Date.now);
    next.write('INFO', 'platform', 'new');
    next.close();
    const messages = (await readJobLog(file)).map(({ message }) => message);
    expect([messages[0], ...messages.slice(-2)]).toEqual(['old 0', 'old 99', 'new']);
    expect(sizeOf(dirname(file))).toBeLessThanOrEqual(3000);
    removeJobLog(file);
    expect(readdirSync(dirname(file))).toEqual([]);
    expect(await readJobLog(file)).toEqual([]);
  });

  test('that finds no room loses lines and nothing else, and says how many when there is room again', async () => {
    const file = logFile();
    mkdirSync(dirname(file));
    symlinkSync('/dev/full', file);
    const log = jobLog(file, {}, Date.now);
    for (const message of ['one', 'two', 'three']) log.write('INFO', 'source', message);
    rmSync(file);
    for (const message of ['four', 'five']) log.write('INFO', 'source', message);
    log.close();
    expect((await readJobLog(file)).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^3 lines are missing/),
      'four',
      'five',
    ]);
  });
});
