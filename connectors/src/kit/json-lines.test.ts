import { Readable } from 'node:stream';
import { readInput } from '@inlay/protocol/input';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import { expect, test } from 'vitest';
import { jsonLines } from './json-lines.ts';

test.each([
  ['{"n":12345678901234567890}', '{"n":12345678901234567890,'],
  ['{"a":{"b":"}}}"}}', '{"a":{"b":"}}}"},'],
  ['{ "ä": 1 }', '{ "ä": 1,'],
  ['{}', '{'],
  ['{ \t}', '{'],
])('a line keeps the data as written and adds to it: %s', async (data, beginning) => {
  const message = `{"type":"RECORD","record":{"stream":"s","emitted_at":1000,"data":${data}}}\n`;
  const lines = new TextBuffer(100);
  const addLine = jsonLines(7);
  for await (const batch of readInput(Readable.from([message], { objectMode: false }))) {
    for (const input of batch) if (input.type === 'RECORD') addLine(input.record, lines);
  }
  expect(lines.take().toString()).toBe(
    `${beginning}"_inlay_emitted_at":"1970-01-01T00:00:01.000Z","_inlay_sync_id":7}\n`,
  );
});
