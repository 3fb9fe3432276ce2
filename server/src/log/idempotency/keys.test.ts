import { describe, expect, it } from 'vitest';
import { fingerprintOf, readKey, slotOf } from './keys.ts';

describe('an Idempotency-Key', () => {
  it.each([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"order 17, again"', 'order 17, again'],
    ['"a \\"b\\" \\\\"', 'a "b" \\'],
    ['order/17:again=yes', 'order/17:again=yes'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('%s is read as the text %s', (header, key) => {
    expect(readKey(header)).toBe(key);
  });

  it.each([
    ['nothing', ''],
    ['an empty string', '""'],
    ['256 characters', 'x'.repeat(256)],
    ['256 characters in quotation marks', `"${'x'.repeat(256)}"`],
    ['two headers', 'a, b'],
    ['two headers in quotation marks', '"a", "b"'],
    ['a list', ['a', 'b']],
    ['a blank', 'a b'],
    ['one quotation mark', '"a'],
    ['a quotation mark inside', 'a"b'],
    ['an escape of another character', '"a\\b"'],
    ['a parameter', '"a";b=1'],
    ['a control character', 'a\u0000'],
    ['a character beyond ASCII', 'ä'],
  ])('is refused when it is %s', (_, header) => {
    expect(readKey(header)).toBeUndefined();
  });

  it('counts per token, method and path', () => {
    const request = { token: 'operator 1', method: 'POST', path: '/a', key: 'k' };
    const others = [{ token: 'operator 2' }, { token: 'scoped 1' }, { method: 'PUT' }, { path: '/b' }, { key: 'l' }];
    const slots = [{}, ...others].map((change) => slotOf({ ...request, ...change }));
    expect(new Set(slots).size).toBe(slots.length);
    expect(slotOf({ ...request })).toBe(slots[0]);
  });
});

describe('the fingerprint of a request', () => {
  it('is the same whatever the order of the fields is, and for no body as for an empty one', () => {
    expect(fingerprintOf('', { a: 1, b: { c: [1, 2], d: null } })).toBe(
      fingerprintOf('', { b: { d: null, c: [1, 2] }, a: 1 }),
    );
    expect(fingerprintOf('', undefined)).toBe(fingerprintOf('', {}));
  });

  it('differs for everything that says something else', () => {
    const bodies = [
      {},
      { a: 1 },
      { a: '1' },
      { a: null },
      { a: [1] },
      { a: { 0: 1 } },
      [['a', 1]],
      { members: [['a', 1]] },
    ];
    const all = [...bodies.map((body) => fingerprintOf('', body)), fingerprintOf('a=1', {}), fingerprintOf('', 'a=1')];
    expect(new Set(all).size).toBe(all.length);
  });
});
