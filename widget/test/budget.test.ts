/** How many bytes a browser loads, as the service sends them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const built = fileURLToPath(new URL('../../server/dist/', import.meta.url));
const sizeOf = (file: string) => statSync(`${built}${file}`).size;

/** Only customers who can sign in with a provider load these. */
const isOfSignIn = (name: string) => name.startsWith('sign-in-');
/** Only the console loads this. */
const isOfPreview = (name: string) => name.startsWith('preview-');

it('The widget is at most 50 kB of script with its forms and without signing in, even where only gzip is read', () => {
  const sizes = readdirSync(`${built}widget/assets`)
    .filter((name) => name.endsWith('.js.gz') && !isOfSignIn(name) && !isOfPreview(name))
    .map((name) => ({ isLanguage: /^[a-z]{2}-/.test(name), bytes: sizeOf(`widget/assets/${name}`) }));
  const languages = sizes.filter(({ isLanguage }) => isLanguage).map(({ bytes }) => bytes);
  expect(languages).toHaveLength(5);
  // A customer loads only one of the languages.
  const bytes = sizes.reduce((sum, one) => sum + (one.isLanguage ? 0 : one.bytes), Math.max(...languages));
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThanOrEqual(50_000);
});

it('Signing in with a provider is at most 7 kB more, with its words in one language', () => {
  const names = readdirSync(`${built}widget/assets`).filter((name) => name.endsWith('.js.gz') && isOfSignIn(name));
  const isWords = (name: string) => /^sign-in-(en|de|fr|es|ja)-.{8}\.js\.gz$/.test(name);
  const words = names.filter(isWords).map((name) => sizeOf(`widget/assets/${name}`));
  const scripts = names.filter((name) => !isWords(name)).map((name) => sizeOf(`widget/assets/${name}`));
  expect([words.length, scripts.length]).toEqual([5, 1]);
  expect((scripts[0] ?? 0) + Math.max(...words)).toBeLessThanOrEqual(7_000);
});

it('The preview of templates that are not saved is a script of its own, of at most 2 kB', () => {
  const names = readdirSync(`${built}widget/assets`).filter((name) => name.endsWith('.js.gz') && isOfPreview(name));
  expect(names).toHaveLength(1);
  expect(sizeOf(`widget/assets/${names[0]}`)).toBeLessThanOrEqual(2_000);
});

it('The script of the forms is at most 18 kB', () => {
  const [form, ...others] = readdirSync(`${built}widget/assets`).filter((name) =>
    /^connector-form-.*\.js\.gz$/.test(name),
  );
  expect(others).toEqual([]);
  expect(sizeOf(`widget/assets/${form}`)).toBeLessThanOrEqual(18_000);
});

it('The embed library is at most 4.5 kB, or 5 kB where only gzip is read', () => {
  expect(sizeOf('embed/embed.js.br')).toBeLessThanOrEqual(4_500);
  expect(sizeOf('embed/embed.js.gz')).toBeLessThanOrEqual(5_120);
});

it('Nothing that is served makes code of text, or names files of the machine it was built on', () => {
  for (const name of readdirSync(`${built}widget/assets`).filter((name) => name.endsWith('.js'))) {
    const script = readFileSync(`${built}widget/assets/${name}`, 'utf8');
    expect(script, name).not.toMatch(/\beval\(|new Function\(/);
    expect(script, name).not.toMatch(/\.tsx?["'`]/);
  }
});
