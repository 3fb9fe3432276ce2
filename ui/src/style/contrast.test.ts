import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrast, cssOf, isDark, legible, legibleOn, type Rgb, textOn } from './contrast.ts';

const white: Rgb = [1, 1, 1];
const black: Rgb = [0, 0, 0];
const channel = fc.double({ min: 0, max: 1, noNaN: true });
const color = fc.tuple(channel, channel, channel);

it('measures contrast as WCAG does', () => {
  expect(contrast(black, white)).toBeCloseTo(21);
  expect(contrast(white, white)).toBe(1);
  expect(contrast([0x76 / 255, 0x76 / 255, 0x76 / 255], white)).toBeCloseTo(4.54, 2);
});

it('distinguishes dark from light', () => {
  expect([isDark(black), isDark(white), isDark([0.26, 0.22, 0.79]), isDark([1, 0.83, 0])]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

it('gives legible text on any color', () => {
  fc.assert(fc.property(color, (any) => contrast(textOn(any), any) >= legible));
});

it('makes any color legible on any background that the text is legible on', () => {
  fc.assert(fc.property(color, color, (any, back) => contrast(legibleOn(any, back, textOn(back)), back) >= legible));
});

it('leaves a color alone that is legible already', () => {
  const blue: Rgb = [0.1, 0.1, 0.7];
  expect(legibleOn(blue, white, black)).toEqual(blue);
});

it('writes a color for CSS', () => {
  expect(cssOf([1, 0.5, 0])).toBe('rgb(255 128 0)');
});
