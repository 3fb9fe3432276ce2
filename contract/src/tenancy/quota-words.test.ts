import { expect, test } from 'vitest';
import { lookAt, readLookAt } from '../pipelines/failure-words.ts';
import { type LimitedQuota, type QuotaMessage, readQuota, sayQuota } from './quota-words.ts';

const quotas: LimitedQuota[] = ['sources', 'connections', 'concurrent_syncs', 'rows_per_day', 'bytes_per_month'];
const time = Date.UTC(2026, 1, 1, 10, 30);
const messages: QuotaMessage[] = [
  ...quotas.flatMap((quota) =>
    [0, 1, 1_000_000].flatMap((limit): QuotaMessage[] => [
      { kind: 'no_room', quota, limit },
      { kind: 'too_many', quota, limit },
      { kind: 'waits', quota, limit },
      { kind: 'held', quota, limit, until: time },
    ]),
  ),
  { kind: 'too_soon', from: time },
];

test('what is said of a quota can be read, so that it can be said in another language', () => {
  for (const message of messages) expect(readQuota(sayQuota(message)), sayQuota(message)).toEqual(message);
  expect(sayQuota({ kind: 'held', quota: 'rows_per_day', limit: 1, until: time - 1 })).toBe(
    'The limit of 1 row per day is reached. Syncs go on by themselves on 2026-02-01 at 10:30 UTC.',
  );
});

test.each([
  '',
  'The limit of 5 wishes is reached. Try again when one has ended.',
  'The limit of 5 sources is reached. No.',
])('%j is no such text', (text) => expect(readQuota(text)).toBeUndefined());

test('what the customer has to look at can be read, too', () => {
  expect(readLookAt(lookAt(['Host', 'Port']))).toBe('Host, Port');
  expect(readLookAt('Something else.')).toBeUndefined();
});
