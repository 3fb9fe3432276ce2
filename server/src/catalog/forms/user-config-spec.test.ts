import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { describe, expect, it } from 'vitest';
import { userConfigSpec } from './user-config-spec.ts';

const credentials = {
  type: 'object',
  title: 'Authentication',
  order: 2,
  oneOf: [
    {
      title: 'OAuth',
      required: ['auth_type', 'refresh_token'],
      properties: {
        auth_type: { type: 'string', const: 'oauth' },
        client_id: { type: 'string' },
        refresh_token: { type: 'string', airbyte_secret: true },
      },
    },
    {
      title: 'Key',
      required: ['auth_type', 'key'],
      properties: { auth_type: { type: 'string', const: 'key' }, key: { type: 'string', airbyte_secret: true } },
    },
  ],
};
const tunnel = {
  type: 'object',
  title: 'Tunnel',
  required: ['host', 'port'],
  properties: { host: { type: 'string' }, port: { type: 'integer' }, note: { type: 'string' } },
};
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Anything',
  type: 'object',
  groups: [{ id: 'auth' }],
  additionalProperties: true,
  required: ['account', 'credentials'],
  properties: {
    account: { type: 'string', order: 0, group: 'auth' },
    regions: { type: 'array', items: { type: 'string' } },
    extra: { type: 'object', additionalProperties: true },
    credentials,
    tunnel,
  },
};

const left = (defaults: object, of: JsonSchema = schema) =>
  userConfigSpec({ connectionSpecification: of }, defaults as never).connectionSpecification as {
    required: string[];
    properties: Record<string, JsonSchema & { required: string[]; properties: object }>;
  };

describe('What a customer has to enter', () => {
  it('is everything when the template gives nothing', () => {
    expect(left({})).toEqual(schema);
  });

  it('is without a property that is given, and nothing else changes', () => {
    const { account: _, ...properties } = schema.properties;
    expect(left({ account: 'acme' })).toEqual({ ...schema, required: ['credentials'], properties });
  });

  it('is without lists and free-form objects that are given, whatever is in them', () => {
    expect(Object.keys(left({ regions: [], extra: { a: 1 } }).properties)).toEqual([
      'account',
      'credentials',
      'tunnel',
    ]);
  });

  it('keeps of an object what is not given, and needs it if the object does', () => {
    const { required, properties } = left({ tunnel: { host: 'h' } });
    expect(properties.tunnel).toEqual({
      ...tunnel,
      required: ['port'],
      properties: { port: { type: 'integer' }, note: { type: 'string' } },
    });
    expect(required, 'the defaults have begun the object, so it must be finished').toEqual([
      'account',
      'credentials',
      'tunnel',
    ]);
  });

  it('keeps what is optional in an object whose needs are met, without asking for it', () => {
    const { required, properties } = left({ tunnel: { host: 'h', port: 22 } });
    expect(properties.tunnel?.properties).toEqual({ note: { type: 'string' } });
    expect(required).toEqual(['account', 'credentials']);
    expect(left({ tunnel: { host: 'h', port: 22, note: '' } }).properties).not.toHaveProperty('tunnel');
  });

  it('is the rest of the form that the template has chosen', () => {
    const { required, properties } = left({ credentials: { auth_type: 'oauth', client_id: 'c' } });
    expect(properties.credentials).toEqual({
      type: 'object',
      title: 'Authentication',
      order: 2,
      required: ['refresh_token'],
      properties: { refresh_token: { type: 'string', airbyte_secret: true } },
    });
    expect(required).toContain('credentials');
  });

  it('is nothing of an object whose chosen form is complete', () => {
    const { required, properties } = left({ credentials: { auth_type: 'key', key: 's3cret' } });
    expect(properties).not.toHaveProperty('credentials');
    expect(required).toEqual(['account']);
  });

  it('is still the choice when the template gives a part and no form', () => {
    const { properties, required } = left({ credentials: { client_id: 'c' } });
    const forms = properties.credentials?.oneOf as { properties: object }[];
    expect(forms.map((form) => Object.keys(form.properties))).toEqual([
      ['auth_type', 'refresh_token'],
      ['auth_type', 'key'],
    ]);
    expect(required).toContain('credentials');
  });

  it('follows a choice at the top, and an enumeration of one as its mark', () => {
    const forms = {
      type: 'object',
      oneOf: [
        { properties: { kind: { enum: ['a'] }, x: { type: 'string' } }, required: ['x'] },
        { properties: { kind: { enum: ['b'] }, y: { type: 'string' } }, required: ['y'] },
      ],
    };
    expect(left({ kind: 'b' }, forms)).toEqual({
      type: 'object',
      properties: { y: { type: 'string' } },
      required: ['y'],
    });
  });

  it('never contains a value of the template', () => {
    const secret = 'the-operators-own-secret';
    const defaults = { account: secret, credentials: { auth_type: 'oauth', refresh_token: secret }, extra: { secret } };
    expect(JSON.stringify(left(defaults))).not.toContain(secret);
  });

  it('leaves the specification itself as it was', () => {
    const before = structuredClone(schema);
    left({ account: 'a', credentials: { auth_type: 'key' }, tunnel: { host: 'h' } });
    expect(schema).toEqual(before);
  });

  it('keeps the rest of what a connector says, but OAuth only where it can still be chosen', () => {
    const advanced_auth = {
      auth_flow_type: 'oauth2.0',
      predicate_key: ['credentials', 'auth_type'],
      predicate_value: 'oauth',
    };
    const specification = {
      documentationUrl: 'https://docs.example',
      connectionSpecification: schema,
      advanced_auth,
      supported_destination_sync_modes: ['append'],
    };
    const rest = { documentationUrl: 'https://docs.example', supported_destination_sync_modes: ['append'] };
    expect(userConfigSpec(specification, {})).toEqual({ ...rest, connectionSpecification: schema, advanced_auth });
    expect(userConfigSpec(specification, { credentials: { auth_type: 'oauth' } })).toHaveProperty('advanced_auth');
    const ruledOut = userConfigSpec(specification, { credentials: { auth_type: 'key' } });
    expect(ruledOut).toMatchObject(rest);
    expect(ruledOut).not.toHaveProperty('advanced_auth');
  });
});

describe('words in other languages', () => {
  const words = (de: string) => ({ translations: { de: { title: de } } });
  const choice = {
    type: 'object',
    title: 'Access',
    description: 'Who asks.',
    translations: { de: { title: 'Zugang', description: 'Wer fragt.' }, fr: { title: 'Accès' } },
    oneOf: [
      {
        title: 'Key',
        translations: { de: { title: 'Schlüssel' }, ja: { title: 'キー' } },
        required: ['kind', 'key'],
        properties: { kind: { const: 'key' }, key: { type: 'string', title: 'Key', ...words('Schlüssel') } },
      },
      { title: 'None', ...words('Ohne'), required: ['kind'], properties: { kind: { const: 'none' } } },
    ],
  };
  const ask = (defaults: Record<string, unknown>) => {
    const connectionSpecification: JsonSchema = { type: 'object', properties: { access: choice } };
    return userConfigSpec({ connectionSpecification }, defaults).connectionSpecification.properties;
  };

  it('stay where nothing is chosen', () => {
    expect(ask({})).toEqual({ access: choice });
  });

  it('name the field, not the form that the defaults have chosen for it', () => {
    expect(ask({ access: { kind: 'key' } })).toMatchObject({
      access: {
        title: 'Access',
        description: 'Who asks.',
        translations: { de: { title: 'Zugang', description: 'Wer fragt.' }, fr: { title: 'Accès' }, ja: {} },
        properties: { key: { translations: { de: { title: 'Schlüssel' } } } },
      },
    });
  });
});
