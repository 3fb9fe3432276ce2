import { describe, expect, test } from 'vitest';
import { keepMaskedSecrets, listSecrets, maskSecrets, mergeConfiguration } from './connector-configuration.ts';

const MASK = '**********';
const secret = { type: 'string', airbyte_secret: true };
const specification = {
  type: 'object',
  required: ['host', 'password'],
  properties: {
    host: { type: 'string' },
    password: secret,
    credentials: {
      type: 'object',
      oneOf: [
        { properties: { method: { const: 'key' }, value: secret } },
        { properties: { method: { const: 'plain' }, value: { type: 'string' } } },
      ],
    },
    accounts: { type: 'array', items: { type: 'object', properties: { user: { type: 'string' }, pin: secret } } },
    key: { type: 'object', airbyte_secret: true },
  },
};
const stored = {
  host: 'h',
  password: 'p',
  credentials: { method: 'key', value: 'k' },
  accounts: [
    { user: 'a', pin: '1' },
    { user: 'b', pin: '2' },
  ],
  key: { pem: 'x' },
  extra: { password: 'not known to be secret' },
};

describe('masking', () => {
  const masked = maskSecrets(specification, stored);

  test('covers every marked value: nested, in branches, in lists, whole objects', () => {
    expect(masked).toEqual({
      host: 'h',
      password: MASK,
      credentials: { method: 'key', value: MASK },
      accounts: [
        { user: 'a', pin: MASK },
        { user: 'b', pin: MASK },
      ],
      key: MASK,
      extra: { password: 'not known to be secret' },
    });
  });

  test('hides a value that is secret in any branch, whichever was chosen', () => {
    const plain = maskSecrets(specification, { credentials: { method: 'plain', value: 'v' } });
    expect(plain).toEqual({ credentials: { method: 'plain', value: MASK } });
  });

  test('is undone where the mask comes back', () => {
    expect(keepMaskedSecrets(specification, masked, stored)).toEqual(stored);
  });

  test('leaves the stored value alone', () => {
    expect(stored.password).toBe('p');
  });
});

describe('listing secrets', () => {
  test('finds what masking hides, and nothing else', () => {
    expect(listSecrets(specification, stored)).toEqual(['p', 'k', '1', '2', 'x']);
  });
});

describe('keeping secrets', () => {
  test('takes a mask of any length, and only under secret properties', () => {
    const incoming = { host: '***', password: '***' };
    expect(keepMaskedSecrets(specification, incoming, stored)).toEqual({ host: '***', password: 'p' });
  });

  test('takes a new secret as it is', () => {
    expect(keepMaskedSecrets(specification, { password: 'new*' }, stored)).toEqual({ password: 'new*' });
  });

  test('gives no item of a list the secret of another, when a row was removed or added', () => {
    const [a, b] = [
      { user: 'a', pin: MASK },
      { pin: MASK, user: 'b' },
    ];
    const kept = (accounts: object[]) => keepMaskedSecrets(specification, { accounts }, stored).accounts;
    expect(kept([b])).toEqual([{ user: 'b', pin: '2' }]);
    expect(kept([{ user: 'c', pin: '3' }, a, b])).toEqual([
      { user: 'c', pin: '3' },
      { user: 'a', pin: '1' },
      { user: 'b', pin: '2' },
    ]);
    expect(kept([{ user: 'renamed', pin: MASK }, b])).toEqual([
      { user: 'renamed', pin: '1' },
      { user: 'b', pin: '2' },
    ]);
    expect(kept([{ user: 'renamed', pin: MASK }])).toEqual([{ user: 'renamed' }]);
  });

  test('drops a mask that stands for nothing', () => {
    expect(keepMaskedSecrets(specification, { host: 'h', password: MASK }, {})).toEqual({ host: 'h' });
  });
});

describe('merging', () => {
  test('goes into objects and replaces everything else', () => {
    const merged = mergeConfiguration(
      { a: { b: 1, c: { d: 2 } }, list: [1, 2], kept: true },
      { a: { c: { e: 3 } }, list: [3], fresh: null },
    );
    expect(merged).toEqual({ a: { b: 1, c: { d: 2, e: 3 } }, list: [3], kept: true, fresh: null });
  });

  test('treats names every object inherits as ordinary keys', () => {
    expect(mergeConfiguration({}, { constructor: { a: 1 } })).toEqual({ constructor: { a: 1 } });
  });
});
