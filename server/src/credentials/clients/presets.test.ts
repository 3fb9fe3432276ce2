/** The presets of providers: each file is in the list, has the form, and sends no secret to a customer's host. */
import { readdirSync } from 'node:fs';
import { OAuthPreset } from '@inlay/contract/credentials/oauth-providers';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { accountHosts, providerFaults, secretHosts } from '../provider/addresses.ts';
import { presets } from './presets.ts';

const files = readdirSync(new URL('../presets', import.meta.url)).map((name) =>
  name.replace('.json', '').replaceAll('-', '_'),
);

it('lists every file', () => {
  expect(Object.keys(presets).sort()).toEqual(files.sort());
  expect(files.length).toBeGreaterThanOrEqual(20);
});

describe.each(Object.entries(presets))('%s', (_key, preset) => {
  it('has the form of a preset, names the account, and has addresses of its own', async () => {
    expect([...Value.Errors(OAuthPreset, preset)]).toEqual([]);
    expect(await providerFaults(preset)).toEqual([]);
    expect(preset.account).toMatchObject({ id: expect.any(Array), label: expect.any(Array) });
    expect(preset.authorization_url).toMatch(/^https:/);
    for (const host of [...secretHosts(preset), ...accountHosts(preset)])
      expect(host).toMatch(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/);
  });
});
