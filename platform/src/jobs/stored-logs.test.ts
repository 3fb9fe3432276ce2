/** Logs in the store: what several coordinators write is read as one log. */
import { describe, expect } from 'vitest';
import { fillWorkspace, startPlatform, testOnStores as test } from '../../test/start-platform.ts';
import type { PlacedLine } from '../runner/job-log.ts';
import { findLevel, type LogRanges, linesIn } from '../runner/log-ranges.ts';
import { storedLogs } from './stored-logs.ts';

async function startLogs(maxBytes?: number) {
  const running = await startPlatform();
  const { workspaceId, connectionId } = await fillWorkspace(running);
  const job = await running.call('POST', '/jobs', { connectionId, jobType: 'sync' });
  const ref = { workspaceId, connectionId, jobId: job.body.jobId, attempt: 1 };
  const { store } = running.platform;
  const warned: object[] = [];
  /** Never waits for more lines. */
  const runtime = { now: running.platform.runtime.now, sleep: async () => {} };
  const log = { warn: (fields: object) => void warned.push(fields) };
  const open = () => storedLogs({ store, runtime, log, ...(maxBytes !== undefined && { maxBytes }) });
  return { store, ref, open, warned };
}

async function readAll(ranges: LogRanges, chunks: 'from' | 'backwards' = 'from'): Promise<PlacedLine[]> {
  const lines: PlacedLine[] = [];
  for await (const chunk of chunks === 'from' ? ranges.from(0) : ranges.backwards()) {
    if (chunks === 'from') lines.push(...linesIn(chunk, undefined));
    else lines.unshift(...linesIn(chunk, undefined));
  }
  return lines;
}

const messagesOf = (lines: readonly PlacedLine[]) => lines.map(({ message }) => message);

describe('A log in the store', () => {
  test('is the lines of all who write it, each in its order, whole after every flush', async () => {
    const { ref, open } = await startLogs();
    const [one, other] = [open(), open()];
    const [first, second] = [one.open(ref), other.open(ref)];
    for (let round = 0; round < 20; round++) {
      first.write('INFO', 'source', `a${round} \0 \ud800 Straße`);
      second.write(round === 12 ? 'ERROR' : 'INFO', 'destination', `b${round}`);
      await Promise.all([first.flush(), second.flush()]);
    }
    const ranges = await one.read(ref);
    const lines = await readAll(ranges);
    const told = messagesOf(lines);
    expect(told.filter((message) => message.startsWith('b'))).toEqual(Array.from({ length: 20 }, (_, i) => `b${i}`));
    expect(told.filter((message) => message.startsWith('a'))).toEqual(
      Array.from({ length: 20 }, (_, i) => `a${i} \0 \ud800 Straße`),
    );
    expect(await readAll(ranges, 'backwards')).toEqual(lines);
    expect(await findLevel(ranges, ['ERROR'])).toBe(lines.find(({ message }) => message === 'b12')?.offset);
    for (const offset of [1, lines[7]?.offset ?? 0, ranges.totalBytes - 1, ranges.totalBytes]) {
      const later: PlacedLine[] = [];
      for await (const chunk of ranges.from(offset)) later.push(...linesIn(chunk, undefined));
      expect(later).toEqual(lines.filter((line) => line.offset >= offset));
    }
    await Promise.all([one.close(), other.close()]);
  });

  test('joins small parts, and keeps its beginning and its end within the limit', async () => {
    const maxBytes = 450_000;
    const { ref, open, store } = await startLogs(maxBytes);
    const logs = open();
    const log = logs.open(ref);
    for (let line = 0; line < 300; line++) {
      log.write('INFO', 'source', `${line} ${'x'.repeat(line % 40 === 0 ? 8_000 : 2_500)}`);
      if (line < 40 || line % 5 === 0) await log.flush();
    }
    await log.flush();
    const sizes = await store.db.selectFrom('job_log_parts').select(['bytes', 'dropped']).execute();
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(maxBytes);
    const told = messagesOf(await readAll(await logs.read(ref)));
    const missing = Number(
      /^(\d+) lines are missing here/.exec(told.find((text) => / missing /.test(text)) ?? '')?.[1],
    );
    expect(told).toHaveLength(300 - missing + 1);
    expect([told[0], told.at(-1)]).toEqual([expect.stringMatching(/^0 x/), expect.stringMatching(/^299 x/)]);
    await logs.close();
  });

  test('goes away with its job, and what is written afterwards nowhere', async () => {
    const { ref, open, store, warned } = await startLogs();
    const logs = open();
    const log = logs.open(ref);
    log.write('INFO', 'platform', 'kept');
    await log.flush();
    await store.db.deleteFrom('jobs').where('job_id', '=', ref.jobId).execute();
    log.write('INFO', 'platform', 'late');
    log.close();
    await logs.close();
    expect(await store.db.selectFrom('job_log_parts').select('part').execute()).toEqual([]);
    expect([await readAll(await logs.read(ref)), warned]).toEqual([[], []]);
  });

  test('survives a database that is away for a while, and says what it could not keep', async () => {
    const { ref, open, store } = await startLogs();
    const { transaction } = store;
    let isAway = true;
    const whileThere: typeof transaction = async (work) => {
      if (isAway) throw new Error('away');
      return await transaction(work);
    };
    Object.assign(store, { transaction: whileThere });
    const logs = open();
    const log = logs.open(ref);
    for (let line = 0; line < 300; line++) log.write('INFO', 'source', `${line} ${'x'.repeat(8_000)}`);
    isAway = false;
    await log.flush();
    const told = messagesOf(await readAll(await logs.read(ref)));
    expect(told[0]).toMatch(/^0 x/);
    expect(told.at(-1)).toBe(`${300 - (told.length - 1)} lines are missing because the database was away.`);
    await logs.close();
  });
});
