import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ConfiguredStream, DestinationSyncMode, Message, Stream } from '@inlay/protocol/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { startPostgres } from '../../../scripts/postgres.mjs';
import {
  complete,
  configure,
  createDatabase,
  type Program,
  startProgram,
  type TestDatabase,
} from '../../test/postgres.ts';

/** Enough for several faults. */
const total = isLongRun ? 40_000 : 16_000;
const recordsPerState = 1_000;

const numbers: Stream = {
  name: 'numbers',
  supported_sync_modes: ['incremental'],
  json_schema: { type: 'object', properties: { n: { type: 'integer' }, padding: { type: 'string' } } },
};

function configured(destination_sync_mode: DestinationSyncMode): ConfiguredStream {
  const dedup = destination_sync_mode === 'append_dedup' ? { primary_key: [['n']], cursor_field: ['n'] } : {};
  return configure(numbers, { destination_sync_mode, ...dedup });
}

interface Sent {
  last?: number;
  width?: number;
  /** Nothing comes after this record before `until`: a program that is quicker than the test does not end before its fault. */
  held?: { after: number; until: Promise<void> };
}

/** Records from `first` on, a state for every 1,000, and COMPLETE, as a runner would send them. */
async function send({ child }: Program, first: number, sent: Sent = {}): Promise<void> {
  try {
    await pipeline(Readable.from(lines(first, sent)), child.stdin);
  } catch (error) {
    // The program was killed, as intended.
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String((error as { code?: string }).code)))
      throw error;
  }
}

async function* lines(first: number, { last = total, width = 200, held }: Sent): AsyncGenerator<string> {
  const padding = 'x'.repeat(width);
  const line = (message: object) => `${JSON.stringify(message)}\n`;
  for (let n = first; n <= last; n += 1) {
    yield line({ type: 'RECORD', record: { stream: 'numbers', data: { n, padding }, emitted_at: 1e12 } });
    if (n % recordsPerState === 0) {
      const stream = { stream_descriptor: { name: 'numbers' }, stream_state: { n } };
      yield line({ type: 'STATE', state: { type: 'STREAM', stream } });
    }
    if (n === held?.after) await held.until;
  }
  yield line(complete(numbers));
}

const stateNumber = (message: Message) =>
  message.type === 'STATE' ? Number(Object.values(message.state.stream?.stream_state ?? {})[0]) : undefined;

/** One run. The fault comes after the first state past `faultAfter`; returns the last state that was passed on. */
async function run(
  database: TestDatabase,
  mode: DestinationSyncMode,
  first: number,
  faultAfter: number,
  fault: (program: Program) => Promise<unknown> | unknown,
) {
  const program = startProgram('destination-postgres', 'write', {
    config: database.config,
    catalog: { streams: [configured(mode)] },
  });
  let endHold = () => {};
  const until = new Promise<void>((resolve) => {
    endHold = resolve;
  });
  const sending = send(program, first, { held: { after: faultAfter + 2 * recordsPerState, until } });
  let reached = first - 1;
  let isFaulty = false;
  const failures: unknown[] = [];
  for await (const message of program.messages) {
    reached = stateNumber(message) ?? reached;
    if (message.type === 'TRACE' && message.trace.error) failures.push(message.trace.error.failure_type);
    if (!isFaulty && reached > faultAfter) {
      isFaulty = true;
      await fault(program);
      endHold();
    }
  }
  endHold();
  await sending;
  return { reached, failures, exitCode: await program.exitCode };
}

const endSessions = (database: TestDatabase) => () =>
  database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlay' and datname = current_database()`,
  );

const countUpTo = async ({ query }: TestDatabase, n: number) =>
  (await query<{ count: number }>(`select count(distinct n)::int as count from numbers where n <= ${n}`))[0]?.count;

describe.each(['append', 'append_dedup'] as const)('%s', (mode) => {
  it('has passed on no state whose records are not stored when sessions are ended, and loses nothing in the end', async () => {
    const database = await createDatabase();
    let reached = 0;
    let faults = 0;
    while (reached < total) {
      const result = await run(database, mode, reached + 1, reached + 4_000, endSessions(database));
      reached = result.reached;
      if (result.exitCode !== 0) {
        faults += 1;
        expect(result.failures).toEqual(['transient_error']);
      }
      expect(await countUpTo(database, reached)).toBe(reached);
    }
    expect(faults).toBeGreaterThan(1);
    const [counts] = await database.query<{ distinct: number; all: number }>(
      'select count(distinct n)::int as distinct, count(*)::int as all from numbers',
    );
    expect(counts?.distinct).toBe(total);
    if (mode === 'append_dedup') expect(counts?.all).toBe(total);
  });

  itInLongRun('has stored what it has passed on when it is killed, and loses nothing in the end', async () => {
    const database = await createDatabase();
    let reached = 0;
    let kills = 0;
    while (reached < total) {
      const result = await run(database, mode, reached + 1, reached + 4_000, ({ child }) => child.kill('SIGKILL'));
      reached = result.reached;
      if (result.exitCode === null) kills += 1;
      expect(await countUpTo(database, reached)).toBe(reached);
    }
    expect(kills).toBeGreaterThan(1);
    const [counts] = await database.query<{ all: number }>('select count(*)::int as all from numbers');
    if (mode === 'append_dedup') expect(counts?.all).toBe(total);
    else expect(counts?.all).toBeGreaterThanOrEqual(total);
  });
});

describe('overwrite', () => {
  it('leaves the old records when the program is killed, and leaves nothing else behind', async () => {
    const database = await createDatabase();
    await run(database, 'overwrite', total, total, () => {});
    const before = await countUpTo(database, 2 * total);
    const program = startProgram('destination-postgres', 'write', {
      config: database.config,
      catalog: { streams: [configured('overwrite')] },
    });
    const staged = `select coalesce(sum(pg_relation_size(oid)), 0)::int as bytes from pg_class where relname like '\\_inlay\\_staging%'`;
    void send(program, 1);
    while ((await database.query<{ bytes: number }>(staged))[0]?.bytes === 0);
    program.child.kill('SIGKILL');
    await program.exitCode;
    while (
      (
        await database.query(
          `select from pg_stat_activity where application_name = 'inlay' and datname = current_database()`,
        )
      ).length > 0
    );
    expect(await countUpTo(database, 2 * total)).toBe(before);
    expect(await database.query(staged)).toEqual([{ bytes: 0 }]);
    expect((await run(database, 'overwrite', 1, total, () => {})).exitCode).toBe(0);
    expect(await countUpTo(database, 2 * total)).toBe(total);
  });
});

const wideModes = ['append_dedup', 'append', 'overwrite'] as const;

/** A kilobyte each: more than fits in memory. */
const [wideRecords, megabytes] = isLongRun ? [200_000, 128] : [70_000, 64];

describe(`${wideRecords} wide records`, () => {
  it.each(isLongRun ? wideModes : wideModes.slice(0, 1))(`go through ${megabytes} MB of memory (%s)`, async (mode) => {
    const database = await createDatabase();
    const catalog = { streams: [configured(mode)] };
    const program = startProgram('destination-postgres', 'write', { config: database.config, catalog }, [
      `--max-old-space-size=${megabytes}`,
    ]);
    const sending = send(program, 1, { last: wideRecords, width: 1_000 });
    program.child.stdout.resume();
    expect(await program.exitCode).toBe(0);
    await sending;
    expect(await countUpTo(database, wideRecords)).toBe(wideRecords);
  });
});

describe('a server that restarts', () => {
  it('fails the sync as a passing fault, and the next run completes it', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const database = await createDatabase(server.url);
    const first = await run(database, 'append', 1, 5_000, () => server.restart());
    expect(first).toMatchObject({ exitCode: 1, failures: ['transient_error'] });
    expect(await countUpTo(database, first.reached)).toBe(first.reached);
    await run(database, 'append', first.reached + 1, total, () => {});
    expect(await countUpTo(database, total)).toBe(total);
  });
});
