import { expect, it } from 'vitest';
import type { Definition } from './definition.ts';
import { getIcon, iconAddress } from './icons.ts';

const id = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
const offering = (icon: string | null) => ({
  publicUrl: 'https://inlay.example.com/data',
  definitions: { list: async (kind: string) => (kind === 'source' ? [] : [{ id, icon } as Definition]) },
});

it.each([
  ['text', 'data:image/svg+xml,%3Csvg%2F%3E', 'image/svg+xml', '<svg/>'],
  ['text with parameters', 'data:image/svg+xml;charset=utf-8,<svg/>', 'image/svg+xml', '<svg/>'],
  ['base64', `data:image/gif;base64,${Buffer.from('GIF89a…').toString('base64')}`, 'image/gif', 'GIF89a…'],
])('An icon given as %s has an address, and the address serves it', async (_form, given, mediaType, content) => {
  const ctx = offering(given);
  const address = iconAddress(ctx, id, given) ?? '';
  expect(address).toMatch(new RegExp(`^https://inlay\\.example\\.com/data/icons/${id}/[0-9a-f]{16}$`));
  const edition = address.slice(address.lastIndexOf('/') + 1);
  expect(await getIcon(ctx, id.toUpperCase(), edition)).toEqual({
    mediaType,
    content: Buffer.from(content),
    isExact: true,
  });
  expect((await getIcon(ctx, id, 'another')).isExact).toBe(false);
});

it('An icon on the web keeps its address, and none stays none', () => {
  const address = 'https://icons.example/crm.svg';
  expect(iconAddress(offering(address), id, address)).toBe(address);
  expect(iconAddress(offering(null), id, null)).toBeNull();
});

it.each([
  'data:text/html,<script>',
  'data:image/svg+xml,%zz',
  'data:,x',
  'data:image/x-icon;base64,AA==',
  'data:image/png,<script>',
  `data:image/png;base64,${Buffer.from('<script>alert(1)</script>').toString('base64')}`,
])('What is no image of a known kind is neither shown nor served: %s', async (given) => {
  const ctx = offering(given);
  expect(iconAddress(ctx, id, given)).toBeNull();
  await expect(getIcon(ctx, id, 'any')).rejects.toMatchObject({ code: 'route_not_found' });
});
