import { readFileSync } from 'node:fs';
import { contrast, legible, type Rgb } from '@inlay/ui/style/contrast.ts';
import { expect, it } from 'vitest';
import { logoOf, lookOf, parseTheme } from './theme.ts';

/** Enough of a browser for these tests: colors as #rrggbb. */
function read(color: string): Rgb | undefined {
  const match = /^#(..)(..)(..)$/.exec(color);
  return match ? (match.slice(1).map((part) => Number.parseInt(part, 16) / 255) as unknown as Rgb) : undefined;
}

const colorsIn = (css = '') =>
  [...css.matchAll(/rgb\((\d+) (\d+) (\d+)\)/g)].map(
    ([, r, g, b]): Rgb => [+`${r}` / 255, +`${g}` / 255, +`${b}` / 255],
  );

it('keeps a whole theme', () => {
  const theme = {
    color_scheme: 'dark',
    primary_color: '#4f46e5',
    background_color: 'rgb(1 2 3)',
    text_color: 'teal',
    radius: 0,
    font_family: "'Inter', sans-serif",
    logo_url: 'https://app.example.com/logo.svg',
  };
  expect(parseTheme(JSON.stringify(theme))).toEqual(theme);
});

it.each([
  ['no JSON', '{'],
  ['no object', '"red"'],
  ['nothing', 'null'],
  ['an unknown scheme', '{"color_scheme":"sepia"}'],
  ['a color that loads something', '{"primary_color":"url(https://evil.example)"}'],
  ['a color that ends the declaration', '{"text_color":"red;position:fixed"}'],
  ['a color that is a number', '{"text_color":7}'],
  ['a radius beyond the limit', '{"radius":33}'],
  ['a radius below zero', '{"radius":-1}'],
  ['a font that is a function', '{"font_family":"url(x)"}'],
  ['a logo that is a script', '{"logo_url":"javascript:alert(1)"}'],
])('leaves out %s', (_what, json) => {
  expect(parseTheme(json)).toEqual({});
});

it('keeps the rest of a theme with a fault', () => {
  expect(parseTheme('{"radius":99,"primary_color":"#123456"}')).toEqual({ primary_color: '#123456' });
});

it('loads a logo only from the origin that embeds the widget', () => {
  const theme = { logo_url: 'https://app.example.com/logo.svg' };
  expect(logoOf(theme, 'https://app.example.com')).toBe('https://app.example.com/logo.svg');
  expect(logoOf(theme, 'https://other.example')).toBeUndefined();
  expect(logoOf(theme, undefined)).toBeUndefined();
  expect(logoOf({}, 'https://app.example.com')).toBeUndefined();
});

it('changes nothing for an empty theme', () => {
  expect(lookOf({}, read)).toEqual({ scheme: undefined, variables: {} });
});

it('writes legibly on the primary color, and with it on both backgrounds', () => {
  const yellow = lookOf({ primary_color: '#ffd400' }, read).variables;
  expect(yellow['--inlay-on-primary']).toBe('rgb(0 0 0)');
  const [onLight, onDark] = colorsIn(yellow['--inlay-link']);
  expect(contrast(onLight as Rgb, [1, 1, 1])).toBeGreaterThanOrEqual(legible);
  expect(onDark).toEqual(read('#ffd400'));
  expect(lookOf({ primary_color: '#1e1b4b' }, read).variables['--inlay-on-primary']).toBe('rgb(255 255 255)');
});

it('follows the background with its scheme, whatever was wished', () => {
  expect(lookOf({ background_color: '#000020', color_scheme: 'light' }, read).scheme).toBe('dark');
  expect(lookOf({ background_color: '#fffff0', color_scheme: 'auto' }, read).scheme).toBe('light');
  expect(lookOf({ text_color: '#ffffff' }, read).scheme).toBe('dark');
  expect(lookOf({ color_scheme: 'dark' }, read).scheme).toBe('dark');
  expect(lookOf({ color_scheme: 'auto' }, read).scheme).toBeUndefined();
});

it('does not use a text color that nobody could read', () => {
  const { variables } = lookOf({ background_color: '#ffffff', text_color: '#eeeeee' }, read);
  for (const text of colorsIn(variables['--inlay-text'])) {
    expect(contrast(text, [1, 1, 1])).toBeGreaterThanOrEqual(legible);
  }
});

it('passes over a color that the browser does not know', () => {
  expect(lookOf({ primary_color: 'nocolour' }, read).variables).toEqual({});
});

it('knows the colors of the style sheet', () => {
  const css = readFileSync(new URL('../../../ui/src/style/tokens.css', import.meta.url), 'utf8');
  expect(css).toContain('--inlay-background: light-dark(#ffffff, #14161c)');
  expect(css).toContain('--inlay-text: light-dark(#171a21, #eceef3)');
});
