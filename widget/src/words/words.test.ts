import { widgetLocales } from '@inlay/contract/embedding';
import { lookAt } from '@inlay/contract/pipelines/failure-words';
import { sayQuota } from '@inlay/contract/tenancy/quota-words';
import { createFormatting } from '@inlay/ui/words/formatting.ts';
import { expect, it } from 'vitest';
import de from '../sign-in/sign-in-de.ts';
import en from '../sign-in/sign-in-en.ts';
import es from '../sign-in/sign-in-es.ts';
import fr from '../sign-in/sign-in-fr.ts';
import ja from '../sign-in/sign-in-ja.ts';
import { reasonInWords } from './reasons.ts';
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

it('what the service says of quotas and of fields is said in every language, with nothing of the English text left', async () => {
  const time = Date.UTC(2026, 1, 1);
  const texts = [
    sayQuota({ kind: 'held', quota: 'rows_per_day', limit: 1_000, until: time }),
    sayQuota({ kind: 'held', quota: 'bytes_per_month', limit: 5_000_000, until: time }),
    sayQuota({ kind: 'no_room', quota: 'sources', limit: 1 }),
    sayQuota({ kind: 'no_room', quota: 'connections', limit: 2 }),
    sayQuota({ kind: 'too_many', quota: 'concurrent_syncs', limit: 2 }),
    sayQuota({ kind: 'waits', quota: 'concurrent_syncs', limit: 1 }),
    sayQuota({ kind: 'too_soon', from: time }),
    lookAt(['Host']),
  ];
  for (const language of ['de', 'es', 'fr', 'ja'] as const) {
    const words = await loadWords(language);
    for (const text of texts) {
      const said = reasonInWords(text, words, createFormatting(language, 'UTC'));
      expect(said).not.toMatch(/\b(The|limit of|is reached|sync|Try|Remove|Check|Syncs go on)\b/);
      expect(said).toMatch(/\d|Host/);
    }
  }
  const german = reasonInWords(texts[0] as string, await loadWords('de'), createFormatting('de', 'UTC'));
  expect(german).toBe(
    'Das Limit von 1.000 Zeilen pro Tag ist erreicht. Die Synchronisierung geht am 01.02.2026, 00:00 von selbst weiter.',
  );
});
