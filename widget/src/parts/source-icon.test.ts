import { expect, it } from 'vitest';
import { hueOf, isAllowedImage } from './source-icon.tsx';

const origins = ['https://inlay.example', undefined];

it.each(['data:image/svg+xml,%3Csvg/%3E', 'https://inlay.example/icon.svg'])('shows %s', (address) => {
  expect(isAllowedImage(address, origins)).toBe(true);
});

it.each(['https://elsewhere.example/icon.svg', 'data:text/html,x', 'javascript:alert(1)', 'icon.svg', ''])(
  'does not load %j',
  (address) => {
    expect(isAllowedImage(address, origins)).toBe(false);
  },
);

it('gives a name its own color', () => {
  expect(hueOf('Shopify')).toBe(hueOf('Shopify'));
  expect(hueOf('Shopify')).not.toBe(hueOf('Stripe'));
});
