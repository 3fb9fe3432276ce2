import { Readable } from 'node:stream';
import { recordHead } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configured } from '../../test/connectors.ts';
import { Confirmations } from './confirmations.ts';
import { Conversation } from './conversation.ts';
import { readBlocks } from './lines.ts';
import { Relay } from './relay.ts';
import { streamNames } from './stream-names.ts';
import { StreamReports } from './stream-reports.ts';

const names = ['items', 'größe', 'a"b\\c', 'x'];
const streams = names.map((name) => configured(name));

interface Sent {
  name: string;
  emittedAt: number;
  data: object;
}

/** The same record in the bundled connectors' words and in those of others. */
const spellings: Record<string, (record: Sent) => string> = {
  own: ({ name, emittedAt, data }) => `${recordHead({ name })}${emittedAt},"data":${JSON.stringify(data)}}}`,
  spaced: (record) => ` ${spellings.own?.(record)}`.replace(' {', '{ '),
  ended: (record) => `${spellings.own?.(record)}\r`,
  ordered: ({ name, emittedAt, data }) =>
    JSON.stringify({ record: { data, emitted_at: emittedAt, stream: name }, type: 'RECORD' }),
  followed: ({ name, emittedAt, data }) =>
    JSON.stringify({ type: 'RECORD', record: { stream: name, emitted_at: emittedAt, data, meta: { a: { b: {} } } } }),
};

const sent = fc.record({
  name: fc.constantFrom(...names),
  emittedAt: fc.constantFrom(0, 1, 1_700_000_000_000, 1_700_000_000_001),
  data: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
});
const line = fc.oneof(
  fc.record({ record: sent, spelling: fc.constantFrom(...Object.keys(spellings)) }),
  fc.record({
    text: fc.constantFrom('', 'hello', '{"type":"LOG","log":{"level":"INFO","message":"}}}"}}', '{"type":"RECO'),
  }),
  fc.record({ state: fc.nat() }),
);
type Line = { record: Sent; spelling: string } | { text: string } | { state: number };

function textOf(sentLine: Line): string {
  if ('text' in sentLine) return sentLine.text;
  if ('record' in sentLine) return spellings[sentLine.spelling]?.(sentLine.record) ?? '';
  const stream = { stream_descriptor: { name: 'items' }, stream_state: { at: sentLine.state } };
  return JSON.stringify({ type: 'STATE', state: { type: 'STREAM', stream } });
}

async function pass(text: string, chunkBytes: number, prefix: string) {
  const source = new Conversation({ kind: 'source', program: '', args: [], env: {} }, undefined);
  const reports = new StreamReports(streams.map(({ stream }) => stream));
  const renamed = await streamNames({ streams }, { prefix, namespace: () => undefined });
  const relay = new Relay({ streams }, renamed, new Map(), source, new Confirmations(), reports, Date.now);
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const output: Buffer[] = [];
  for await (const blocks of readBlocks(Readable.from(chunks), 1_000_000)) output.push(...relay.pass(blocks));
  expect(relay.fault).toBeUndefined();
  const told = Buffer.concat(output).toString();
  return { told, messages: told.split('\n').flatMap((each) => (each ? [JSON.parse(each)] : [])), ...relay.progress };
}

describe('what a destination receives', () => {
  test.each(['', 'raw_'])(
    'is the same however records are spelled and cut into chunks, with the prefix %j',
    async (prefix) => {
      await fc.assert(
        fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 200 }), async (lines, chunkBytes) => {
          const text = lines.map((each) => `${textOf(each)}\n`).join('');
          const passed = await pass(text, chunkBytes, prefix);
          const records = lines.flatMap((each) => ('record' in each ? [each] : []));
          const expected = lines.flatMap((each) => {
            if ('text' in each) return [];
            const message = JSON.parse(textOf(each));
            if (message.type === 'RECORD') message.record.stream = prefix + message.record.stream;
            else message.state.stream.stream_descriptor.name = `${prefix}items`;
            return [message];
          });
          expect(passed.messages).toEqual(expected);
          expect(passed.records).toBe(records.length);
          expect(passed.bytes).toBe(records.reduce((sum, each) => sum + Buffer.byteLength(textOf(each)), 0));
          expect((await pass(text, Math.max(1, Buffer.byteLength(text)), prefix)).told).toBe(passed.told);
        }),
      );
    },
  );

  test('is the very bytes of a record, and nothing of a record that was cut off', async () => {
    const own = `${recordHead({ name: 'items' })}1,"data":{"n":12345678901234567890, "x":1.10}}}\n`;
    const { told, records } = await pass(`${own}${own}${own.slice(0, -2)}`, 50, '');
    expect(told).toBe(own + own);
    expect(records).toBe(2);
  });
});
