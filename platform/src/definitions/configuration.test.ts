import { describe, expect, test } from 'vitest';
import { checkConfiguration } from './configuration.ts';

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

describe('checking', () => {
  test('accepts what the specification allows, unknown keys included', () => {
    expect(() => checkConfiguration(specification, stored)).not.toThrow();
  });

  test('names every fault and quotes no value', () => {
    const check = () => checkConfiguration(specification, { host: 'h', accounts: [{ pin: 4711 }] });
    expect(check).toThrow(
      expect.objectContaining({
        title: 'unprocessable-entity',
        data: {
          message: "configuration must have required property 'password'; configuration.accounts.0.pin must be string",
        },
      }),
    );
    expect(check).not.toThrow('4711');
  });
});
