/** Addresses of providers with values of customers in them. */
import type { OAuthProvider } from '@inlay/contract/oauth-providers';
import { describe, expect, it } from 'vitest';
import { checkValues, fillAddress, providerFaults, secretHosts, WrongValue } from './addresses.ts';

const shop: OAuthProvider = {
  authorization_url: 'https://{shop}.example.com/authorize',
  token_url: 'https://{shop}.example.com/token',
  values: { shop: { title: 'Shop' } },
};
const regional: OAuthProvider = {
  authorization_url: 'https://{host}/authorize',
  token_url: 'https://{host}/token',
  values: { host: { title: 'Region', hosts: ['eu.example.com', 'us.example.com'], default: 'us.example.com' } },
};
const tokenUrl = (provider: OAuthProvider, given: Record<string, string>) =>
  fillAddress(provider.token_url, checkValues(provider, given));

describe('a value of a customer', () => {
  it('is one label of a host, or one host of the list', () => {
    expect(tokenUrl(shop, { shop: ' Acme ' })).toBe('https://acme.example.com/token');
    expect(tokenUrl(regional, { host: 'EU.example.com' })).toBe('https://eu.example.com/token');
    expect(tokenUrl(regional, {})).toBe('https://us.example.com/token');
    expect(tokenUrl(shop, { shop: 'a', other: 'evil' })).toBe('https://a.example.com/token');
  });

  it.each([
    '',
    'evil.com/',
    'evil.com#',
    'evil.com?',
    'a.b',
    'a@evil.com',
    'a:1',
    '../x',
    '%2f',
    'ä',
    '-a',
    'a-',
    'x'.repeat(64),
  ])('leads nowhere else: %s', (value) => {
    expect(() => tokenUrl(shop, { shop: value })).toThrow(WrongValue);
    if (value !== '') expect(() => tokenUrl(regional, { host: value })).toThrow(/enter one of eu\.example\.com/);
  });

  it('does not come from a prototype', () => {
    const provider = { ...shop, values: { constructor: { title: 'Shop' } } };
    expect(() => checkValues(provider, {})).toThrow(WrongValue);
  });
});

describe('the description of a provider', () => {
  const faultOf = (token_url: string, values = shop.values) =>
    providerFaults({ ...shop, token_url, ...(values && { values }) }).find(({ field }) => field === 'token_url')
      ?.message;

  it('names its own domain in every address', () => {
    expect(providerFaults(shop)).toEqual([]);
    expect(providerFaults(regional)).toEqual([]);
    expect(faultOf('https://{shop}.com/token')).toMatch(/a domain that belongs to the provider/);
    expect(faultOf('https://{shop}/token')).toMatch(/a domain that belongs to the provider/);
    expect(faultOf('https://{shop}x.example.com/token')).toMatch(/a domain that belongs to the provider/);
    expect(faultOf('https://api.{shop}.com/token')).toMatch(/beginning of the host/);
    expect(faultOf('https://example.com@{shop}.example.com/token')).toBeDefined();
    expect(faultOf('https://user@example.com/token')).toMatch(/user name/);
    expect(faultOf('https://{other}.example.com/token')).toMatch(/not among the values/);
    expect(faultOf('https://login.example.com/{shop}/token')).toBeUndefined();
    expect(faultOf('https://{host}.example.com/token', regional.values)).toMatch(/the whole host/);
  });

  it('says which hosts get the secret', () => {
    expect(secretHosts(shop)).toEqual(['*.example.com']);
    expect(secretHosts(regional)).toEqual(['eu.example.com', 'us.example.com']);
    const scattered = {
      ...shop,
      refresh_url: 'https://Refresh.example.com/x',
      revocation_url: 'https://x.example.com/y',
    };
    expect(secretHosts(scattered)).toEqual(['*.example.com', 'refresh.example.com', 'x.example.com']);
  });
});
