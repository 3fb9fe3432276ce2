import { widgetLocales } from '@inlay/contract/embedding';
import { quotedCodes } from '@inlay/contract/reason-words';
import { type ReasonCode, type ReasonParameters, reasonCatalogue, reasonCodes } from '@inlay/contract/reasons';
import { createFormatting } from '@inlay/ui/words/formatting.ts';
import { expect, it } from 'vitest';
import de from '../sign-in/sign-in-de.ts';
import en from '../sign-in/sign-in-en.ts';
import es from '../sign-in/sign-in-es.ts';
import fr from '../sign-in/sign-in-fr.ts';
import ja from '../sign-in/sign-in-ja.ts';
import { quotaInWords, reasonInWords } from './reasons.ts';
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

it('says everything about signing in in every language, each with its names', () => {
  const english = textsOf(en);
  for (const words of [de, es, fr, ja]) {
    const texts = textsOf(words);
    expect([...texts.keys()]).toEqual([...english.keys()]);
    expect([...texts].filter(([path, said]) => said.join() === english.get(path)?.join())).toEqual([]);
    expect(words.unconfirmedText('new@x', 'old@x')).toMatch(/new@x.*old@x.*new@x/);
    for (const say of [words.signIn, words.lead, words.waiting, words.connectedAs, words.connected, words.endedText]) {
      expect(say('Acme')).toContain('Acme');
    }
  }
});

it('translates nearly everything', async () => {
  const english = textsOf(await loadWords('en'));
  for (const locale of widgetLocales.filter((locale) => locale !== 'en')) {
    const texts = textsOf(await loadWords(locale));
    const same = [...texts].filter(([path, said]) => said.join() === english.get(path)?.join()).map(([path]) => path);
    expect(same.length, `${locale}: ${same}`).toBeLessThan(texts.size / 20);
  }
});

const until = '2026-02-01T00:00:00.000Z';
const parameters: { [Code in ReasonCode]?: ReasonParameters[Code] } = {
  check_fields: { fields: ['Host'] },
  quota_paused: { quota: 'rows_per_day', limit: 1_000, until },
  quota_waiting: { quota: 'concurrent_syncs', limit: 1 },
  rejected_by_platform: { what: 'source' },
};

it('every code that customers get has words in every language', async () => {
  const codes = reasonCodes.filter((code) => {
    const { readers, isNotice } = reasonCatalogue[code];
    return readers !== 'operators' && !isNotice && !quotedCodes.includes(code);
  });
  const said = new Map<string, string[]>();
  for (const language of widgetLocales) {
    const words = await loadWords(language);
    const say = (code: ReasonCode) =>
      reasonInWords({ code, parameters: parameters[code] ?? {} }, '', words, createFormatting(language, 'UTC'));
    said.set(language, codes.map(say));
  }
  for (const [language, texts] of said) {
    expect(
      texts.filter((text) => text === ''),
      language,
    ).toEqual([]);
    const same = texts.filter((text, index) => text === said.get('en')?.[index]);
    expect(same, language).toEqual(language === 'en' ? texts : []);
  }
});

it('the parameters of a reason are in its words, and a code without words leaves the text as it is', async () => {
  const [words, formatting] = [await loadWords('de'), createFormatting('de', 'UTC')];
  const paused = reasonInWords(
    { code: 'quota_paused', parameters: parameters.quota_paused ?? {} },
    '',
    words,
    formatting,
  );
  expect(paused).toContain('1.000 Zeilen pro Tag');
  expect(paused).toContain('01.02.2026, 00:00');
  expect(reasonInWords({ code: 'check_fields', parameters: { fields: ['Host'] } }, '', words, formatting)).toContain(
    'Host',
  );
  for (const told of [null, { code: null, parameters: {} }, { code: 'connector_error', parameters: {} } as const]) {
    expect(reasonInWords(told, 'The text.', words, formatting)).toBe('The text.');
  }
});

it('a quota that refuses a request says what to do', async () => {
  const [words, formatting] = [await loadWords('fr'), createFormatting('fr', 'UTC')];
  const { no_room, too_many, nextSync } = words.quotas;
  expect(quotaInWords({ quota: 'sources', limit: 1 }, 'no_room', words, formatting)).toContain(no_room);
  expect(quotaInWords({ quota: 'concurrent_syncs', limit: 2 }, 'too_many', words, formatting)).toContain(too_many);
  const tooSoon = quotaInWords({ quota: 'shortest_interval_seconds', limit: 60, until }, 'no_room', words, formatting);
  expect(tooSoon).toBe(nextSync(formatting.dateTime(until)));
  expect(quotaInWords({ quota: 'wishes', limit: 1 }, 'no_room', words, formatting)).toBeUndefined();
});
