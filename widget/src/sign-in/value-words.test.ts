import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import de from './sign-in-de.ts';
import en from './sign-in-en.ts';
import es from './sign-in-es.ts';
import fr from './sign-in-fr.ts';
import ja from './sign-in-ja.ts';
import { faultOf, titleOf } from './value-words.ts';

const folder = fileURLToPath(new URL('../../../server/src/credentials/presets/', import.meta.url));
const titles = readdirSync(folder).flatMap((file) => {
  const { values = {} } = JSON.parse(readFileSync(`${folder}${file}`, 'utf8'));
  return Object.values(values as Record<string, { title: string }>).map(({ title }) => title);
});
const translated = { de, es, fr, ja };

it('What our presets ask customers for has a title in every language', () => {
  expect(titles.length).toBeGreaterThan(2);
  for (const title of titles) {
    const asked = { title, hosts: null };
    expect(titleOf(en, asked)).toBe(title);
    for (const words of Object.values(translated)) expect(titleOf(words, asked), title).not.toBe(title);
  }
  expect(Object.keys(en.values).sort()).toEqual([...new Set(titles)].sort());
});

it('A title of an operator stays as it is, whatever it is', () => {
  for (const title of ['Mandant', 'constructor']) expect(titleOf(fr, { title, hosts: null })).toBe(title);
});

it('What is wrong with a value is said in the language of the customer', () => {
  expect(faultOf(de, { title: 'x', hosts: null })).toContain('Bindestrichen');
  expect(faultOf(ja, { title: 'x', hosts: ['a.example', 'b.example'] })).toContain('a.example, b.example');
  const all = [en, ...Object.values(translated)].map((words) => faultOf(words, { title: 'x', hosts: null }));
  expect(new Set(all).size).toBe(5);
});
