import { expect, it } from 'vitest';
import { customerUrl } from './customer-url.ts';

it.each([
  ['https://admin.example.com/c/{name}', 'acme inc/eu?x#y', 'https://admin.example.com/c/acme%20inc%2Feu%3Fx%23y'],
  ['https://admin.example.com/?q={name}&id={id}', '{id}&q=z', 'https://admin.example.com/?q=%7Bid%7D%26q%3Dz&id=17'],
])('fills %s with %s', (template, name, url) => {
  expect(customerUrl(template, { id: '17', name })).toBe(url);
});
