import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  type ConfiguredStream,
  recordHead,
  type State,
  streamHoldingType,
  streamReportType,
} from '@inlay/protocol/protocol';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bundled,
  configured,
  connectorsProgram,
  runConnector,
  scriptedSource,
  sync,
  temporaryFolder,
  testRunner,
} from '../../../platform/test/connectors.ts';

const append = (name = 'items', more: Partial<ConfiguredStream> = {}) => configured(name, { sync_id: 17, ...more });
const overwrite = (generation: number, name = 'items') =>
  configured(name, {
    destination_sync_mode: 'overwrite',
    generation_id: generation,
    minimum_generation_id: generation,
    sync_id: 17,
  });

const record = (data: object, stream = 'items', emitted_at = 0) => ({
  type: 'RECORD',
  record: { stream, emitted_at, data },
});
const state = (at: number, stream = 'items') => ({
  type: 'STATE',
  state: { type: 'STREAM', stream: { stream_descriptor: { name: stream }, stream_state: { at } } },
});
const complete = (stream = 'items') => ({
  type: 'TRACE',
  trace: {
    type: 'STREAM_STATUS',
    emitted_at: 0,
    stream_status: { stream_descriptor: { name: stream }, status: 'COMPLETE' },
  },
});
const asInput = (messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('');

/** Runs `write` in a workspace's folder. */
function write(workspaceDir: string, streams: ConfiguredStream[], messages: object[], config: object = {}) {
  return runConnector(
    'local-files',
    'write',
    { config: { path: 'out', ...config }, catalog: { streams } },
    { input: asInput(messages), env: { INLAY_WORKSPACE_DIR: workspaceDir } },
  );
}

/** The visible files of a stream, relative to its folder, in order. */
function filesOf(workspaceDir: string, stream = 'items'): string[] {
  const folder = join(workspaceDir, 'out', stream);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.split('/').some((part) => part.startsWith('.')) && statSync(join(folder, name)).isFile())
    .sort();
}

function hiddenIn(workspaceDir: string): string[] {
  return readdirSync(workspaceDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/.'));
}

function textOf(workspaceDir: string, stream = 'items'): string {
  return filesOf(workspaceDir, stream)
    .map((file) => {
      const content = readFileSync(join(workspaceDir, 'out', stream, file));
      return (file.endsWith('.gz') ? gunzipSync(content) : content).toString();
    })
    .join('');
}

function idsOf(workspaceDir: string, stream = 'items'): number[] {
  return textOf(workspaceDir, stream)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);
}

const toldIn = ({ messages }: ReturnType<typeof write>, type: string) =>
  messages.flatMap(({ trace }) => (trace?.analytics?.type === type ? [JSON.parse(trace.analytics.value)] : []));

const statesIn = ({ messages }: { messages: { state?: State }[] }) =>
  messages.flatMap(({ state }) => (state ? [state.stream?.stream_state] : []));

describe('a check', () => {
  const check = (config: object, workspaceDir = temporaryFolder()) => {
    const { messages } = runConnector(
      'local-files',
      'check',
      { config },
      { env: { INLAY_WORKSPACE_DIR: workspaceDir } },
    );
    return messages[0].connectionStatus;
  };

  test('succeeds where files can be written, and leaves only the folder', () => {
    const workspaceDir = join(temporaryFolder(), 'not', 'there', 'yet');
    expect(check({ path: 'a/b' }, workspaceDir)).toEqual({ status: 'SUCCEEDED' });
    expect(readdirSync(join(workspaceDir, 'a', 'b'))).toEqual([]);
    expect(statSync(join(workspaceDir, 'a')).mode & 0o777).toBe(0o700);
  });

  test.each(['..', '../x', 'a/../../x', '/etc', 'a//b', '.hidden', 'a/./b', 'a\0b', ''])(
    'refuses the folder %j',
    (path) => {
      expect(check({ path })).toMatchObject({ status: 'FAILED', message: expect.stringContaining('folder/subfolder') });
    },
  );

  test('refuses a folder that is a link to another place, or a file', () => {
    const workspaceDir = temporaryFolder();
    const elsewhere = temporaryFolder();
    symlinkSync(elsewhere, join(workspaceDir, 'link'));
    writeFileSync(join(workspaceDir, 'file'), '');
    for (const path of ['link', 'link/below', 'file']) {
      expect(check({ path }, workspaceDir)).toMatchObject({ message: expect.stringContaining('not a folder') });
    }
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.each([{ format: 'xml' }, { compression: 'zip' }])('refuses %j', (config) => {
    expect(check({ path: 'a', ...config }).status).toBe('FAILED');
  });
});

describe('an appended stream', () => {
  test('has a line for each record, with when it was sent and by which sync, in files for this user alone', () => {
    const workspaceDir = temporaryFolder();
    const { code } = write(workspaceDir, [append()], [record({ id: 1, text: 'é\n' }), record({}), complete()]);
    expect(code).toBe(0);
    const added = { _inlay_emitted_at: '1970-01-01T00:00:00.000Z', _inlay_sync_id: 17 };
    const lines = textOf(workspaceDir).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ id: 1, text: 'é\n', ...added }, added]);
    const [file = '', ...more] = filesOf(workspaceDir);
    expect(more).toEqual([]);
    expect(file).toMatch(/^0\/17-\d+-0001\.jsonl$/);
    expect(statSync(join(workspaceDir, 'out', 'items', file)).mode & 0o777).toBe(0o600);
    expect(hiddenIn(workspaceDir)).toEqual([]);
  });

  test('keeps the data as the source wrote it, digit by digit', () => {
    const workspaceDir = temporaryFolder();
    const data = '{"id":12345678901234567890,"price":1.10}';
    const input = `${recordHead({ name: 'items' })}5,"data":${data}}}\n`;
    const files = { config: { path: 'out' }, catalog: { streams: [append()] } };
    runConnector('local-files', 'write', files, { input, env: { INLAY_WORKSPACE_DIR: workspaceDir } });
    expect(textOf(workspaceDir)).toContain(data.slice(0, -1));
  });

  test('grows with each sync, complete or not', () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [append()], [record({ id: 1 }), complete()]);
    write(workspaceDir, [append()], [record({ id: 2 })]);
    expect(idsOf(workspaceDir)).toEqual([1, 2]);
  });

  test('loses the generations below the minimum when it is complete, and not before', () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [append()], [record({ id: 1 }), complete()]);
    const refreshed = append('items', { generation_id: 1, minimum_generation_id: 1 });
    write(workspaceDir, [refreshed], [record({ id: 2 })]);
    expect(idsOf(workspaceDir)).toEqual([1, 2]);
    write(workspaceDir, [refreshed], [record({ id: 3 }), complete()]);
    expect(idsOf(workspaceDir)).toEqual([2, 3]);
  });

  test('is visible and whole up to each state that is confirmed', async () => {
    const workspaceDir = temporaryFolder();
    const runner = testRunner();
    const source = bundled('source', 'sample-data', { count: 25_000 });
    const { streams } = await runner.discover(source);
    const users = streams.find(({ name }) => name === 'users');
    if (!users) return expect.unreachable('there are users');
    const seen: [confirmed: number, visible: number][] = [];
    const outcome = await sync(runner, {
      source,
      destination: bundled('destination', 'local-files', { path: 'out' }, workspaceDir),
      streams: [{ ...append('users'), stream: users }],
      keepState: async ({ stream }) => {
        const reached = stream?.stream_state as { id: number } | undefined;
        seen.push([reached?.id ?? 0, idsOf(workspaceDir, 'users').length]);
      },
    });
    expect(outcome).toMatchObject({ status: 'succeeded', records: 25_000 });
    expect(seen.map(([confirmed]) => confirmed)).toEqual([10_000, 20_000, 25_000]);
    for (const [confirmed, visible] of seen) expect(visible).toBeGreaterThanOrEqual(confirmed);
    expect(new Set(idsOf(workspaceDir, 'users')).size).toBe(25_000);
    // States do not make files: a handful of seconds is one.
    expect(filesOf(workspaceDir, 'users').length).toBeLessThanOrEqual(3);
  });
});

describe('an overwritten stream', () => {
  test('has the records of the last complete sync', () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    write(workspaceDir, [overwrite(2)], [record({ id: 2 }), record({ id: 3 }), complete()]);
    expect(idsOf(workspaceDir)).toEqual([2, 3]);
    expect(readdirSync(join(workspaceDir, 'out', 'items'))).toEqual(['2']);
  });

  test('is replaced as well by a sync of the same generation', () => {
    const workspaceDir = temporaryFolder();
    for (const id of [1, 2, 3]) {
      write(workspaceDir, [overwrite(1)], [record({ id }), complete()]);
      expect(idsOf(workspaceDir)).toEqual([id]);
    }
  });

  test('keeps its old records when the input ends before it is complete, and confirms nothing of the new ones', () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    const messages = [record({ id: 2 }), state(2), record({ id: 8 }, 'others'), state(8, 'others')];
    const streams = [overwrite(2), append('others')];
    expect(statesIn(write(workspaceDir, streams, messages))).toEqual([]);
    expect(idsOf(workspaceDir)).toEqual([1]);
    expect(idsOf(workspaceDir, 'others')).toEqual([8]);
    expect(hiddenIn(workspaceDir)).toEqual([]);
    const completed = write(workspaceDir, streams, [...messages, complete()]);
    expect(statesIn(completed)).toEqual([{ at: 2 }, { at: 8 }]);
    expect(idsOf(workspaceDir)).toEqual([2]);
  });

  test('keeps its old records and leaves nothing behind when the sync is cancelled', async () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    const abort = new AbortController();
    const running = sync(testRunner({ graceMs: 30_000 }), {
      source: scriptedSource([{ records: { stream: 'items', to: 50 } }, { hang: true }]),
      destination: bundled('destination', 'local-files', { path: 'out' }, workspaceDir),
      streams: [overwrite(2)],
      signal: abort.signal,
    });
    while (hiddenIn(workspaceDir).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    expect((await running).status).toBe('cancelled');
    expect(idsOf(workspaceDir)).toEqual([1]);
    expect(hiddenIn(workspaceDir)).toEqual([]);
  });

  test('can be emptied', () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    write(workspaceDir, [overwrite(2)], [complete()]);
    expect(filesOf(workspaceDir)).toEqual([]);
  });

  test('is never without records while it is replaced', async () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    const folder = join(workspaceDir, 'out', 'items');
    let looks = 0;
    let looksAtNothing = 0;
    let isOver = false;
    const looking = (async () => {
      for (; !isOver; looks++) {
        if (readdirSync(folder).every((name) => name.startsWith('.'))) looksAtNothing++;
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let generation = 2; generation <= 6; generation++) {
      const steps = [{ records: { stream: 'items', to: 50 } }];
      const outcome = await sync(testRunner(), {
        source: scriptedSource(steps),
        destination: bundled('destination', 'local-files', { path: 'out' }, workspaceDir),
        streams: [overwrite(generation)],
      });
      expect(outcome.status).toBe('succeeded');
    }
    isOver = true;
    await looking;
    expect(looks).toBeGreaterThan(50);
    expect(looksAtNothing).toBe(0);
    expect(idsOf(workspaceDir)).toHaveLength(50);
  });
});

describe('a kill -9 in the middle', () => {
  /** Starts `write`, sends part of its input, and kills it once that has reached the disk. */
  async function killAfter(workspaceDir: string, stream: ConfiguredStream, messages: object[]): Promise<void> {
    const folder = temporaryFolder();
    const files = { config: { path: 'out' }, catalog: { streams: [stream] } };
    const options = Object.entries(files).flatMap(([name, content]) => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return [`--${name}`, join(folder, name)];
    });
    const env = { INLAY_WORKSPACE_DIR: workspaceDir };
    const args = [connectorsProgram, 'local-files', 'write', ...options];
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
    // It must not consume everything.
    child.stdin.on('error', () => {});
    child.stdin.write(asInput(messages));
    while (hiddenIn(workspaceDir).length === 0 && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGKILL');
    await once(child, 'close');
  }

  const many = Array.from({ length: 20_000 }, (_, id) => record({ id, fill: 'x'.repeat(100) }));

  test('leaves the old records of an overwritten stream, and the next sync clears up', async () => {
    const workspaceDir = temporaryFolder();
    write(workspaceDir, [overwrite(1)], [record({ id: 1 }), complete()]);
    await killAfter(workspaceDir, overwrite(2), many);
    expect(idsOf(workspaceDir)).toEqual([1]);
    expect(hiddenIn(workspaceDir)).not.toEqual([]);
    write(workspaceDir, [overwrite(2)], [record({ id: 3 }), complete()]);
    expect(idsOf(workspaceDir)).toEqual([3]);
    expect(hiddenIn(workspaceDir)).toEqual([]);
  });

  test('leaves only whole files of an appended stream, and the next sync clears up', async () => {
    const workspaceDir = temporaryFolder();
    await killAfter(workspaceDir, append(), many);
    expect(filesOf(workspaceDir)).toEqual([]);
    write(workspaceDir, [append()], [record({ id: 3 }), complete()]);
    expect(idsOf(workspaceDir)).toEqual([3]);
    expect(hiddenIn(workspaceDir)).toEqual([]);
  });

  test('does not let the next sync touch what a living process is working on', () => {
    const workspaceDir = temporaryFolder();
    const working = join(workspaceDir, 'out', 'items', `.${process.pid}-17-1`);
    const { pid: gone } = spawnSync('true');
    const leftBehind = join(workspaceDir, 'out', 'items', `.${gone}-17-1`);
    for (const folder of [working, leftBehind]) mkdirSync(folder, { recursive: true });
    write(workspaceDir, [overwrite(1)], [complete()]);
    expect([working, leftBehind].map((folder) => existsSync(folder))).toEqual([true, false]);
  });
});

describe('formats', () => {
  const schema = { type: 'object', properties: { id: {}, 'a "name", odd': {}, nested: {}, flag: {} } };
  const stream = { name: 'items', json_schema: schema, supported_sync_modes: ['full_refresh' as const] };
  const csv = { format: 'csv' };

  test('CSV has a column for each declared field, and nested values as JSON', () => {
    const workspaceDir = temporaryFolder();
    const data = { nested: { a: [1, 'x'] }, id: 1, flag: false, 'a "name", odd': '' };
    write(workspaceDir, [append('items', { stream })], [record(data), record({ id: null }), complete()], csv);
    expect(textOf(workspaceDir)).toBe(
      'id,"a ""name"", odd",nested,flag,_inlay_emitted_at,_inlay_sync_id\r\n' +
        '1,"","{""a"":[1,""x""]}",false,1970-01-01T00:00:00.000Z,17\r\n' +
        ',,,,1970-01-01T00:00:00.000Z,17\r\n',
    );
  });

  test('CSV keeps fields that the stream does not declare in one more column, from a new file on', () => {
    const workspaceDir = temporaryFolder();
    const more = [{ id: 2, extra: 1, 'another "one"': { deep: 9007199254740991 } }, { id: 3 }, { id: 4, extra: null }];
    const messages = [{ id: 1 }, ...more].map((data) => record(data));
    write(workspaceDir, [append('items', { stream })], [...messages, complete()], csv);
    const [before, after] = filesOf(workspaceDir).map(
      (file) =>
        parse(readFileSync(join(workspaceDir, 'out', 'items', file)), { columns: true }) as { [_: string]: string }[],
    );
    expect(before?.map(({ id }) => id)).toEqual(['1']);
    expect(Object.keys(before?.[0] ?? {})).not.toContain('_inlay_other_fields');
    expect(after?.map(({ id, _inlay_other_fields: others = '' }) => [id, others && JSON.parse(others)])).toEqual([
      ['2', { extra: 1, 'another "one"': { deep: 9007199254740991 } }],
      ['3', ''],
      ['4', { extra: null }],
    ]);
    expect(after?.[0]).toMatchObject({ _inlay_emitted_at: '1970-01-01T00:00:00.000Z', _inlay_sync_id: '17' });
  });

  test('CSV leaves a field empty that is called as something every object has', () => {
    const workspaceDir = temporaryFolder();
    const names = ['constructor', 'toString', '__proto__'];
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    const declared = append('items', { stream: { ...stream, json_schema: { type: 'object', properties } } });
    write(workspaceDir, [declared], [record({}), complete()], csv);
    expect(textOf(workspaceDir).split('\r\n')[1]).toBe(',,,1970-01-01T00:00:00.000Z,17');
  });

  test('CSV of a stream that declares nothing keeps the whole data in one column', () => {
    const workspaceDir = temporaryFolder();
    const undeclared = append('items', { stream: { ...stream, json_schema: { type: 'object' } } });
    write(workspaceDir, [undeclared], [record({ any: 'thing' }), complete()], csv);
    const [row] = parse(textOf(workspaceDir), { columns: true }) as { _inlay_data: string }[];
    expect(JSON.parse(row?._inlay_data ?? '')).toEqual({ any: 'thing' });
  });

  test('whatever the values, they come back', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', ',', '\r\n', '', ' a '), fc.jsonValue());
    const rows = fc.array(fc.record({ id: value, 'a "name", odd': value, nested: value }), { minLength: 1 });
    fc.assert(
      fc.property(rows, fc.constantFrom('none', 'gzip'), (given, compression) => {
        const expected = JSON.parse(JSON.stringify(given)) as Record<string, unknown>[];
        const messages = [...given.map((data) => record(data)), complete()];
        const [lines, table] = [temporaryFolder(), temporaryFolder()];
        write(lines, [append('items', { stream })], messages, { compression });
        const read = textOf(lines).trimEnd().split('\n');
        const added = { _inlay_emitted_at: '1970-01-01T00:00:00.000Z', _inlay_sync_id: 17 };
        expect(read.map((line) => JSON.parse(line))).toEqual(expected.map((data) => ({ ...data, ...added })));

        write(table, [append('items', { stream })], messages, { ...csv, compression });
        const cells = parse(textOf(table), { columns: true }) as Record<string, string>[];
        const asCell = (cell: unknown) => (typeof cell === 'string' ? cell : JSON.stringify(cell));
        for (const [index, data] of expected.entries()) {
          for (const [field, cell] of Object.entries(data)) {
            expect(cells[index]?.[field]).toBe(cell === null ? '' : asCell(cell));
          }
        }
        expect(cells).toHaveLength(expected.length);
      }),
      { numRuns: 12 },
    );
  });

  test('gzip files are named so and hold everything, in several pieces', () => {
    const workspaceDir = temporaryFolder();
    const messages = Array.from({ length: 30_000 }, (_, id) => record({ id, fill: 'x'.repeat(100) }));
    write(workspaceDir, [append()], [...messages, complete()], { compression: 'gzip' });
    expect(filesOf(workspaceDir)[0]).toMatch(/\.jsonl\.gz$/);
    expect(idsOf(workspaceDir)).toEqual(messages.map((_, id) => id));
  });
});

describe('the report of a sync', () => {
  const written = (run: ReturnType<typeof write>) => toldIn(run, streamReportType);
  const two = [record({ id: 1 }), record({ id: 2 })];

  test('counts the records that are in place', () => {
    const streams = [append(), append('others', { generation_id: 3 })];
    const messages = [...two, record({ id: 3 }, 'others'), complete(), complete('others')];
    expect(written(write(temporaryFolder(), streams, messages))).toEqual([
      { stream_descriptor: { name: 'items' }, records_written: 2 },
      { stream_descriptor: { name: 'others' }, records_written: 1 },
    ]);
    // Appended records are kept, even if the source has not reached its end.
    expect(written(write(temporaryFolder(), [append()], two))).toMatchObject([{ records_written: 2 }]);
  });

  test('counts none of a stream that was to be replaced and is not complete', () => {
    const workspaceDir = temporaryFolder();
    expect(written(write(workspaceDir, [overwrite(1)], [...two, complete()]))).toMatchObject([{ records_written: 2 }]);
    expect(written(write(workspaceDir, [overwrite(2)], two))).toMatchObject([{ records_written: 0 }]);
  });
});

test('a sync by a key is refused: files have none', () => {
  const stream = append('items', { destination_sync_mode: 'append_dedup' });
  const { messages, code } = write(temporaryFolder(), [stream], []);
  expect(code).toBe(1);
  expect(messages.at(-1).trace.error).toMatchObject({ failure_type: 'config_error' });
});

describe('files that someone else has removed', () => {
  const holdingsIn = (run: ReturnType<typeof write>) => toldIn(run, streamHoldingType);
  const goesOn = (held: string | null) => [append('items', { inlay_held: held })];
  const begin = () => {
    const workspaceDir = temporaryFolder();
    const [{ held }] = holdingsIn(write(workspaceDir, [append()], [record({ id: 1 }), state(1), complete()]));
    return { workspaceDir, held };
  };

  test('with their folder are lost, and nothing is stored until the platform has forgotten the state', () => {
    const { workspaceDir, held } = begin();
    for (const known of [held, null]) {
      rmSync(join(workspaceDir, 'out', 'items'), { recursive: true });
      const run = write(workspaceDir, goesOn(known), [record({ id: 2 }), state(2), complete()]);
      expect(run.code).toBe(0);
      expect(holdingsIn(run)).toEqual([{ stream_descriptor: { name: 'items' }, lost: 'gone' }]);
      expect(statesIn(run)).toEqual([]);
      write(workspaceDir, [append()], [record({ id: 1 }), record({ id: 2 }), state(2), complete()]);
      expect(idsOf(workspaceDir)).toEqual([1, 2]);
    }
  });

  test('from their folder are reported once, and not sent again', () => {
    const { workspaceDir, held } = begin();
    rmSync(join(workspaceDir, 'out', 'items', '0'), { recursive: true });
    const run = write(workspaceDir, goesOn(held), [state(2), complete()]);
    expect(holdingsIn(run)).toMatchObject([{ is_emptied: true }, { held: '{"rows":false}' }]);
    expect(statesIn(run)).toEqual([{ at: 2 }]);
    expect(holdingsIn(write(workspaceDir, goesOn('{"rows":false}'), [state(2), complete()]))).toEqual([]);
  });

  test('one by one are nobody else’s business', () => {
    const { workspaceDir, held } = begin();
    write(workspaceDir, goesOn(held), [record({ id: 2 }), state(2), complete()]);
    const [first = ''] = filesOf(workspaceDir);
    rmSync(join(workspaceDir, 'out', 'items', first));
    expect(holdingsIn(write(workspaceDir, goesOn(held), [state(2), complete()]))).toEqual([]);
  });
});
