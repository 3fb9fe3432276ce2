import { expect, it } from 'vitest';
import { lineOf, nearestPlace, readJson } from './json-places.ts';

const at = (text: string, ...path: string[]) => {
  const read = readJson(text);
  if ('faultAt' in read) throw new Error(`wrong at ${read.faultAt}`);
  const place = nearestPlace(read.places, path);
  return place && text.slice(place.start, place.end);
};

it('finds each value, and what is around one that is missing', () => {
  const text = ' {"a": {"b": [1, {"c": "x\\"y"}]},\n "d": null }\n';
  expect(at(text, 'a', 'b', '1', 'c')).toBe('"x\\"y"');
  expect(at(text, 'a', 'b', '0')).toBe('1');
  expect(at(text, 'd')).toBe('null');
  expect(at(text, 'a', 'missing')).toBe('{"b": [1, {"c": "x\\"y"}]}');
  expect(at(text, 'nothing')).toBe(text.trim());
  expect(at('{}', 'a')).toBe('{}');
  expect(at('[[],{}]', '1')).toBe('{}');
});

it('reads exactly what the browser reads', () => {
  for (const text of [
    '',
    '{',
    '{"a":}',
    '[1,]',
    '{"a":1,}',
    '01',
    '1 2',
    '"\n"',
    "'a'",
    '{a:1}',
    'nul',
    '[1',
    '{"a"',
  ]) {
    expect(() => JSON.parse(text), text).toThrow();
    expect(readJson(text), text).toHaveProperty('faultAt');
  }
  for (const text of ['1', '-0.5e+3', '"\\u00e9"', '[]', '{"a":[true,false,null]}', '{"a":1,"a":2}']) {
    expect(readJson(text), text).toMatchObject({ value: JSON.parse(text) });
  }
});

it('says where a text goes wrong', () => {
  const text = '{\n  "a": 1,\n  "b": ,\n}';
  const read = readJson(text);
  expect('faultAt' in read && lineOf(text, read.faultAt)).toEqual({ line: 3, column: 8 });
});
