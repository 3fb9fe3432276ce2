import { createFormatting } from '@inlay/ui/words/formatting.ts';
import { expect, it } from 'vitest';
import connectorsDe from '../screens/connectors/words/de.ts';
import connectorsEn from '../screens/connectors/words/en.ts';
import connectorsEs from '../screens/connectors/words/es.ts';
import connectorsFr from '../screens/connectors/words/fr.ts';
import connectorsJa from '../screens/connectors/words/ja.ts';
import { counted } from './counted.ts';
import de from './de.ts';
import en from './en.ts';
import es from './es.ts';
import fr from './fr.ts';
import ja from './ja.ts';

const counts = [0, 1, 1_000];

it.each([
  ['en', en, ['0 rows', '1 row', '1,000 rows']],
  ['de', de, ['0 Zeilen', '1 Zeile', '1.000 Zeilen']],
  ['es', es, ['0 filas', '1 fila', '1000 filas']],
  ['fr', fr, ['0 ligne', '1 ligne', '1\u202f000 lignes']],
  ['ja', ja, ['0 行', '1 行', '1,000 行']],
])('none, one and many read well in %s', (tag, words, texts) => {
  const formatting = createFormatting(tag);
  expect(counts.map((count) => words.overview.rows(counted(formatting, count)))).toEqual(texts);
});

it.each([
  ['en', connectorsEn, '1 source goes on with the new version, 0 stay on theirs.'],
  ['de', connectorsDe, '1 Quelle läuft mit der neuen Version weiter, 0 bleiben auf ihrer.'],
  ['es', connectorsEs, '1 fuente sigue con la versión nueva y 0 se quedan con la suya.'],
  ['fr', connectorsFr, '1 source continue avec la nouvelle version, 0 garde la sienne.'],
  ['ja', connectorsJa, '1 件のソースが新しいバージョンに移り、0 件は今のままです。'],
])('two numbers in one sentence have each their own form in %s', (tag, words, text) => {
  const formatting = createFormatting(tag);
  expect(words.moved(counted(formatting, 1), counted(formatting, 0))).toBe(text);
});

/** Texts of the console that count one thing, with the number taken out. */
const countingOne = (words: typeof en, count: number) => {
  const number = { count, toString: () => '#' };
  const { overview, job, customer } = words;
  return [
    overview.affected(number),
    overview.moreCauses(number),
    overview.connections(number),
    job.moreStreams(number),
    job.matches(number),
    job.rowsSaid(number, '', ''),
    customer.deleteText(number, number),
  ];
};

it.each([
  ['English', en],
  ['German', de],
  ['Spanish', es],
  ['French', fr],
])('%s says one thing otherwise than two', (_name, words) => {
  const one = countingOne(words as typeof en, 1);
  for (const [index, text] of countingOne(words as typeof en, 2).entries()) expect(one[index]).not.toBe(text);
});
