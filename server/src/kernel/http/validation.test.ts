import type { Fault } from '@inlay/contract/errors';
import { Enumeration } from '@inlay/contract/fields';
import { formats } from '@inlay/contract/text/formats';
import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createPartCompiler, UnreadableBody } from './validation.ts';

const compile = createPartCompiler(formats);
const Body = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.Optional(Type.String({ format: 'name', minLength: 1, maxLength: 255 })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  mode: Type.Optional(Enumeration(['any', 'all'], { default: 'any' })),
  tags: Type.Optional(Type.Array(Type.String({ format: 'tag' }), { maxItems: 3, default: [] })),
  note: Type.Optional(Type.String({ maxLength: 5 })),
  nested: Type.Optional(Type.Object({ 'a/b~c': Type.String() })),
});
const id = '645a183f-b12b-4c6e-8ad3-99e165603450';

function check(part: 'path' | 'query' | 'body', given: unknown, schema: Parameters<typeof compile>[1] = Body) {
  const faults: Fault[] = [];
  const value = compile(part, schema)(given, faults);
  return { value, faults };
}
const onlyFault = (given: object) => {
  const { faults } = check('body', { id, ...given });
  expect(faults).toHaveLength(1);
  return faults[0];
};

describe('A part of a request', () => {
  it('that is as described has no faults, and gets its defaults', () => {
    expect(check('body', { id, name: 'x' })).toEqual({
      value: { id, name: 'x', count: 20, mode: 'any', tags: [] },
      faults: [],
    });
  });

  it('keeps fields it does not know', () => {
    expect(check('body', { id, more: 1 }).value).toMatchObject({ more: 1 });
  });

  it('gets UUIDs in lower case', () => {
    expect(check('path', { id: id.toUpperCase() }).value).toMatchObject({ id });
  });

  it('takes integers written as text in a query, and only there', () => {
    expect(check('query', { id, count: '7' }).value).toMatchObject({ count: 7 });
    expect(check('body', { id, count: '7' }).faults).toEqual([
      { loc: ['body', 'count'], msg: 'value is not a valid integer', type: 'type_error.integer' },
    ]);
  });

  it('that is absent is missing as a whole if it needs anything, and otherwise empty', () => {
    expect(check('body', undefined).faults).toEqual([
      { loc: ['body'], msg: 'field required', type: 'value_error.missing' },
    ]);
    expect(check('body', undefined, Type.Object({ name: Type.Optional(Type.String()) }))).toEqual({
      value: {},
      faults: [],
    });
  });

  it('that cannot be read says why', () => {
    expect(check('body', new UnreadableBody('cut off at position 3')).faults).toEqual([
      { loc: ['body'], msg: 'cut off at position 3', type: 'value_error.jsondecode' },
    ]);
  });

  it.each([
    ['null', null, 'none is not an allowed value', 'type_error.none.not_allowed'],
    ['a list', [], 'value is not a valid dict', 'type_error.dict'],
    ['a text', 'x', 'value is not a valid dict', 'type_error.dict'],
    ['a number', 7, 'value is not a valid dict', 'type_error.dict'],
  ])('that is %s is no object', (_what, given, msg, type) => {
    expect(check('body', given).faults).toEqual([{ loc: ['body'], msg, type }]);
  });

  it.each([
    [{ name: 7 }, ['body', 'name'], 'str type expected', 'type_error.str'],
    [{ name: null }, ['body', 'name'], 'none is not an allowed value', 'type_error.none.not_allowed'],
    [{ name: '' }, ['body', 'name'], 'a name must not be blank', 'value_error.name'],
    [{ id: 'x' }, ['body', 'id'], 'value is not a valid uuid', 'type_error.uuid'],
    [{ id: 7 }, ['body', 'id'], 'value is not a valid uuid', 'type_error.uuid'],
    [{ id: null }, ['body', 'id'], 'none is not an allowed value', 'type_error.none.not_allowed'],
    [{ count: 1.5 }, ['body', 'count'], 'value is not a valid integer', 'type_error.integer'],
    [{ count: 101 }, ['body', 'count'], 'ensure this value is less than or equal to 100', 'value_error.number.not_le'],
    [{ count: 0 }, ['body', 'count'], 'ensure this value is greater than or equal to 1', 'value_error.number.not_ge'],
    [
      { mode: 'x' },
      ['body', 'mode'],
      "value is not a valid enumeration member; permitted: 'any', 'all'",
      'type_error.enum',
    ],
    [{ tags: {} }, ['body', 'tags'], 'value is not a valid list', 'type_error.list'],
    [{ tags: ['a', 7] }, ['body', 'tags', '1'], 'str type expected', 'type_error.str'],
    [
      { note: 'longer' },
      ['body', 'note'],
      'ensure this value has at most 5 characters',
      'value_error.any_str.max_length',
    ],
    [{ nested: { 'a/b~c': 7 } }, ['body', 'nested', 'a/b~c'], 'str type expected', 'type_error.str'],
    [{ nested: {} }, ['body', 'nested', 'a/b~c'], 'field required', 'value_error.missing'],
  ])('%j', (given, loc, msg, type) => {
    expect(onlyFault(given)).toEqual({ loc, msg, type });
  });

  it('has one fault a place, and all places at once', () => {
    const { faults } = check('body', { id: 'x', name: '', count: 0.5, mode: 7, tags: 'x', note: null });
    const places = faults.map(({ loc }) => loc.join('.'));
    expect(new Set(places).size).toBe(places.length);
    expect(places.toSorted()).toEqual(['body.count', 'body.id', 'body.mode', 'body.name', 'body.note', 'body.tags']);
  });

  it('adds its faults to those of other parts', () => {
    const faults: Fault[] = [];
    compile('path', Type.Object({ id: Type.String({ format: 'uuid' }) }))({ id: 'x' }, faults);
    compile('body', Body)({}, faults);
    expect(faults.map(({ loc }) => loc.join('.'))).toEqual(['path.id', 'body.id']);
  });

  it('has at most a hundred faults, however many things are wrong', () => {
    const Many = Type.Object({ all: Type.Array(Type.String()) });
    expect(check('body', { all: Array(5_000).fill(7) }, Many).faults).toHaveLength(100);
  });

  it('never throws, and every fault has a location in it, a message and a type', () => {
    fc.assert(
      fc.property(fc.constantFrom('path', 'query', 'body'), fc.jsonValue(), (part, given) => {
        const value = fc.stringify(given);
        const whole = check(part, structuredClone(given));
        const field = check(part, { id: structuredClone(given), tags: structuredClone(given) });
        for (const fault of [...whole.faults, ...field.faults]) {
          expect(fault.loc[0], value).toBe(part);
          expect(fault.loc.every((step) => typeof step === 'string')).toBe(true);
          expect(fault.msg).not.toBe('');
          expect(fault.type).toMatch(/^(value|type)_error/);
        }
      }),
    );
  });
});
