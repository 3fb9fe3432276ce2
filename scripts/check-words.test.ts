import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkWords, rules } from './check-words.mjs';

const program = fileURLToPath(new URL('check-words.mjs', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures/words', import.meta.url));

it('finds every phrase of the fixture, with its line', () => {
  expect(checkWords(`${fixtures}/faulty`).map(({ file, line, phrase }) => `${file}:${line} ${phrase}`)).toEqual([
    'console/src/words/words.ts:2 This does',
    'console/src/words/words.ts:2 does not let you',
    'console/src/words/words.ts:3 Since … minutes ago',
    'console/src/words/words.ts:4 Left empty: ours',
    'console/src/words/words.ts:5 … in order',
    'console/src/words/words.ts:5 … to look at',
    'console/src/words/words.ts:6 to be known',
    'console/src/words/words.ts:7 What came of',
    'console/src/words/words.ts:8 of it',
    'console/src/words/words.ts:9 has to do with',
    'console/src/words/words.ts:10 Passed over',
    "console/src/words/words.ts:11 in the customer's place",
    'console/src/words/words.ts:12 how every customer does',
    'console/src/words/words.ts:13 is asked for',
    'console/src/words/words.ts:14 tells when',
    'docs/page.md:3 goes on',
    'docs/page.md:4 Whoever',
    'docs/page.md:4 by itself',
    'docs/page.md:4 shall',
    'docs/page.md:6 Of each',
    'docs/page.md:6 is told',
    'docs/page.md:8 Nothing else but',
    'docs/page.md:8 Of the',
    'docs/page.md:10 anew',
    'docs/page.md:10 left as it was',
    'docs/page.md:10 mended',
  ]);
});

it('has an example of every rule in the fixture', () => {
  const found = checkWords(`${fixtures}/faulty`).map(({ instead }) => instead);
  expect(new Set(found)).toEqual(new Set(rules.map(({ instead }) => instead)));
});

it('leaves alone code, generated parts, comments, files without words, and lines that are allowed with a reason', () => {
  expect(checkWords(`${fixtures}/clean`)).toEqual([]);
});

it('prints each phrase with what to write instead, and exits with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, [program, `${fixtures}/faulty`], { encoding: 'utf8' });
  expect(stderr).toContain('docs/page.md:4 "by itself"\n    automatically\n');
  expect(status).toBe(1);
  const clean = spawnSync(process.execPath, [program, `${fixtures}/clean`], { encoding: 'utf8' });
  expect({ status: clean.status, output: clean.stdout + clean.stderr }).toEqual({ status: 0, output: '' });
});
