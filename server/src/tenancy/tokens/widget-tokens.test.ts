import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formEncoded } from './widget-tokens.ts';

it('A value of a widget address is written as URLSearchParams writes it', () => {
  const check = (value: string) => {
    expect(`v=${formEncoded(value)}`).toBe(String(new URLSearchParams({ v: value })));
  };
  check('https://app.example.com:8443');
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), check));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), check));
});
