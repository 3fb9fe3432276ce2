import { widgetLocales } from '@inlay/contract/embedding';
import { expect, it } from 'vitest';
import { chooseLocale, loadWords } from './words.ts';

/** Every text by its path; functions with what they say for one and for many. */
function textsOf(words: object, path = ''): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const [key, value] of Object.entries(words)) {
    const at = `${path}${key}`;
    if (typeof value === 'string') texts.set(at, [value]);
    else if (typeof value === 'function') texts.set(at, [value(1, '1'), value(5, '5')].map(String));
    else for (const [inner, said] of textsOf(value, `${at}.`)) texts.set(inner, said);
  }
  return texts;
}

it.each([
  [['de-AT', 'en'], 'de', 'de-AT'],
  [['pt', 'FR-ca'], 'fr', 'FR-ca'],
  [['ja'], 'ja', 'ja'],
  [['de-!!'], 'de', 'de'],
  [['xx', ''], 'en', 'en'],
  [[], 'en', 'en'],
])('speaks, asked for %j, %s', (asked, language, tag) => {
  expect(chooseLocale(asked)).toEqual({ language, tag });
});

it.each(widgetLocales)('has every text in %s, and none that is empty', async (locale) => {
  const texts = textsOf(await loadWords(locale));
  expect([...texts.keys()].sort()).toEqual([...textsOf(await loadWords('en')).keys()].sort());
  expect([...texts].filter(([, said]) => said.some((text) => text.trim() === ''))).toEqual([]);
});

it('translates nearly everything', async () => {
  const english = textsOf(await loadWords('en'));
  for (const locale of widgetLocales.filter((locale) => locale !== 'en')) {
    const texts = textsOf(await loadWords(locale));
    const same = [...texts].filter(([path, said]) => said.join() === english.get(path)?.join()).map(([path]) => path);
    expect(same.length, `${locale}: ${same}`).toBeLessThan(texts.size / 20);
  }
});
