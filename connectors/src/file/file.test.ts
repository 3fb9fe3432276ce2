import { createWriteStream, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { ExactNumber } from '@inlay/protocol/json';
import { describe, expect, test } from 'vitest';
import { configuredStream, openSurroundings, runSourceProgram, temporaryFolder } from '../../test/run-source.ts';
import { csv, startFiles, startFolder, validate } from '../../test/start-files.ts';

describe('a file', () => {
  test.each([
    ['CSV', csv, 'id,name\n1,a\n2,\n'],
    ['CSV with a byte order mark', csv, '\ufeffid,name\n1,a\n2,\n'],
    ['JSON Lines', { type: 'jsonl' }, '{"id":1,"name":"a"}\r\n\n{"id":2,"name":null}'],
    ['JSON', { type: 'json' }, '[{"id":1,"name":"a"},{"id":2,"name":null}]'],
    [
      'JSON below a path',
      { type: 'json', record_path: 'a.b' },
      '{"a":{"b":[{"id":1,"name":"a"},{"id":2,"name":null}]}}',
    ],
  ])('of %s is read, compressed or not', async (_, format, content) => {
    const expected = [
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ];
    expect((await startFolder('f', format, { f: content }).read()).things).toEqual(expected);
    expect((await startFolder('f.gz', format, { 'f.gz': gzipSync(content) }).read()).things).toEqual(expected);
    const members = Buffer.concat([gzipSync(content.slice(0, 5)), gzipSync(content.slice(5))]);
    expect((await startFolder('f', format, { f: members }).read()).things).toEqual(expected);
  });

  test('may be encoded in Latin-1', async () => {
    const content = Buffer.from('name\nM\xfcller \x80\n', 'latin1');
    const { read } = startFolder('f', { ...csv, encoding: 'latin1' }, { f: content });
    expect((await read()).things).toEqual([{ name: 'Müller €' }]);
    const { check } = startFolder('f', csv, { f: content });
    await expect(check()).rejects.toThrow(/^f: .*UTF-8.*encoding/);
  });

  test('has characters of several bytes across the borders of chunks', async () => {
    const line = '"äöü€😀",1\n';
    const { read } = startFolder('f', csv, { f: `a,b\n${line.repeat(50_000)}` });
    const { things } = await read();
    expect(things).toHaveLength(50_000);
    expect(new Set(things.map(({ a }) => a))).toEqual(new Set(['äöü€😀']));
  });

  test('marks every record with its file', async () => {
    const { read } = startFolder('*.csv', csv, { 'a.csv': 'id\n1\n', 'b.csv': 'id\n2\n', 'c.txt': 'id\n3\n' });
    const { all, streams } = await read();
    expect(all).toEqual([
      { id: 1, _file: 'a.csv', _file_modified_at: expect.stringMatching(/^\d{4}-.*Z$/) },
      { id: 2, _file: 'b.csv', _file_modified_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    expect(streams).toMatchObject([
      {
        name: 'things',
        supported_sync_modes: ['full_refresh', 'incremental'],
        source_defined_cursor: true,
        default_cursor_field: ['_file_modified_at'],
        json_schema: {
          properties: {
            id: { type: ['null', 'integer'] },
            _file: { type: 'string' },
            _file_modified_at: { type: 'string', format: 'date-time' },
          },
        },
      },
    ]);
  });

  test('counts values whose fields are called as those that are added', async () => {
    const { read } = startFolder(
      'f',
      { type: 'jsonl' },
      { f: '{"id":1}\n{"id":2,"_file":"mine"}\n{"id":3,"_file":"too"}' },
    );
    const { all, reports } = await read();
    expect(all.map(({ _file }) => _file)).toEqual(['f', 'f', 'f']);
    expect(reports).toEqual([
      {
        stream_descriptor: { name: 'things' },
        values_changed: [{ field: '_file', kind: 'left_out', count: 2, example: 'record 2' }],
      },
    ]);
  });

  test('keeps long integers of JSON in their digits', async () => {
    const { read } = startFolder('f', { type: 'jsonl' }, { f: '{"id":9007199254740993}' });
    expect((await read()).things).toEqual([{ id: new ExactNumber('9007199254740993') }]);
  });

  test.each([
    [
      'a ZIP archive',
      csv,
      gzipSync('').fill(0).fill('PK\x03\x04', 0, 4),
      'f: The file is a ZIP archive or a spreadsheet.',
    ],
    ['a damaged gzip', csv, gzipSync('id\n1\n').subarray(0, -4), 'is damaged. Replace it.'],
    ['other gzip', csv, Buffer.from([0x1f, 0x8b, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]), 'is damaged. Replace it.'],
    ['wrong CSV', csv, 'a,b\n1\n', 'f: A row has more or fewer cells than the first row (near line 2).'],
    [
      'no JSON',
      { type: 'jsonl' },
      '{"a":1}\n{"secret\n{"a":2}\n',
      'f: Line 2 is not valid JSON. Check that the file has one JSON',
    ],
    [
      'no object',
      { type: 'jsonl' },
      '[1]\n',
      'f: Line 1 is not a JSON object. Check that the file has one JSON object',
    ],
    ['no document', { type: 'json' }, '{"a":secret}', 'f: The file is not valid JSON. Check the format.'],
    ['half of JSON', { type: 'json' }, '{"secret', 'f: The file ends in the middle of a record. Try again once it is'],
    ['half of JSON Lines', { type: 'jsonl' }, '{"a":1}\n{"secret', 'f: The file ends in the middle of a record.'],
    ['an empty document', { type: 'json' }, ' ', 'f: The file is empty. Check the location.'],
    [
      'another path',
      { type: 'json', record_path: 'x' },
      '{"a":[]}',
      'f: There is no field x. Available fields: a. Check',
    ],
    ['no records', { type: 'json' }, '[1]', 'f: The records are not JSON objects.'],
  ])('that is %s is explained by a check', async (_, format, content, message) => {
    const { check } = startFolder('f', format, { f: content });
    await expect(check()).rejects.toThrow(message);
    await expect(check()).rejects.not.toThrow('secret');
  });

  test('that is not there is explained by a check', async () => {
    const { check, folder } = startFolder('no.csv', csv);
    await expect(check()).rejects.toThrow(`${join(folder, 'no.csv')} does not exist`);
  });

  test('without a field of the primary key is explained by a check', async () => {
    const location = { type: 'path', path: join(temporaryFolder(), 'f') };
    writeFileSync(location.path, 'id,name\n1,a\n');
    const { check } = startFiles({ location, format: csv, primary_key: ['id', 'key'] }, [dirname(location.path)]);
    await expect(check()).rejects.toThrow(/ key\..* id, name\./);
  });

  test('of JSON has an upper limit', async () => {
    const document = startFolder('f', { type: 'json' }, { f: gzipSync(' '.repeat(65 * 1024 * 1024)) });
    await expect(document.check()).rejects.toThrow(/^f: .*64 MB/);
  });

  test('has records that are too long, which are skipped and counted', async () => {
    const location = { type: 'path', path: join(temporaryFolder(), 'f') };
    const text = `${'x'.repeat(20e6)}\n`;
    writeFileSync(location.path, gzipSync(`id,text\n1,a\n"tw""o","${text}"\n3,b\n`));
    const { check, read } = startFiles({ location, format: csv, primary_key: ['id'] }, [dirname(location.path)]);
    await check();
    const { records, reports, log } = await read();
    const [[name = '', found] = []] = Object.entries(records);
    expect(found?.map(({ id }) => id)).toEqual([1, 3]);
    const key = 'id tw"o';
    expect(reports).toEqual([{ stream_descriptor: { name }, records_skipped: { count: 1, keys: [key] } }]);
    expect(log).toEqual([expect.stringContaining(`Skipped a record of ${name} (${key})`)]);
  });
});

describe('an incremental sync', () => {
  test('passes over files that have not changed', async () => {
    const { read, write } = startFolder('*.csv', csv, { 'a.csv': 'id\n1\n', 'b.csv': 'id\n2\n' });
    const first = await read({ syncMode: 'incremental' });
    expect(first.events).toEqual(['STARTED', 'record', 'record', 'state', 'COMPLETE']);
    const second = await read({ syncMode: 'incremental', state: first.states });
    expect(second.things).toEqual([]);
    expect(second.states).toEqual(first.states);

    write('b.csv', 'id\n2\n3\n');
    write('c.csv', 'id\n4\n');
    const third = await read({ syncMode: 'incremental', state: second.states });
    expect(third.things).toEqual([{ id: 2 }, { id: 3 }, { id: 4 }]);
    expect((await read({ syncMode: 'incremental', state: third.states })).things).toEqual([]);
    expect((await read({ state: third.states })).things).toHaveLength(4);
  });

  test('has a state every 10,000 records that covers the files before', async () => {
    const rows = (count: number) => `id\n${'1\n'.repeat(count)}`;
    const { read } = startFolder('*', csv, { a: rows(12_000), b: rows(9000) });
    const { events, states } = await read({ syncMode: 'incremental' });
    expect(events.flatMap((event, index) => (event === 'state' ? [index] : []))).toEqual([10_001, 20_002, 21_003]);
    const version = expect.any(String);
    expect(states.map(({ stream }) => stream?.stream_state)).toEqual([
      { files: {} },
      { files: { a: version } },
      { files: { a: version, b: version } },
    ]);
    // As after a crash: what the state covers is not read again, the rest is.
    const rest = await read({ syncMode: 'incremental', state: states.slice(1, 2) });
    expect(rest.things).toHaveLength(9000);
  });
});

describe('as a program', () => {
  /** Far less than the files below, and enough for the program itself. */
  const nodeOptions = ['--max-old-space-size=24'];

  async function writeLarge(file: string, first: string, line: string, lines: number) {
    function* chunks() {
      yield first;
      for (let left = lines; left > 0; left -= 1000) yield line.repeat(Math.min(left, 1000));
    }
    await pipeline(Readable.from(chunks()), createWriteStream(file));
  }

  test.each([
    ['CSV', csv, 'id,text\n', `7,${'x'.repeat(990)}\n`],
    ['JSON Lines', { type: 'jsonl' }, '', `{"id":7,"text":"${'x'.repeat(980)}"}\n`],
  ])('checks, discovers and reads a long file of %s in little memory', async (_, format, first, line) => {
    const { folder, configuration, surroundings } = startFolder('f', format);
    const lines = 30_000;
    await writeLarge(join(folder, 'f'), first, line, lines);
    const options = { configuration, surroundings, nodeOptions };
    const checked = await runSourceProgram('file', 'check', options);
    expect(checked.messages).toEqual([{ type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } }]);
    const { messages } = await runSourceProgram('file', 'discover', options);
    const [discovered] = messages;
    if (discovered?.type !== 'CATALOG') throw new Error('This is no catalog.');
    const streams = discovered.catalog.streams.map((stream) => configuredStream(stream, 'full_refresh'));
    const read = await runSourceProgram('file', 'read', { ...options, streams });
    expect(read).toMatchObject({ exitCode: 0, rest: '' });
    expect(read.messages.filter(({ type }) => type === 'RECORD')).toHaveLength(lines);
    expect(read.messages.at(-1)).toMatchObject({ trace: { stream_status: { status: 'COMPLETE' } } });
  });

  test('reads nothing outside of the allowed folders', async () => {
    const { configuration } = startFiles({ location: { type: 'path', path: '/etc/passwd' }, format: csv }, []);
    const surroundings = { ...openSurroundings, readableDirs: [temporaryFolder()] };
    const { messages, exitCode } = await runSourceProgram('file', 'check', { configuration, surroundings });
    expect(exitCode).toBe(0);
    expect(messages).toMatchObject([
      {
        connectionStatus: {
          status: 'FAILED',
          message: expect.stringContaining('/etc/passwd is not in'),
        },
      },
    ]);
  });
});

describe('the specification', () => {
  const complete = { stream_name: 'a', location: { type: 'path', path: '/a' }, format: csv };

  test.each([
    { stream_name: '' },
    { location: { type: 'path', path: 'relative' } },
    { location: { type: 'url', url: 'file:///etc/passwd' } },
    { location: { type: 'url' } },
    { format: { type: 'xml' } },
    { format: { type: 'csv', delimiter: 'x' } },
    { format: { type: 'csv', encoding: 'utf-7' } },
  ])('does not allow %j', (wrong) => {
    expect(validate(complete)).toBe(true);
    expect(validate({ ...complete, ...wrong })).toBe(false);
  });
});
