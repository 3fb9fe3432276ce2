import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathKey, ShortMembers } from './short-members.ts';

function find(text: string, paths: string[][], size = 7): Record<string, string> {
  const members = new ShortMembers(paths);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) members.add(bytes.subarray(at, at + size));
  // Without a prototype: a key may be called `toString`.
  return Object.assign(Object.create(null), Object.fromEntries(members.found));
}

describe('short members', () => {
  it('are found wherever they stand', () => {
    const big = JSON.stringify({ a: ['}', { id: 9 }], text: '"{'.repeat(3000), type: 'STATE' });
    const paths = [['type'], ['record', 'stream'], ['record', 'data', 'id'], ['record', 'data', 'more', 'key']];
    for (const text of [
      `{"type":"RECORD","record":{"stream":"s","data":{"id":12345678901234567890,"big":${big},"more":{"key":null}}}}`,
      `{ "record" : {"data" : {"big":${big} , "more":{"key":null},"id" : 12345678901234567890 } ,"stream":"s"}, "type" : "RECORD"}`,
    ]) {
      expect(find(text, paths)).toEqual({
        type: '"RECORD"',
        'record\0stream': '"s"',
        'record\0data\0id': '12345678901234567890',
        'record\0data\0more\0key': 'null',
      });
    }
  });

  it('are not found in lists, in other objects, or when they are long', () => {
    const long = 'x'.repeat(2000);
    expect(find(`[{"id":1}]`, [['id']])).toEqual({});
    expect(find(`{"a":{"id":1},"b":[{"id":2}],"id":"${long}"}`, [['id']])).toEqual({});
    expect(find(`{"${long}":1,"a":2}`, [['a'], ['']])).toEqual({ a: '2', '': '1' });
    expect(find('['.repeat(100_000), [['id']])).toEqual({});
  });

  it('are what a parser finds, whatever the pieces', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1, max: 20 }), (object, size) => {
        const text = JSON.stringify(object);
        const wanted = Object.keys(object).filter((key) => key !== '' && !key.includes('\0'));
        const found = find(
          text,
          wanted.map((key) => [key]),
          size,
        );
        for (const key of wanted) {
          const value = object[key];
          const isShort = JSON.stringify(key).length < 1000 && Buffer.byteLength(JSON.stringify(value)) < 1000;
          const isScalar = typeof value !== 'object' || value === null;
          expect(found[pathKey([key])]).toBe(isShort && isScalar ? JSON.stringify(value) : undefined);
        }
      }),
    );
  });
});
