/* What the runner makes of blocks of rows; platform/test/row-blocks.test.ts has real connectors. */
import { Readable } from 'node:stream';
import { type RowsHeader, rowsType } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configured, memoryLog } from '../../test/connectors.ts';
import { Confirmations } from './confirmations.ts';
import { Conversation } from './conversation.ts';
import { readBlocks } from './lines.ts';
import { Relay } from './relay.ts';
import { RunFailure } from './runner.ts';
import { streamNames } from './stream-names.ts';
import { StreamReports } from './stream-reports.ts';

const streams = [{ ...configured('items'), inlay_row_blocks: rowFormat }, configured('chosen')];

async function pass(text: string, { chunkBytes = text.length, prefix = '' } = {}) {
  const { log, jobLog } = memoryLog();
  const source = new Conversation({ kind: 'source', program: '', args: [], env: {} }, jobLog);
  const reports = new StreamReports(streams.map(({ stream }) => stream));
  const confirmations = new Confirmations();
  const renamed = await streamNames({ streams }, { prefix, namespace: () => undefined });
  const relay = new Relay({ streams }, renamed, new Map(), source, confirmations, reports, Date.now);
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const output: Buffer[] = [];
  for await (const blocks of readBlocks(Readable.from(chunks), 1_000_000)) {
    output.push(...relay.pass(blocks));
    if (relay.fault) break;
  }
  relay.noteEnd();
  const fault = relay.fault instanceof RunFailure ? relay.fault.failure.message : relay.fault;
  return { relay, fault, log, told: Buffer.concat(output).toString(), confirmations };
}

const header = (change: Partial<RowsHeader> = {}) => {
  const columns = [{ name: 'id', type: 'int8' }];
  const rows = { stream: 'items', emitted_at: 1, columns, count: 2, bytes: 120, length: 4, ...change };
  return `${JSON.stringify({ type: rowsType, rows })}\n`;
};
const stream = { stream_descriptor: { name: 'items' }, stream_state: { at: 2 } };
const state = `${JSON.stringify({ type: 'STATE', state: { type: 'STREAM', stream } })}\n`;

describe('a block of rows', () => {
  test('is passed on whole under the name at the destination, before the state that covers it', async () => {
    const text = `${header()}1\n2\n${state}${header({ count: 1, bytes: 60, length: 2 })}3\n`;
    const there = text.replaceAll('"stream":"items"', '"stream":"raw_items"');
    const expected = there.replaceAll('"name":"items"', '"name":"raw_items"');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (chunkBytes) => {
        const { relay, told, fault, confirmations } = await pass(text, { chunkBytes, prefix: 'raw_' });
        expect(fault).toBeUndefined();
        expect(told).toBe(expected);
        expect(relay.progress).toEqual({ records: 3, bytes: 180 });
        expect(relay.movedOf({ name: 'items' })).toMatchObject({ records: 3, bytes: 180 });
        confirmations.textOf({ type: 'STREAM', stream });
        expect(confirmations.arrivedOf({ name: 'items' })).toEqual({ records: 2, bytes: 120 });
      }),
      { numRuns: 30 },
    );
  });

  test('of a stream that was not asked for is ignored, and what follows is not', async () => {
    const { relay, told, log } = await pass(`${header({ stream: 'others' })}1\n2\n${state}`);
    expect(told).toBe(state);
    expect(relay.progress).toEqual({ records: 0, bytes: 0 });
    expect(log.map(({ message }) => message)).toEqual(['others is not a configured stream; its records are ignored.']);
  });

  const damaged = 'The source sent a damaged block of rows of items:';
  test.each([
    ['was not offered to its source', header({ stream: 'chosen' }), 'of chosen: it was not asked for blocks.'],
    ['has a count of NaN', header().replace('"count":2', '"count":NaN'), `${damaged} its count or bytes is not`],
    ['says no length', header({ length: 0 }), `${damaged} its length is not between its count and 1048576.`],
    ['ends within a row', `${header({ length: 3 })}1\n22\n`, `${damaged} it ends within a row.`],
    ['has no rows', `{"type":"${rowsType}"}\n`, 'The source sent a damaged block of rows: its header has no rows.'],
    [
      'is not valid JSON',
      `{"type":"${rowsType}","rows":{"stream":"items",}}\n`,
      'sent a block of rows of items that cannot',
    ],
  ])('is refused if it %s, and what came before it is passed on', async (_, text, message) => {
    const { fault, told } = await pass(`${state}${text}`);
    expect(fault).toContain(message);
    expect(told).toBe(state);
  });

  test('is not passed on if its source stops in it', async () => {
    const { relay, told, fault } = await pass(`${state}${header()}1\n`);
    expect([told, fault]).toEqual([state, undefined]);
    expect(relay.cutOff?.message).toBe('The source stopped in the middle of a block of rows of items.');
  });
});
