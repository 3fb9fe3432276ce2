import { expect, test } from 'vitest';
import { audiences } from './pipelines/health.ts';
import { momentOf, sayReason } from './reason-words.ts';
import { type Reason, type ReasonParameters, reasonCatalogue, reasonCodes } from './reasons.ts';

const parameters: Partial<ReasonParameters> = {
  check_fields: { fields: ['Host', 'Port'] },
  connector_timeout: { connector: 'source', seconds: 50 },
  sign_in_ended: { why: 'expired' },
  quota_paused: { quota: 'rows_per_day', limit: 1, until: '2026-02-01T10:30:00.000Z', used: 1 },
  quota_waiting: { quota: 'concurrent_syncs', limit: 2, used: 2 },
  rejected_by_platform: { what: 'first_sync' },
  template_streams_gone: { streams: ['a', 'b'] },
  fields_missing: { stream: 'orders', fields: ['discount'] },
};

test('every code has English words for each of its readers, and its documented parameters are those of its words', () => {
  for (const code of reasonCodes) {
    const { readers, parameters: documented = {} } = reasonCatalogue[code];
    const given = parameters[code] ?? ('stream' in documented ? { stream: 'orders' } : {});
    expect(Object.keys(given).sort(), code).toEqual(Object.keys(documented).sort());
    for (const audience of audiences.filter((one) => readers === 'both' || readers === `${one}s`)) {
      expect(sayReason({ code, parameters: given } as Reason, audience), code).toMatch(/^\w.*\.$/);
    }
  }
});

test('customers read the limit of a quota, never its use', () => {
  const reason = {
    code: 'quota_paused',
    parameters: { quota: 'rows_per_day', limit: 1, until: '', used: 7_351 },
  } as const;
  const until = '2026-02-01T10:29:59.999Z';
  const said = sayReason({ ...reason, parameters: { ...reason.parameters, until } }, 'customer');
  expect(said).toBe("You've reached the limit of 1 row per day. Syncs resume on 2026-02-01 at 10:30 UTC.");
  expect(momentOf(Date.parse(until))).toBe('2026-02-01 at 10:30 UTC');
});
