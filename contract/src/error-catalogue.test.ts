import { expect, it } from 'vitest';
import { errorCatalogue } from './error-catalogue.ts';

const entries = Object.entries(errorCatalogue).map(([code, entry]) => ({
  code,
  entry,
  words: entry.example ?? (typeof entry.detail === 'string' ? entry.detail : ''),
}));

it('every error that asks the caller to retry says when', () => {
  const telling = entries.filter(({ words }) => /retry (?!not found)|try again/i.test(words));
  expect(telling.map(({ code }) => code)).toContain('sync_stopped');
  const silent = telling.filter(({ entry }) => entry.retryAfterSeconds === undefined);
  expect(silent.map(({ code }) => code)).toEqual([]);
});

it('every error that is always 503 says when to retry', () => {
  const unavailable = entries.filter(({ entry }) => entry.statuses.every((status) => status === 503));
  expect(unavailable.length).toBeGreaterThan(3);
  const silent = unavailable.filter(({ entry }) => entry.retryAfterSeconds === undefined);
  expect(silent.map(({ code }) => code)).toEqual([]);
});
