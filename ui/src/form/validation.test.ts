import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { describe, expect, it } from 'vitest';
import { everyConvention, postgresLike } from '../../../widget/test/specifications.ts';
import { initialValue, submittedValue } from './configuration.ts';
import { readSpecification } from './fields.ts';
import { faultsOf, shownPart, titleAt } from './validation.ts';
import form from './words/en.ts';

const words = form.faults;

/** What is said about one required field that holds a value. */
function said(schema: JsonSchema, value: unknown): string | undefined {
  const root = readSpecification({ type: 'object', required: ['it'], properties: { it: schema } });
  return faultsOf(root, value === undefined ? {} : { it: value }, words)[0]?.message;
}

describe('what is wrong with a value', () => {
  it('is said in words', () => {
    expect(said({ type: 'string' }, undefined)).toBe(words.required);
    expect(said({ type: 'string', enum: ['a', 'b'] }, undefined)).toBe(words.choose);
    expect(said({ type: 'integer' }, '12 apples')).toBe(words.integer);
    expect(said({ type: 'integer' }, 1.5)).toBe(words.integer);
    expect(said({ type: 'number' }, 'many')).toBe(words.number);
    expect(said({ type: 'integer', minimum: 1 }, 0)).toBe(words.minimum(1));
    expect(said({ type: 'integer', maximum: 10 }, 11)).toBe(words.maximum(10));
    expect(said({ type: 'number', exclusiveMinimum: 0 }, 0)).toBe(words.moreThan(0));
    expect(said({ type: 'number', exclusiveMaximum: 1 }, 1)).toBe(words.lessThan(1));
    expect(said({ type: 'integer', multipleOf: 5 }, 7)).toBe(words.multipleOf(5));
    expect(said({ type: 'string', minLength: 3 }, 'ab')).toBe(words.minLength(3));
    expect(said({ type: 'string', maxLength: 3 }, 'abcd')).toBe(words.maxLength(3));
    expect(said({ type: 'string', enum: ['a'], default: 'a' }, 'a')).toBeUndefined();
    expect(said({ type: 'string', enum: ['a', 'b'] }, 'c')).toBe(words.choose);
    expect(said({ type: 'array', items: { type: 'string' }, minItems: 2 }, ['a'])).toBe(words.minItems(2));
    expect(said({ type: 'array', items: { type: 'string' }, maxItems: 1 }, ['a', 'b'])).toBe(words.maxItems(1));
    expect(said({ type: 'array', items: { type: 'string' }, uniqueItems: true }, ['a', 'a'])).toBe(words.uniqueItems);
    expect(said({ type: 'object' }, 'no json')).toBe(words.json);
  });

  it('is said about formats', () => {
    expect(said({ type: 'string', format: 'email' }, 'nobody')).toBe(words.format.email);
    expect(said({ type: 'string', format: 'email' }, 'a@example.com')).toBeUndefined();
    expect(said({ type: 'string', format: 'uri' }, 'example')).toBe(words.format.uri);
    expect(said({ type: 'string', format: 'date' }, '2024-02-30')).toBe(words.format.date);
    expect(said({ type: 'string', format: 'date-time' }, '2024-02-29')).toBe(words.format['date-time']);
    expect(said({ type: 'string', format: 'ipv4' }, 'x')).toBe(words.format.other);
    expect(said({ type: 'string', format: 'made-up' }, 'x')).toBeUndefined();
  });

  it('is what the pattern says in words, which counts more than the format', () => {
    const pattern = { type: 'string', pattern: '^\\d{4}$', pattern_descriptor: 'YYYY', format: 'date' };
    expect(said(pattern, '24')).toBe(words.pattern('YYYY'));
    expect(said(pattern, '2024')).toBeUndefined();
    expect(said({ type: 'string', pattern: '^a' }, 'b')).toBe(words.format.other);
  });

  it('is left to the connector where the pattern is of another language', () => {
    expect(said({ type: 'string', pattern: '(?i)^a' }, 'b')).toBeUndefined();
  });
});

describe('faults', () => {
  const root = readSpecification(everyConvention);

  it('stand where they are, in the order of the page', () => {
    const submitted = submittedValue(root, {
      ...(initialValue(root) as object),
      name: 'x',
      plan: { plan: 'paid', seats: 0 },
      tags: ['', 'ok', 'x'],
      streams: [{ name: 'a', format: { type: 'json' } }, { format: {} }],
      proxy: { port: 1 },
    });
    expect(faultsOf(root, submitted, words).map(({ path }) => path.join('.'))).toEqual([
      'plan.seats',
      'name',
      'secret',
      'size',
      'region',
      'since',
      'tags.1',
      'wanted',
      'streams.1.name',
      'streams.1.format',
      'proxy.host',
    ]);
  });

  it('are none of what nobody sees', () => {
    const hidden = readSpecification({
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string', airbyte_hidden: true }, b: { type: 'string', const: 'x' } },
    });
    expect(faultsOf(hidden, {}, words)).toEqual([]);
  });

  it('are none of what is as it was: a mask satisfies no pattern', () => {
    const secret = readSpecification({
      type: 'object',
      properties: { key: { type: 'string', airbyte_secret: true, pattern: '^sk_' } },
    });
    const mask = { key: '**********' };
    expect(faultsOf(secret, mask, words, mask)).toEqual([]);
    expect(faultsOf(secret, { key: 'typed' }, words, mask)).toHaveLength(1);
  });

  it('of the service are shown at the nearest field there is', () => {
    const value = { tunnel_method: { tunnel_method: 'NO_TUNNEL' }, schemas: ['a'] };
    const postgres = readSpecification(postgresLike);
    expect(shownPart(postgres, value, ['host'])).toEqual(['host']);
    expect(shownPart(postgres, value, ['tunnel_method', 'ssh_key'])).toEqual(['tunnel_method']);
    expect(shownPart(postgres, value, ['schemas', 0])).toEqual(['schemas', 0]);
    expect(shownPart(postgres, value, ['schemas', 0, 'x'])).toEqual(['schemas', 0]);
    expect(shownPart(postgres, value, ['elsewhere'])).toBeUndefined();
    expect(shownPart(postgres, value, [])).toBeUndefined();
  });

  it('are called by the title of their field and of the item it is in', () => {
    const value = { streams: [{}, {}], tags: ['x'] };
    expect(titleAt(root, value, ['secret'], form)).toBe('Secret');
    expect(titleAt(root, value, ['streams', 1, 'name'], form)).toBe('Stream 2: Name');
    expect(titleAt(root, value, ['streams', 1], form)).toBe('Stream 2');
    expect(titleAt(root, value, ['tags', 0], form)).toBe('Tags 1');
  });
});
