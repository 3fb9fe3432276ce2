import { expect, it } from 'vitest';
import de from './de.ts';
import en from './en.ts';
import es from './es.ts';
import fr from './fr.ts';
import ja from './ja.ts';

/** The texts by their path; functions are called with their parameters' names. */
function textsOf(words: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(words)) {
    const place = `${path}.${key}`;
    if (typeof value === 'string') texts.set(place, value);
    else if (typeof value === 'function') texts.set(place, value('‹1›', '‹2›'));
    else for (const [inner, text] of textsOf(value, place)) texts.set(inner, text);
  }
  return texts;
}

it.each([
  ['German', de],
  ['Spanish', es],
  ['French', fr],
  ['Japanese', ja],
])('%s has every text, and uses every value that the English text uses', (_name, words) => {
  const texts = textsOf(words);
  for (const [place, english] of textsOf(en)) {
    const text = texts.get(place);
    expect(text, place).toBeTruthy();
    for (const value of ['‹1›', '‹2›']) {
      expect(text?.includes(value), `${place} ${value}`).toBe(english.includes(value));
    }
  }
});
