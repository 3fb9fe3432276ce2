/** Addresses of providers with values of customers in them. */
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { describe, expect, it } from 'vitest';
import {
  accountHosts,
  addressToAsk,
  checkValues,
  OpenAddress,
  type Provider,
  providerFaults,
  secretHosts,
  WrongValue,
} from './addresses.ts';

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
const tokenUrl = (provider: Provider, given: Record<string, string>) =>
  addressToAsk(provider, provider.token_url, given);

describe('a value of a customer', () => {
  it('is one label of a host, or one host of the list', async () => {
    expect(await tokenUrl(shop, { shop: ' Acme ' })).toBe('https://acme.example.com/token');
    expect(await tokenUrl(regional, { host: 'EU.example.com' })).toBe('https://eu.example.com/token');
    expect(await tokenUrl(regional, {})).toBe('https://us.example.com/token');
    expect(await tokenUrl(shop, { shop: 'a', other: 'evil' })).toBe('https://a.example.com/token');
  });

  it('may be one label before a host of the list, and may decide other hosts', async () => {
    const own: Provider = {
      ...regional,
      values: { host: { title: 'Host', hosts: ['login.example.com', '*.my.example.com'] } },
    };
    expect(await providerFaults(own)).toEqual([]);
    expect(await tokenUrl(own, { host: 'Acme--dev.my.example.com' })).toBe('https://acme--dev.my.example.com/token');
    expect(secretHosts(own)).toEqual(['*.my.example.com', 'login.example.com']);
    for (const host of [
      'my.example.com',
      'a.b.my.example.com',
      '.my.example.com',
      'evil.com/.my.example.com',
      'x.evil.com',
    ]) {
      await expect(tokenUrl(own, { host }), host).rejects.toThrow(WrongValue);
    }
    const app = { title: 'App', hosts: ['app.example.com', 'app.eu.example.com'] };
    const paired = (api: string[]): Provider => ({
      authorization_url: 'https://{app}/authorize',
      token_url: 'https://{api}/token',
      values: { app: { ...app, sets: { api }, default: 'app.example.com' } },
    });
    const good = paired(['api.example.com', 'api.eu.example.com']);
    expect(await providerFaults(good)).toEqual([]);
    expect(secretHosts(good)).toEqual(['api.eu.example.com', 'api.example.com']);
    expect(await tokenUrl(good, { app: 'app.eu.example.com' })).toBe('https://api.eu.example.com/token');
    // What the customer enters for a host that follows from the choice counts nothing.
    expect(await tokenUrl(good, { api: 'evil.com' })).toBe('https://api.example.com/token');
    expect(await providerFaults(paired(['api.example.com']))).toMatchObject([{ field: 'values' }]);
    expect(await providerFaults(paired(['*.example.com', 'api.example.com']))).toMatchObject([{ field: 'values' }]);
  });

  it.each([
    '',
    'evil.com/',
    'x.evil.com/',
    'evil.com#',
    'evil.com?',
    'a.b',
    'a.',
    'a\u3002evil',
    'a\uff0eevil',
    'a@evil.com',
    'a:1',
    'a\\b',
    '../x',
    '%2f',
    'ä',
    'xn--a',
    '-a',
    'a-',
    'x'.repeat(64),
  ])('leads nowhere else: %s', async (value) => {
    await expect(tokenUrl(shop, { shop: value })).rejects.toThrow(WrongValue);
    if (value !== '')
      await expect(tokenUrl(regional, { host: value })).rejects.toThrow(/enter one of eu\.example\.com/);
  });

  it('does not come from a prototype', () => {
    const provider = { ...shop, values: { constructor: { title: 'Shop' } } };
    expect(() => checkValues(provider, {})).toThrow(WrongValue);
  });
});

describe('the description of a provider', () => {
  const faultOf = async (token_url: string, values = shop.values, more: Partial<Provider> = {}) =>
    (await providerFaults({ ...shop, token_url, ...(values && { values }), ...more })).find(
      ({ field }) => field === 'token_url',
    )?.message;

  it('names its own domain in every address', async () => {
    expect(await providerFaults(shop)).toEqual([]);
    expect(await providerFaults(regional)).toEqual([]);
    const foreign = /a domain of the provider/;
    expect(await faultOf('https://{shop}.com/token')).toMatch(foreign);
    expect(await faultOf('https://{shop}x.example.com/token')).toMatch(foreign);
    expect(await faultOf('https://api.{shop}.com/token')).toMatch(/at the start of the host/);
    expect(await faultOf('https://{shop}.{shop}.example.com/token')).toMatch(/at the start of the host/);
    expect(await faultOf('https://example.com@{shop}.example.com/token')).toBeDefined();
    expect(await faultOf('https://user@example.com/token')).toMatch(/user name/);
    expect(await faultOf('https://{other}.example.com/token')).toMatch(/not defined in values/);
    expect(await faultOf('https://login.example.com/{shop}/token')).toBeUndefined();
    expect(await faultOf('https://{host}.example.com/token', regional.values)).toMatch(/the complete host/);
  });

  it.each([
    'https://{shop}/token',
    'https:///{shop}/token',
    'https://\\{shop}/token',
    'https://{shop}.co.uk/token',
    'https://{shop}.github.io/token',
    'https://{shop}.myshopify.com/token',
    'https://{shop}.s3.amazonaws.com/token',
    'https://{shop}.compute.amazonaws.com/token',
    'https://{shop}.kawasaki.jp/token',
    'https://{shop}.xn--p1ai/token',
    'https://{shop}.local/token',
    'https://{shop}.example.com./token',
    'https://{shop}.1.2.3/token',
  ])('does not leave open whose host it is: %s', async (address) => {
    expect(await faultOf(address)).toBeDefined();
    await expect(addressToAsk(shop, address, { shop: 'acme' })).rejects.toThrow(OpenAddress);
  });

  it.each([
    'https://{shop}.zendesk.com/token',
    'https://{shop}.foo.co.uk/token',
    'https://{shop}.bar.github.io/token',
    'https://{shop}.login.corp.internal/token',
    'https://{shop}.example.com:8443/token',
  ])('fixes a registrable domain: %s', async (address) => {
    expect(await faultOf(address)).toBeUndefined();
    expect(await addressToAsk(shop, address, { shop: 'acme' })).toBe(address.replace('{shop}', 'acme'));
  });

  it('lists no hosts that anybody can have, and has suffixes of its own only as a preset', async () => {
    const values = (hosts: string[]) => ({ host: { title: 'Host', hosts } });
    expect(await faultOf('https://{host}/token', values(['*.co.uk']))).toMatch(/under co\.uk/);
    expect(await faultOf('https://{host}/token', values(['a.co.uk', '*.a.co.uk']))).toBeUndefined();
    const own = { own_suffixes: ['myshopify.com'] };
    expect(await faultOf('https://{shop}.myshopify.com/token', shop.values, own)).toBeUndefined();
    expect(await faultOf('https://{shop}.github.io/token', shop.values, own)).toBeDefined();
  });

  it('says which hosts get the secret, and which get tokens', () => {
    expect(secretHosts(shop)).toEqual(['*.example.com']);
    expect(secretHosts(regional)).toEqual(['eu.example.com', 'us.example.com']);
    const scattered = {
      ...shop,
      refresh_url: 'https://Refresh.example.com/x',
      revocation_url: 'https:///x.example.com:8443/y',
      account: { url: 'https://api.example.com/me', id: ['id'] },
    };
    expect(secretHosts(scattered)).toEqual(['*.example.com', 'refresh.example.com', 'x.example.com:8443']);
    expect(accountHosts(scattered)).toEqual(['api.example.com']);
    const asked = { ...scattered, account: { ...scattered.account, introspects: true } };
    expect(secretHosts(asked)).toContain('api.example.com');
  });
});
