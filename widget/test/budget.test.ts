/** How much a browser loads, as it is served. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const built = fileURLToPath(new URL('../../server/dist/', import.meta.url));
const sizeOf = (file: string) => statSync(`${built}${file}`).size;

it('The widget is at most 110 kB of script, all of it together, even where only gzip is read', () => {
  const scripts = readdirSync(`${built}widget/assets`).filter((name) => name.endsWith('.js.gz'));
  // Every language is counted, though a customer loads one.
  const bytes = scripts.reduce((sum, name) => sum + sizeOf(`widget/assets/${name}`), 0);
  expect(scripts.length).toBeGreaterThan(5);
  expect(bytes).toBeLessThanOrEqual(110_000);
});

it('The embed library is at most 4 kB', () => {
  expect(sizeOf('embed/embed.js.gz')).toBeLessThanOrEqual(4_096);
});

it('Nothing that is served makes code of text', () => {
  for (const name of readdirSync(`${built}widget/assets`).filter((name) => name.endsWith('.js'))) {
    expect(readFileSync(`${built}widget/assets/${name}`, 'utf8'), name).not.toMatch(/\beval\(|new Function\(/);
  }
});
