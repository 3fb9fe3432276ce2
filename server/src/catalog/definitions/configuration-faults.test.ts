import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ends } from '../../../../scripts/ends.mjs';
import { configurationFaults, partialConfigurationFaults } from './configuration-faults.ts';

const schema = {
  $schema: 'https://json-schema.org/draft/2019-09/schema',
  $id: 'anything',
  type: 'object',
  required: ['host', 'auth'],
  properties: {
    host: { type: 'string', pattern: '^[a-z.]+$', pattern_descriptor: 'db.example.com', order: 0 },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    ratio: { type: 'number' },
    ssl: { type: 'boolean' },
    mode: { type: 'string', enum: ['full', 'lazy'] },
    name: { type: 'string', minLength: 2, maxLength: 4 },
    streams: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
    either: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    nested: { type: 'object', required: ['inner'], properties: { inner: { type: 'string' } } },
    auth: {
      oneOf: [
        {
          required: ['method', 'password'],
          properties: { method: { const: 'password' }, password: { type: 'string', airbyte_secret: true } },
        },
        {
          properties: {
            method: { enum: ['key'] },
            key: { type: 'string', pattern: '^-----' },
            port: { type: 'integer' },
          },
        },
      ],
    },
  },
};
const specification = { connectionSpecification: schema };
const good = { host: 'db.example', auth: { method: 'password', password: 'p' } };
const at = ['body', 'source_config'];
const faults = (changes: object) => configurationFaults(specification, { ...good, ...changes }, at);
const fault = (changes: object) => {
  const [first, ...more] = faults(changes);
  expect(more).toEqual([]);
  return first && [first.loc.slice(2), first.msg, first.type];
};

describe('A complete configuration', () => {
  it('that is right has no faults, whatever unknown properties it has', () => {
    expect(faults({})).toEqual([]);
    expect(faults({ auth: { method: 'key' }, more: 1, port: 1, either: 7, streams: ['a'] })).toEqual([]);
  });

  it.each([
    [{ host: null }, ['host'], 'none is not an allowed value', 'type_error.none.not_allowed'],
    [{ host: 7 }, ['host'], 'str type expected', 'type_error.str'],
    [{ host: 'A' }, ['host'], 'the value must match db.example.com', 'value_error.str.regex'],
    [{ port: '1' }, ['port'], 'value is not a valid integer', 'type_error.integer'],
    [{ port: 0 }, ['port'], 'ensure this value is greater than or equal to 1', 'value_error.number.not_ge'],
    [{ port: 70_000 }, ['port'], 'ensure this value is less than or equal to 65535', 'value_error.number.not_le'],
    [{ ratio: 'x' }, ['ratio'], 'value is not a valid float', 'type_error.float'],
    [{ ssl: 'yes' }, ['ssl'], 'value could not be parsed to a boolean', 'type_error.bool'],
    [{ mode: 'x' }, ['mode'], "value is not a valid enumeration member; permitted: 'full', 'lazy'", 'type_error.enum'],
    [{ name: 'a' }, ['name'], 'ensure this value has at least 2 characters', 'value_error.any_str.min_length'],
    [{ name: 'abcde' }, ['name'], 'ensure this value has at most 4 characters', 'value_error.any_str.max_length'],
    [{ streams: 'a' }, ['streams'], 'value is not a valid list', 'type_error.list'],
    [{ streams: [] }, ['streams'], 'ensure this value has at least 1 items', 'value_error.list.min_items'],
    [{ streams: ['a', 'b', 'c'] }, ['streams'], 'ensure this value has at most 2 items', 'value_error.list.max_items'],
    [{ streams: [7] }, ['streams', '0'], 'str type expected', 'type_error.str'],
    [{ either: true }, ['either'], 'the value matches none of the accepted forms', 'value_error'],
    [{ nested: {} }, ['nested', 'inner'], 'field required', 'value_error.missing'],
    [{ nested: 'x' }, ['nested'], 'value is not a valid dict', 'type_error.dict'],
  ])('%j', (changes, loc, msg, type) => {
    expect(fault(changes)).toEqual([loc, msg, type]);
  });

  it('without what is required says so', () => {
    expect(configurationFaults(specification, {}, at).map(({ loc, type }) => [loc.join('.'), type])).toEqual([
      ['body.source_config.host', 'value_error.missing'],
      ['body.source_config.auth', 'value_error.missing'],
    ]);
  });

  it('reports only what the chosen form requires', () => {
    expect(fault({ auth: { method: 'password' } })).toEqual([
      ['auth', 'password'],
      'field required',
      'value_error.missing',
    ]);
    expect(fault({ auth: { method: 'key', key: 'x' } })).toEqual([
      ['auth', 'key'],
      'the value must match ^-----',
      'value_error.str.regex',
    ]);
  });

  it('that chooses no form, or an unknown form, lists the forms that exist', () => {
    expect(fault({ auth: {} })).toEqual([['auth', 'method'], 'field required', 'value_error.missing']);
    expect(fault({ auth: { method: 'magic' } })).toEqual([
      ['auth', 'method'],
      "value is not a valid enumeration member; permitted: 'password', 'key'",
      'type_error.enum',
    ]);
    expect(fault({ auth: 'x' })).toEqual([['auth'], 'value is not a valid dict', 'type_error.dict']);
  });
});

describe('A part of a configuration', () => {
  const partialFaults = (given: object) =>
    partialConfigurationFaults(specification, given as never, ['body', 'partial_default_config']).map(({ loc }) =>
      loc.slice(2).join('.'),
    );

  it('may leave out anything, at any depth', () => {
    for (const part of [
      {},
      { port: 5432 },
      { nested: {} },
      { auth: {} },
      { auth: { method: 'password' } },
      { auth: { password: 'p' } },
      { auth: { port: 22 } },
      { either: 'x' },
    ]) {
      expect(partialFaults(part), JSON.stringify(part)).toEqual([]);
    }
  });

  it('must leave room for a complete one', () => {
    expect(partialFaults({ port: 'x', nested: { inner: 7 }, mode: 'x' })).toEqual(['port', 'mode', 'nested.inner']);
    expect(partialFaults({ auth: { method: 'magic' } })).toEqual(['auth.method']);
    expect(partialFaults({ auth: { method: 'key', key: 'x' } })).toEqual(['auth.key']);
    expect(partialFaults({ auth: { method: 'key', port: 'x' } })).toEqual(['auth.port']);
    expect(partialFaults({ either: true })).toEqual(['either']);
  });
});

describe('Faults', () => {
  it('never repeat a value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6, unit: fc.constantFrom(...'ABCDEFGH') }), (secret) => {
        const given = { host: secret, port: secret, mode: secret, auth: { method: secret, password: [secret] } };
        expect(JSON.stringify(configurationFaults(specification, given, at))).not.toContain(secret);
      }),
    );
  });

  it('are at most a hundred', () => {
    const many = { connectionSpecification: { properties: { all: { type: 'array', items: { type: 'string' } } } } };
    expect(configurationFaults(many, { all: Array(5_000).fill(7) }, at)).toHaveLength(100);
  });

  it('of patterns come in time, however hostile the pattern and the value', () => {
    const hostile = { connectionSpecification: { properties: { a: { type: 'string', pattern: '^(a+)+$' } } } };
    const value = `${'a'.repeat(60)}!`;
    expect(ends(() => configurationFaults(hostile, { a: value }, []))).toMatchObject([
      { type: 'value_error.str.regex' },
    ]);
    expect(ends(() => partialConfigurationFaults(hostile, { a: value }, []))).toHaveLength(1);
    expect(configurationFaults(hostile, { a: 'aaa' }, [])).toEqual([]);
  });

  it('do not come from patterns of other languages; the connector itself will check those', () => {
    const foreign = { connectionSpecification: { properties: { a: { type: 'string', pattern: '(?i)^x\\z(' } } } };
    expect(configurationFaults(foreign, { a: 'anything' }, at)).toEqual([]);
    expect(configurationFaults(foreign, { a: 7 }, at)).toHaveLength(1);
  });

  it('cannot be found with a specification that is no schema', () => {
    const broken = { connectionSpecification: { properties: { a: { type: 'no such type' } } } };
    expect(() => configurationFaults(broken, {}, at)).toThrow('definition_unusable');
  });
});

describe('Options that are named as members that every object has', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'])('%s', (name) => {
    const option = { type: 'string', minLength: 2 };
    const of = (more: object) => ({ connectionSpecification: { type: 'object', ...more } });
    const optional = of({ properties: { [name]: option } });
    expect(configurationFaults(optional, {}, [])).toEqual([]);
    expect(configurationFaults(optional, { [name]: 'ok' }, [])).toEqual([]);
    expect(configurationFaults(optional, { [name]: 'x' }, [])).toMatchObject([{ loc: [name] }]);
    const required = of({ properties: { [name]: option }, required: [name] });
    const missing = [{ loc: [name], type: 'value_error.missing' }];
    expect(configurationFaults(required, {}, [])).toMatchObject(missing);
    expect(configurationFaults(required, { [name]: 'ok' }, [])).toEqual([]);
    expect(partialConfigurationFaults(required, {}, [])).toEqual([]);
    const choice = of({ oneOf: ['one', 'two'].map((value) => ({ properties: { [name]: { const: value } } })) });
    expect(configurationFaults(choice, {}, [])).toMatchObject(missing);
    expect(configurationFaults(choice, { [name]: 'two' }, [])).toEqual([]);
    expect(partialConfigurationFaults(choice, {}, [])).toEqual([]);
    const formatted = of({ properties: { a: { type: 'string', format: name, minLength: 2 } } });
    expect(configurationFaults(formatted, { a: 'x' }, [])).toMatchObject([{ loc: ['a'] }]);
  });
});
