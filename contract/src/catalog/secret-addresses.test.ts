import { describe, expect, test } from 'vitest';
import { type Configuration, keepMaskedSecrets } from './connector-configuration.ts';
import { redirectedSecrets } from './secret-addresses.ts';

const mask = '**********';
const text = { type: 'string' };
const secret = { type: 'string', airbyte_secret: true };

/** The secrets that have to be entered again, as paths, when a whole configuration is replaced. */
function moved(specification: object, stored: Configuration, given: Configuration): string[] {
  const accepted = keepMaskedSecrets({ ...specification }, given, stored);
  return redirectedSecrets({ ...specification }, { given, accepted, before: stored, after: accepted }).map((path) =>
    path.join('.'),
  );
}

/** As above, of a configuration that has one field and a password. */
function movedBy(name: string, schema: object, before: unknown, after: unknown): boolean {
  const specification = { properties: { [name]: schema, password: secret } };
  return moved(specification, { [name]: before, password: 'the-secret' }, { [name]: after, password: mask }).length > 0;
}

describe('a masked secret has to be entered again', () => {
  test.each(
    'host port base_url baseUrl apiEndpoint server account subdomain region bucket_name ssl_mode proxy s3_endpoint'.split(
      ' ',
    ),
  )('when %s changes', (name) => {
    expect(movedBy(name, text, 'a', 'b')).toBe(true);
    expect(movedBy(name, text, 'a', 'a')).toBe(false);
  });

  test('when a field changes that is an address by its format, its title or its mark', () => {
    expect(movedBy('where', { type: 'string', format: 'hostname' }, 'a', 'b')).toBe(true);
    expect(movedBy('where', { type: 'string', title: 'Server of your company' }, 'a', 'b')).toBe(true);
    expect(movedBy('where', { type: 'string', inlay_address: true }, 'a', 'b')).toBe(true);
    expect(movedBy('region', { type: 'string', inlay_address: false }, 'a', 'b')).toBe(false);
  });

  test('when any value is or becomes a URL, in a field that the specification does not know too', () => {
    expect(movedBy('start', text, 'x', 'https://evil.example')).toBe(true);
    expect(movedBy('start', text, '//good.example', '//evil.example')).toBe(true);
    const given = { extra: { deep: ['https://evil.example'] }, password: mask };
    expect(moved({ properties: { password: secret } }, { password: 'the-secret' }, given)).toEqual(['password']);
  });

  test('when an address is taken away or comes to be', () => {
    expect(movedBy('port', { type: 'integer' }, 5433, undefined)).toBe(true);
    expect(movedBy('port', { type: 'integer' }, undefined, 5433)).toBe(true);
  });

  test('wherever it stands: deep inside, in a list, in a form that was not chosen', () => {
    const specification = {
      properties: {
        host: text,
        credentials: {
          oneOf: [{ properties: { kind: { const: 'key' }, key: secret } }, { properties: { pin: secret } }],
        },
        accounts: { type: 'array', items: { properties: { name: text, token: secret } } },
      },
    };
    const stored = { host: 'a', credentials: { kind: 'key', key: 'k' }, accounts: [{ name: 'x', token: 't' }] };
    const given = { host: 'b', credentials: { kind: 'key', key: mask }, accounts: [{ name: 'x', token: mask }] };
    expect(moved(specification, stored, given)).toEqual(['credentials.key', 'accounts.0.token']);
  });

  test('when two items of a list change places, each with an address and a secret of its own', () => {
    const servers = { type: 'array', items: { properties: { host: text, token: secret } } };
    const [one, two] = [
      { host: 'one', token: 't1' },
      { host: 'two', token: 't2' },
    ];
    const masked = ({ host }: { host: string }) => ({ host, token: mask });
    const stored = { servers: [one, two] };
    expect(moved({ properties: { servers } }, stored, { servers: [masked(one), masked(two)] })).toEqual([]);
    const swapped = { servers: [masked(two), masked(one)] };
    expect(moved({ properties: { servers } }, stored, swapped)).toEqual(['servers.0.token', 'servers.1.token']);
  });

  test('when something changes inside an address: another way to encrypt, another tunnel', () => {
    const specification = {
      properties: {
        ssl_mode: {
          oneOf: [{ properties: { mode: { const: 'disable' } } }, { properties: { mode: { const: 'require' } } }],
        },
        tunnel_method: { properties: { tunnel_method: text, tunnel_user: text } },
        password: secret,
      },
    };
    const stored = { ssl_mode: { mode: 'require' }, tunnel_method: { tunnel_method: 'none' }, password: 'the-secret' };
    const kept = { ...stored, password: mask };
    expect(moved(specification, stored, kept)).toEqual([]);
    expect(moved(specification, stored, { ...kept, ssl_mode: { mode: 'disable' } })).toEqual(['password']);
    expect(moved(specification, stored, { ...kept, tunnel_method: { tunnel_method: 'ssh' } })).toEqual(['password']);
  });
});

describe('a masked secret is kept', () => {
  const specification = {
    properties: {
      host: text,
      port: { type: 'integer', default: 5432 },
      user: text,
      urls: { type: 'array', items: text },
      password: secret,
    },
  };
  const stored = { host: 'a', user: 'u', urls: ['https://a.example', 'https://b.example'], password: 'the-secret' };
  const kept = { ...stored, password: mask };

  test('when nothing changes, or something that is no address', () => {
    expect(moved(specification, stored, kept)).toEqual([]);
    expect(moved(specification, stored, { ...kept, user: 'v' })).toEqual([]);
  });

  test('when a default is written out, or a URL is written in another way', () => {
    expect(moved(specification, stored, { ...kept, port: 5432 })).toEqual([]);
    expect(moved(specification, stored, { ...kept, port: 5433 })).toEqual(['password']);
    expect(moved(specification, stored, { ...kept, urls: ['https://B.example/', 'https://a.example/'] })).toEqual([]);
  });

  test('when an address is taken out of a list, and not when another one comes in', () => {
    expect(moved(specification, stored, { ...kept, urls: ['https://b.example'] })).toEqual([]);
    expect(moved(specification, stored, { ...kept, urls: ['https://c.example'] })).toEqual(['password']);
  });

  test('by nobody when it is entered again', () => {
    expect(moved(specification, stored, { ...kept, host: 'b', password: 'another' })).toEqual([]);
  });
});

test('a secret that a merged change leaves out is kept, so it has to be entered again as well', () => {
  const specification = { properties: { host: text, password: secret } };
  const stored = { host: 'a', password: 'the-secret' };
  const after = { host: 'b', password: 'the-secret' };
  const change = { given: { host: 'b' }, accepted: after, before: stored, after };
  expect(redirectedSecrets(specification, change)).toEqual([['password']]);
});
