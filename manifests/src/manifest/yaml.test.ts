/* YAML as the reference runtime reads it. What is expected here was taken from PyYAML 6.0.3, with dates as texts. */
import { expect, it } from 'vitest';
import { readManifestText, readScalar } from './yaml.ts';

const words: [string, unknown][] = [
  ['yes', true],
  ['Yes', true],
  ['no', false],
  ['NO', false],
  ['on', true],
  ['Off', false],
  ['y', 'y'],
  ['n', 'n'],
  ['true', true],
  ['True', true],
  ['tRUE', 'tRUE'],
  ['~', null],
  ['null', null],
  ['NULL', null],
  ['nULL', 'nULL'],
  ['0', 0],
  ['00', 0],
  ['010', 8],
  ['08', '08'],
  ['0o7', '0o7'],
  ['0b11', 3],
  ['0x1F', 31],
  ['1_000', 1000],
  ['-010', -8],
  ['+12', 12],
  ['12:30', 750],
  ['1:60', '1:60'],
  ['-1:2:3', -3723],
  ['12:30.5', 750.5],
  ['1.5', 1.5],
  ['1.', 1.0],
  ['.5', 0.5],
  ['-.5', '-.5'],
  ['1e3', '1e3'],
  ['1.0e3', '1.0e3'],
  ['1.0e+3', 1000.0],
  ['1_0.5_0', 10.5],
  ['.inf', Number.POSITIVE_INFINITY],
  ['-.INF', Number.NEGATIVE_INFINITY],
  ['.Nan', '.Nan'],
  ['.nan', Number.NaN],
  ['2024-01-01', '2024-01-01'],
  ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z'],
  ['12_', 12],
  ['0_7', 7],
  ['6.44.0', '6.44.0'],
];

const documents: [string, unknown][] = [
  ['{a: 1, a: 2}', { a: 2 }],
  ['a: &x {b: 1, c: 1}\nd: {<<: *x, b: 2}', { a: { b: 1, c: 1 }, d: { b: 2, c: 1 } }],
  ['a: &x {b: 1}\nd: &y {b: 2, e: 3}\nf: {<<: [*x, *y]}', { a: { b: 1 }, d: { b: 2, e: 3 }, f: { b: 1, e: 3 } }],
  ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
  ['no: 1\n1: a\nnull: b', { false: 1, '1': 'a', null: 'b' }],
  ['a: |\n  x\n  y\nb: >-\n  x\n  y\n', { a: 'x\ny\n', b: 'x y' }],
  ["a: \"x\\ty\"\nb: 'it''s'", { a: 'x\ty', b: "it's" }],
  ['a: !!str 12', { a: '12' }],
  ['a: b # c', { a: 'b' }],
  ['# nothing\n', null],
  ['a: plain\n  and more\n', { a: 'plain and more' }],
  ['a: {b: , c}', { a: { b: null, c: null } }],
  ['- 1\n- - 2\n', [1, [2]]],
];

const broken = [
  'a: b: c',
  '[1, 2',
  'a: {{ x }}',
  'a: %Y',
  'a: *nope',
  'a: !own 1',
  'a: 1\n---\nb: 2',
  '\ta: b',
  '{<<: 1}',
];

it('reads plain words as numbers, truth values, nothing or texts', () => {
  for (const [word, value] of words) {
    expect(readScalar(word), word).toEqual(value);
    expect(readManifestText(`x: ${word}`).x, word).toEqual(value);
    expect(readScalar(JSON.stringify(word)), word).toBe(word);
  }
});

it('reads keys, repeats, merges and blocks, and refuses what Python refuses', () => {
  for (const [text, value] of documents) expect(readScalar(text), text).toEqual(value);
  for (const text of broken) {
    expect(() => readManifestText(text), text).toThrow('not valid YAML');
    expect(readScalar(text), text).toBe(text);
  }
  expect(readManifestText('__proto__: {a: 1}')).not.toHaveProperty('a');
});
