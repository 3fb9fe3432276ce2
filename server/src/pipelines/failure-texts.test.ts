import { describe, expect, test } from 'vitest';
import type { ConnectorFailure } from '../kernel/platform/pipelines-port.ts';
import { failureTexts } from './failure-texts.ts';

const text = (title: string, more: object = {}) => ({ type: 'string', title, ...more });
const specification = {
  connectionSpecification: {
    type: 'object',
    properties: {
      host: text('Host'),
      port: { type: 'integer', title: 'Port' },
      password: text('Password', { airbyte_secret: true }),
      region: text('Region', { enum: ['eu', 'us'] }),
      login: {
        type: 'object',
        title: 'Login',
        oneOf: [
          { properties: { type: { const: 'key' }, key: text('Key', { airbyte_secret: true }) } },
          { properties: { type: { const: 'user' }, user: text('User') } },
        ],
      },
    },
  },
};

const ours = { code: 'problem_on_our_side', parameters: {} };
const error = { code: 'connector_error', parameters: {} };
const operators = (message: string) => ({
  operator: message,
  customer: expect.stringContaining('on our side'),
  reasons: { operator: error, customer: ours },
  whose: 'operator',
});
const defaults = { host: 'planted.internal', port: 6543 };

function read(failure: Partial<ConnectorFailure>, more: { defaults?: object; given?: object } = {}) {
  const parts = { specification, defaults, given: { password: 'the-password' }, ...more };
  return failureTexts(
    { message: 'It failed.', origin: 'source', ...failure },
    parts as Parameters<typeof failureTexts>[1],
  );
}

describe('a failure', () => {
  test('of a field that the template has set is the operator’s, whatever its words', () => {
    const message = 'Nothing accepts connections at planted.internal:6543.';
    expect(read({ message, fields: ['host', 'port'] })).toEqual(operators(message));
    expect(read({ message: 'It is away.', fields: ['host'] }).reasons.customer).toEqual(ours);
  });

  test('of a field that the customer has given is the customer’s, in full', () => {
    const message = 'The password is not right.';
    expect(read({ message, fields: ['password', 'host'] })).toEqual({
      operator: message,
      customer: message,
      reasons: { operator: error, customer: error },
      whose: 'customer',
    });
    expect(read({ message: 'Nothing at db.example:5432.', fields: ['host'] }, { defaults: {} }).customer).toBe(
      'Nothing at db.example:5432.',
    );
  });

  test('of a field that the customer has given names only that field where its words show the template’s', () => {
    expect(read({ message: 'planted.internal refuses the password.', fields: ['password', 'host'] })).toEqual({
      operator: 'planted.internal refuses the password.',
      customer: expect.stringContaining('Password'),
      reasons: { operator: error, customer: { code: 'check_fields', parameters: { fields: ['Password'] } } },
      whose: 'customer',
    });
  });

  test('inside an object is the customer’s where the template leaves that part open', () => {
    const login = { login: { type: 'key' } };
    expect(read({ fields: ['login.key'] }, { defaults: login }).customer).toBe('It failed.');
    const given = { login: { key: 'k' } };
    expect(read({ fields: ['login'] }, { defaults: login, given }).customer).toBe('It failed.');
    expect(read({ fields: ['login'] }, { defaults: login }).whose).toBe('operator');
    expect(read({ fields: ['login'] }, { defaults: { login: { type: 'key', key: 'k' } } }).whose).toBe('operator');
  });

  test('at the destination, of the platform, or that nobody expected is the operator’s', () => {
    for (const failure of [{ origin: 'destination' }, { origin: 'platform' }, { type: 'system_error' }] as const) {
      const code = 'origin' in failure && failure.origin === 'platform' ? 'platform_error' : 'connector_error';
      expect(read({ fields: ['password'], ...failure })).toEqual({
        ...operators('It failed.'),
        reasons: { operator: { code, parameters: {} }, customer: ours },
      });
    }
  });

  test('shows no secret to anybody', () => {
    const texts = read({ message: 'the-password is wrong.', fields: ['password'] });
    expect([texts.operator, texts.customer]).toEqual(['********** is wrong.', '********** is wrong.']);
  });
});

describe('a failure that names no fields', () => {
  test.each([
    ['the value', 'Host planted.internal is unknown'],
    ['the value in capitals', 'Host PLANTED.INTERNAL is unknown'],
    ['a number', 'port=6543: refused'],
    ['an address that is not in the configuration', 'connect ECONNREFUSED 10.0.0.17'],
    ['a server that is not in the configuration', 'https://10-0-0-17.internal/x answered 500'],
    ['a server and its port', 'dial tcp db-primary:5432: refused'],
  ])('is the operator’s when it shows %s', (_, message) => {
    expect(read({ message })).toEqual(operators(message));
  });

  test.each([
    ['the server of an address', 'cannot reach api.planted.example', 'https://api.planted.example:8443/v1/orders-eu'],
    ['the server and port of an address', 'api.planted.example:8443 is away', 'https://api.planted.example:8443/v1'],
    ['the last part of an address', 'orders-eu: line 3 is bad', 'https://x.example/v1/orders-eu'],
    ['the name of a file', 'planted.csv: line 3 is bad', '/srv/planted.csv'],
    ['a folder of a path', 'cannot list /srv/planted', '/srv/planted'],
  ])('is the operator’s when it shows %s', (_, message, host) => {
    expect(read({ message }, { defaults: { host } }).reasons.customer).toEqual(ours);
  });

  test('is the customer’s when nothing of the template is in it', () => {
    const message = 'Invalid API key (at shop.example:443).';
    const given = { password: 'the-password', host: 'shop.example' };
    expect(read({ message }, { defaults: { port: 6543 }, given }).customer).toBe(message);
    expect(read({ message: 'Choose us or eu.' }, { defaults: { region: 'eu' } }).customer).toBe('Choose us or eu.');
    expect(read({ message: 'Not in 65432 tries.' }).customer).toBe('Not in 65432 tries.');
  });

  test('is the operator’s when the customer has nothing to change', () => {
    const all = { ...defaults, password: 'p', region: 'eu', login: { type: 'key', key: 'k' } };
    expect(read({ message: 'No.' }, { defaults: all, given: {} }).reasons.customer).toEqual(ours);
  });

  test('is read in the same way where it names fields that nobody knows', () => {
    expect(read({ fields: ['nowhere.at.all'] }).customer).toBe('It failed.');
    expect(read({ message: 'planted.internal', fields: ['nowhere'] }).reasons.customer).toEqual(ours);
  });
});
