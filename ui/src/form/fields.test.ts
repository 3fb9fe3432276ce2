import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { describe, expect, it } from 'vitest';
import { type ChoiceField, type Field, optionsOf, readSpecification, titleFromKey } from './fields.ts';

const objectOf = (properties: Record<string, JsonSchema>, more: JsonSchema = {}) =>
  readSpecification({ type: 'object', properties, ...more });
const kindOf = (schema: JsonSchema, required = false) =>
  objectOf({ it: schema }, required ? { required: ['it'] } : {}).fields[0]?.kind;
const keys = (fields: readonly Field[] | undefined) => fields?.map(({ key }) => key);

describe('the order of fields', () => {
  it('goes by order, then those without one: required before optional, then by name', () => {
    const root = objectOf(
      {
        d: { type: 'string', always_show: true },
        c: { type: 'string', always_show: true },
        b: { type: 'string' },
        second: { type: 'string', order: 2, always_show: true },
        first: { type: 'string', order: 1, always_show: true },
      },
      { required: ['b'] },
    );
    expect(keys(root.fields)).toEqual(['first', 'second', 'b', 'c', 'd']);
  });

  it('puts optional fields behind a disclosure unless they are always to be shown', () => {
    const root = objectOf(
      { a: { type: 'string' }, b: { type: 'string', always_show: true }, c: { type: 'string' } },
      { required: ['c'] },
    );
    expect(root.sections).toHaveLength(1);
    expect(keys(root.sections[0]?.visible)).toEqual(['c', 'b']);
    expect(keys(root.sections[0]?.folded)).toEqual(['a']);
  });

  it('puts groups in their order, after what has none and before those nobody announced', () => {
    const root = objectOf(
      {
        a: { type: 'string', group: 'zoo' },
        b: { type: 'string', group: 'two' },
        c: { type: 'string', group: 'one' },
        d: { type: 'string' },
        e: { type: 'string', group: 'bar' },
      },
      { groups: [{ id: 'one', title: 'One' }, { id: 'two' }, { id: 'empty', title: 'Nothing' }] },
    );
    expect(root.sections.map(({ title, folded }) => [title, keys(folded)])).toEqual([
      [undefined, ['d']],
      ['One', ['c']],
      [undefined, ['b']],
      [undefined, ['e']],
      [undefined, ['a']],
    ]);
  });

  it('ignores groups where the specification has none', () => {
    const root = objectOf({ a: { type: 'string', group: 'x', order: 1 }, b: { type: 'string', order: 2 } });
    expect(root.sections.map(({ folded }) => keys(folded))).toEqual([['a', 'b']]);
  });
});

describe('credentials', () => {
  const secret = { type: 'string', airbyte_secret: true };
  /** The paths of all fields that are behind a disclosure, at any depth. */
  const foldedIn = (field: Field, path = ''): string[] => {
    const inner = (one: Field) => foldedIn(one, `${path}/${one.key}`);
    if (field.kind === 'choice') return field.branches.flatMap((branch) => foldedIn(branch, path));
    if (field.kind === 'objects') return foldedIn(field.item, `${path}/*`);
    if (field.kind !== 'object') return [];
    return field.sections.flatMap(({ visible, folded }) => [
      ...folded.flatMap((one) => [`${path}/${one.key}`, ...inner(one)]),
      ...visible.flatMap(inner),
    ]);
  };
  const other = { type: 'string' };
  const form = (kind: string, properties: Record<string, JsonSchema>) => ({
    title: kind,
    properties: { auth_type: { const: kind }, ...properties },
  });

  it.each<[string, Record<string, JsonSchema>, JsonSchema?]>([
    ['alone', { it: secret, other }],
    ['that may be null', { it: { ...secret, type: ['null', 'string'] }, other }],
    ['in an object', { it: { type: 'object', properties: { key: secret, other } }, other }],
    [
      'in an object in an object',
      { it: { type: 'object', properties: { deep: { type: 'object', properties: { key: secret, other } } } }, other },
    ],
    [
      'in one of several forms',
      { it: { oneOf: [form('none', { other }), form('key', { key: secret, other })] }, other },
    ],
    ['in the items of a list', { it: { type: 'array', items: { properties: { key: secret, other } } }, other }],
    ['as the items of a list', { it: { type: 'array', items: secret }, other }],
    ['behind a wrapped reference', { it: { allOf: [{ type: 'object', properties: { key: secret } }] }, other }],
    [
      'in a value that is edited as JSON',
      { it: { anyOf: [{ properties: { key: secret } }, { type: 'null' }] }, other },
    ],
    ['in a group', { it: { ...secret, group: 'auth' }, other }, { groups: [{ id: 'auth', title: 'Authentication' }] }],
  ])('are never folded away: a secret %s', (_where, properties, more) => {
    const root = objectOf(properties, more);
    const folded = foldedIn(root);
    expect(folded).toContain('/other');
    expect(folded.filter((path) => !path.endsWith('/other'))).toEqual([]);
    expect(root.sections.flatMap(({ visible }) => keys(visible))).toEqual(['it']);
  });

  it('are never folded away: whatever advanced_auth names, wherever it is', () => {
    const properties = {
      mode: { type: 'string', enum: ['oauth', 'key'] },
      subdomain: other,
      credentials: { oneOf: [form('oauth', { client_id: other, expires: other, other }), form('key', { other })] },
      app: { type: 'object', properties: { id: other, other } },
      other,
    };
    const root = readSpecification(
      { type: 'object', properties },
      {
        auth_flow_type: 'oauth2.0',
        predicate_key: ['mode'],
        predicate_value: 'oauth',
        oauth_config_specification: {
          oauth_user_input_from_connector_config_specification: {
            properties: { subdomain: { type: 'string', path_in_connector_config: ['subdomain'] } },
          },
          complete_oauth_output_specification: {
            properties: { expires: { type: 'string', path_in_connector_config: ['credentials', 'expires'] } },
          },
          complete_oauth_server_output_specification: {
            properties: {
              client_id: { type: 'string', path_in_connector_config: ['credentials', 'client_id'] },
              app_id: { type: 'string', path_in_connector_config: ['app', 'id'] },
            },
          },
        },
      },
    );
    expect(foldedIn(root).toSorted()).toEqual(['/app/other', '/credentials/other', '/credentials/other', '/other']);
    expect(foldedIn(readSpecification({ type: 'object', properties }))).toContain('/subdomain');
  });

  it('stay away where the author of the connector hides them', () => {
    const root = objectOf({ legacy_token: { ...secret, airbyte_hidden: true }, other });
    expect(root.fields.find(({ key }) => key === 'legacy_token')?.isShown).toBe(false);
  });
});

describe('titles', () => {
  it('are made from the key where there is none', () => {
    expect(titleFromKey('start_date')).toBe('Start date');
    expect(titleFromKey('startDate')).toBe('Start date');
    expect(titleFromKey('api_key')).toBe('API key');
    expect(titleFromKey('account-id')).toBe('Account ID');
    expect(titleFromKey('_')).toBe('_');
    expect(objectOf({ base_url: { type: 'string', title: '  ' } }).fields[0]?.title).toBe('Base URL');
  });
});

describe('the kind of a field', () => {
  it('follows type, format and annotations', () => {
    expect(kindOf({ type: 'string' })).toBe('text');
    expect(kindOf({ type: ['null', 'string'] })).toBe('text');
    expect(kindOf({ type: 'string', airbyte_secret: true, multiline: true })).toBe('secret');
    expect(kindOf({ type: 'string', multiline: true })).toBe('long-text');
    expect(kindOf({ type: 'string', format: 'date' })).toBe('date');
    expect(kindOf({ type: 'string', format: 'date-time' })).toBe('date-time');
    expect(kindOf({ type: 'integer' })).toBe('number');
    expect(kindOf({ type: 'number' })).toBe('number');
    expect(kindOf({ type: 'boolean' })).toBe('switch');
    expect(kindOf({ type: 'string', enum: ['a', 'b'] })).toBe('select');
    expect(kindOf({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] })).toBe('select');
    expect(kindOf({ type: 'array', items: { type: 'string' } })).toBe('list');
    expect(kindOf({ type: 'array', items: { type: 'integer' } })).toBe('list');
    expect(kindOf({ type: 'array', items: { type: 'string', enum: ['a'] } })).toBe('checkboxes');
    expect(kindOf({ type: 'array', items: { type: 'object', properties: { a: {} } } })).toBe('objects');
    expect(kindOf({ type: 'object', properties: { a: { type: 'string' } } })).toBe('object');
    expect(kindOf({ allOf: [{ type: 'string' }], title: 'Wrapped' })).toBe('text');
  });

  it('is JSON where there is no control for it', () => {
    expect(kindOf({})).toBe('json');
    expect(kindOf({ type: 'object' })).toBe('json');
    expect(kindOf({ type: 'object', additionalProperties: { type: 'string' } })).toBe('json');
    expect(kindOf({ type: 'array' })).toBe('json');
    expect(kindOf({ type: 'array', items: { type: 'array', items: { type: 'string' } } })).toBe('json');
    expect(kindOf({ type: ['string', 'integer'] })).toBe('json');
  });

  it('is a constant where there is one value only, and a choice of one where that is optional', () => {
    expect(kindOf({ const: 5 })).toBe('constant');
    expect(kindOf({ type: 'string', enum: ['only'] }, true)).toBe('constant');
    expect(kindOf({ type: 'string', enum: ['only'] })).toBe('select');
  });

  it('does not change whether something hidden is a field', () => {
    const root = objectOf({ a: { type: 'string', airbyte_hidden: true }, b: { const: 1 }, c: { type: 'string' } });
    expect(root.fields.map(({ key, isShown }) => [key, isShown])).toEqual([
      ['c', true],
      ['a', false],
      ['b', false],
    ]);
    expect(root.sections.flatMap(({ visible, folded }) => keys([...visible, ...folded]))).toEqual(['c']);
  });
});

describe('options', () => {
  it('show blanks, and leave out null', () => {
    expect(optionsOf({ enum: ['a', '\t', '', 1, null] })?.map(({ label }) => label)).toEqual(['a', '"\\t"', '""', '1']);
  });
});

describe('choices', () => {
  const branch = (title: string | undefined, properties: Record<string, JsonSchema>) => ({
    ...(title === undefined ? {} : { title }),
    properties,
  });
  const choice = (schema: JsonSchema) => objectOf({ it: { type: 'object', ...schema } }).fields[0] as ChoiceField;

  it('are cards for up to three branches, and a select for more, by default', () => {
    const branches = ['a', 'b', 'c', 'd'].map((name) => branch(name, { t: { const: name } }));
    expect(choice({ oneOf: branches.slice(0, 3) }).display).toBe('radio');
    expect(choice({ oneOf: branches }).display).toBe('dropdown');
    expect(choice({ oneOf: branches, display_type: 'radio' }).display).toBe('radio');
    expect(choice({ oneOf: branches.slice(0, 2), display_type: 'dropdown' }).display).toBe('dropdown');
  });

  it('hide what distinguishes the branches, in the newer and the older way to say it', () => {
    const { branches } = choice({
      oneOf: [branch('A', { t: { type: 'string', enum: ['a'] } }), branch('B', { t: { type: 'string', const: 'b' } })],
    });
    expect(branches.map(({ fields }) => fields.map(({ kind, isShown }) => [kind, isShown]))).toEqual([
      [['constant', false]],
      [['constant', false]],
    ]);
  });

  it('name a branch without title after what distinguishes it', () => {
    expect(choice({ oneOf: [branch(undefined, { t: { const: 'a' } })] }).branches[0]?.title).toBe('a');
  });

  it('give every branch what stands beside them', () => {
    const { branches } = choice({
      required: ['shared'],
      properties: { shared: { type: 'string' } },
      oneOf: [branch('A', { t: { const: 'a' } }), branch('B', { t: { const: 'b' }, more: { type: 'string' } })],
    });
    expect(branches.map(({ fields }) => keys(fields))).toEqual([
      ['shared', 't'],
      ['shared', 'more', 't'],
    ]);
    expect(branches[0]?.fields[0]?.required).toBe(true);
  });
});
