import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DestinationInput } from './connector.ts';
import { dataText, readInput } from './input.ts';
import { messageWriter } from './messages.ts';
import { recordHead } from './protocol.ts';

async function read(input: Readable): Promise<DestinationInput[]> {
  const messages: DestinationInput[] = [];
  for await (const batch of readInput(input)) messages.push(...batch);
  return messages;
}

const records = (messages: DestinationInput[]) =>
  messages.flatMap((message) => (message.type === 'RECORD' ? [message.record] : []));

describe('a record or state that is not valid JSON', () => {
  const message = 'The destination received a record or state that is not valid JSON. Nothing after it was stored.';

  test.each(['{"type":"RECORD","record":{"stream":"a","data":{,}}}', '{"type": "STATE", "state": }'])(
    'is a failure and not skipped: %s',
    async (line) => {
      await expect(read(Readable.from([Buffer.from(`${line}\n`)]))).rejects.toThrow(message);
    },
  );

  test('is a failure also when its data is read late', async () => {
    const line = `${recordHead({ name: 'a' })}1,"data":{"b":NaN}}}\n`;
    const [record] = records(await read(Readable.from([Buffer.from(line)])));
    expect(() => record?.data).toThrow(message);
  });

  test('is skipped when it was cut off at the very end, where its sender died', async () => {
    expect(await read(Readable.from([Buffer.from('{"type":"RECORD","record":{"str')]))).toEqual([]);
  });
});

describe('messages', () => {
  test('after a record that could not be written begin on a line of their own', async () => {
    const output = new PassThrough();
    const writer = messageWriter(output);
    const failing = () => {
      throw new Error('no such value');
    };
    void writer.emitter.record({ name: 'a' }, { n: 1 });
    expect(() => writer.emitter.recordOf({ name: 'a' }, failing)).toThrow('no such value');
    void writer.emitter.state({ data: { at: 1 } });
    await writer.flush();
    const messages = await read(Readable.from([output.read()]));
    expect(messages.map(({ type }) => type)).toEqual(['RECORD', 'STATE']);
  });

  test('are read as they were written, however they are cut into chunks', async () => {
    const name = fc.string({ unit: 'binary' });
    // An empty namespace is the same as none.
    const namespace = fc.string({ unit: 'binary', minLength: 1 });
    const stream = fc.record({ name, namespace }, { requiredKeys: ['name'] });
    const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(stream, data)), fc.integer({ min: 1, max: 100 }), async (sent, size) => {
        const output = new PassThrough();
        const writer = messageWriter(output);
        for (const [of, content] of sent) void writer.emitter.record(of, content);
        void writer.emitter.state({ data: { at: 1 } });
        await writer.flush();
        const bytes = output.read() as Buffer;
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const messages = await read(Readable.from(chunks, { objectMode: false }));
        expect(messages.at(-1)).toEqual({ type: 'STATE', state: { data: { at: 1 } } });
        const expected = JSON.parse(JSON.stringify(sent)) as typeof sent;
        const found = records(messages);
        expect(found).toHaveLength(expected.length);
        for (const [index, record] of found.entries()) {
          const [of, content] = expected[index] ?? [];
          expect({ name: record.stream, ...('namespace' in record && { namespace: record.namespace }) }).toEqual(of);
          expect(record.data).toEqual(content);
          expect(JSON.parse(dataText(record))).toEqual(content);
        }
      }),
    );
  });

  test('keep the text of the data, whichever connector wrote them', async () => {
    const data = '{"n":12345678901234567890}';
    const own = `{"type":"RECORD","record":{"stream":"s","emitted_at":1,"data":${data}}}`;
    const foreign = `{"type":"RECORD","record":{"data":${data},"stream":"s","emitted_at":1}}`;
    const [first, second] = records(await read(Readable.from([`${own}\n${foreign}\n`], { objectMode: false })));
    expect(first && dataText(first)).toBe(data);
    expect(second && dataText(second)).toBe(data);
  });

  test('of others keep what stands behind their data, in any order and with any data', async () => {
    const data = fc.dictionary(fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', ',', 'ä') }), fc.jsonValue());
    const meta = { changes: [{ field: 'a', change: 'NULLED', reason: 'SOURCE_SERIALIZATION_ERROR' }] };
    const members = fc.shuffledSubarray(['stream', 'emitted_at', 'data', 'meta', 'other'], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(members, data, async (order, content) => {
        const known: Record<string, unknown> = { stream: 's', emitted_at: 1, data: content, meta, other: { a: {} } };
        const sent = Object.fromEntries(order.map((member) => [member, known[member]]));
        const line = JSON.stringify({ type: 'RECORD', record: sent });
        const [record] = records(await read(Readable.from([`${line}\n`], { objectMode: false })));
        // As JSON has it: -0 is sent as 0.
        expect(record).toEqual(JSON.parse(line).record);
        expect(record && JSON.parse(dataText(record))).toEqual(JSON.parse(line).record.data);
      }),
      // As the bundled connectors write it, up to the end of the data.
      { examples: [[['stream', 'emitted_at', 'data', 'meta', 'other'], { a: 1 }]] },
    );
  });

  test('are the same whichever connector wrote them, in any mixture and cut anywhere', async () => {
    const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    const record = fc.record({ stream: fc.constantFrom('s', 'ß', 'a"b'), emitted_at: fc.nat({ max: 2 }), data });
    const own = ({ stream, emitted_at, data }: { stream: string; emitted_at: number; data: object }) =>
      `${recordHead({ name: stream })}${emitted_at},"data":${JSON.stringify(data)}}}`;
    const spellings = [
      own,
      (one: Parameters<typeof own>[0]) => `${own(one)}\r`,
      (one: Parameters<typeof own>[0]) => own(one).replace('{', '{ '),
      ({ stream, emitted_at, data }: Parameters<typeof own>[0]) =>
        JSON.stringify({ type: 'RECORD', record: { data, emitted_at, stream } }),
    ];
    const line = fc.tuple(record, fc.constantFrom(...spellings));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 200 }), async (lines, size) => {
        const bytes = Buffer.from(lines.map(([one, spell]) => `${spell(one)}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const found = records(await read(Readable.from(chunks, { objectMode: false })));
        const plain = found.map(({ stream, emitted_at, data }) => ({ stream, emitted_at, data }));
        expect(plain).toEqual(lines.map(([one]) => JSON.parse(JSON.stringify(one))));
      }),
    );
  });

  test('may be very long, and arrive in very many chunks', async () => {
    const fill = 'x'.repeat(20_000_000);
    const line = Buffer.from(`{"type":"RECORD","record":{"stream":"s","emitted_at":1,"data":{"fill":"${fill}"}}}\n`);
    const chunks = Array.from({ length: Math.ceil(line.length / 500) }, (_, index) =>
      line.subarray(index * 500, (index + 1) * 500),
    );
    const [record] = records(await read(Readable.from(chunks, { objectMode: false })));
    expect(record?.data.fill).toBe(fill);
  });

  test('that are none, or that were cut off, are skipped', async () => {
    const cut = '{"type":"RECORD","record":{"stream":"s","emitted_at":1,"data":{"a":{"b":{"c":1}}}';
    const lines = ['hello', '{"a"', '{"type":"LOG","log":{}}', '', cut];
    expect(await read(Readable.from([lines.join('\n')], { objectMode: false }))).toEqual([]);
  });

  test('make the sender wait while the reader is behind', async () => {
    const output = new PassThrough({ highWaterMark: 1000 });
    const { emitter, flush } = messageWriter(output);
    let wait: Promise<void> | undefined;
    let sent = 0;
    for (; !wait && sent < 10_000; sent++) wait = emitter.record({ name: 's' }, { fill: 'x'.repeat(1000) });
    expect(sent).toBeLessThan(300);
    const messages = read(output);
    await wait;
    await flush();
    output.end();
    expect(await messages).toHaveLength(sent);
  });
});
