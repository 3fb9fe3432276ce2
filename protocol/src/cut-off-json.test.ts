import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCutOffJson } from './cut-off-json.ts';

test('every beginning of a JSON list or object is cut off', () => {
  const document = fc.oneof(fc.array(fc.jsonValue(), { minLength: 1 }), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(document, fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      expect(isCutOffJson(text)).toBe(false);
      expect(isCutOffJson(text.slice(0, 1 + (at % (text.length - 1))))).toBe(true);
    }),
  );
});

test.each(['', 'null', '"text', 'Service down', '<html>', '{"a":NaN}', '{"a":1},', '[1,]', '}{'])(
  '%j is not cut off',
  (text) => {
    expect(isCutOffJson(text)).toBe(false);
  },
);
