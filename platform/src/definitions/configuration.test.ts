import { describe, expect, test } from 'vitest';
import { ends } from '../../../scripts/ends.mjs';
import { Problem } from '../problems.ts';
import { checkConfiguration, requireUsable } from './configuration.ts';

const specification = {
  type: 'object',
  required: ['host', 'password'],
  properties: {
    host: { type: 'string' },
    password: { type: 'string', airbyte_secret: true },
    accounts: { type: 'array', items: { type: 'object', properties: { pin: { type: 'string' } } } },
  },
};

describe('checking', () => {
  test('accepts what the specification allows, unknown keys included', () => {
    expect(() => checkConfiguration(specification, { host: 'h', password: 'p', extra: { a: 1 } })).not.toThrow();
  });

  test('names every fault and quotes no value', () => {
    const check = () => checkConfiguration(specification, { host: 'h', accounts: [{ pin: 4711 }] });
    expect(check).toThrow(
      expect.objectContaining({
        title: 'unprocessable-entity',
        data: {
          message: expect.stringMatching(/^configuration .*'password'; configuration\.accounts\.0\.pin must be/),
        },
      }),
    );
    expect(check).not.toThrow('4711');
  });
});

test('options may be named as members that every object has', () => {
  for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty']) {
    const schema = { type: 'object', properties: { [name]: { type: 'string', pattern: '^a' } } };
    expect(() => checkConfiguration(schema, {}), name).not.toThrow();
    expect(() => checkConfiguration(schema, { [name]: 'a' }), name).not.toThrow();
    expect(() => checkConfiguration(schema, { [name]: 'b' }), name).toThrow(Problem);
    const missing = { data: { message: expect.stringContaining(`'${name}'`) } };
    expect(() => checkConfiguration({ ...schema, required: [name] }, {}), name).toThrow(
      expect.objectContaining(missing),
    );
  }
});

test('a hostile pattern comes to its end', () => {
  const specification = {
    properties: { a: { type: 'string', pattern: '^(a+)+$' }, b: { type: 'string', pattern: '^b' } },
  };
  const check = () => checkConfiguration(specification, { a: `${'a'.repeat(60)}!` });
  expect(() => ends(check)).toThrow(Problem);
  expect(() => checkConfiguration(specification, { b: 'x' })).toThrow(Problem);
  expect(() => checkConfiguration(specification, { a: 'aaa', b: 'b' })).not.toThrow();
});

test('a specification may name any dialect of JSON Schema', () => {
  const schema = { $schema: 'https://json-schema.org/draft-07/schema#', ...specification };
  expect(() => requireUsable({ connectionSpecification: schema })).not.toThrow();
  expect(() => checkConfiguration(schema, { host: 'h', password: 'p' })).not.toThrow();
  expect(() => checkConfiguration(schema, {})).toThrow(Problem);
});
