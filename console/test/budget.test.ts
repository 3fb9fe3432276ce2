/** How many bytes a browser loads, as the service sends them, and from where. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const assets = fileURLToPath(new URL('../../server/dist/console/assets/', import.meta.url));
const sizeOf = (name: string) => statSync(`${assets}${name}.br`).size;
const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
const importsOf = (name: string) =>
  [...readFileSync(`${assets}${name}`, 'utf8').matchAll(/from"\.\/([^"]+)"/g)].map(([, found]) => found ?? '');

it('The first load is at most 60 kB: the script, the style and the overview', () => {
  const first = names.filter((name) => /^(main|overview)-.*\.js$|\.css$/.test(name));
  expect(first.length).toBe(3);
  const whole = new Set([...first, ...first.filter((name) => name.endsWith('.js')).flatMap(importsOf)]);
  const bytes = [...whole].reduce((sum, name) => sum + sizeOf(name), 0);
  expect(bytes).toBeGreaterThan(15_000);
  expect(bytes).toBeLessThanOrEqual(60_000);
});

it('Every later part is at most 70 kB', () => {
  for (const name of names) expect(sizeOf(name), name).toBeLessThanOrEqual(70_000);
});

it('Nothing names another host, makes code or markup of text, or names files of the machine it was built on', () => {
  for (const name of names) {
    const content = readFileSync(`${assets}${name}`, 'utf8');
    // Names of XML namespaces, examples for a person to change, and a text of the validator of forms: nobody loads them.
    const addresses = (content.match(/\b(?:https?|wss?):\/\/[^\s"'`)]+/g) ?? []).filter(
      (address) =>
        !address.startsWith('http://www.w3.org/') &&
        !/^https:\/\/((app\.)?example\.com\.?|github\.com\/cfworker)$/.test(address),
    );
    // What the library that checks forms calls schemas without an address: it loads nothing.
    const others = addresses.filter((address) => address !== 'https://github.com/cfworker');
    // The list of error texts may explain with addresses; they are only shown.
    if (!name.startsWith('error-help-')) expect(others, name).toEqual([]);
    expect(content, name).not.toMatch(/\beval\(|new Function\(/);
    expect(content, name).not.toMatch(/\.tsx?["'`]/);
  }
});
