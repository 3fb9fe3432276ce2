import { expect, test } from 'vitest';
import type { JobRow } from '../../kernel/db/tables.ts';
import { presentJob } from './job-words.ts';

test('fields that earlier rows lack come with the request that fills them, for those who can make it', () => {
  const notices = [{ code: 'fields_missing', message: 'words of the platform', fields: ['discount', 'note'] }];
  const stream = { name: 'orders', namespace: 'shop', recordsEmitted: 1, valuesChanged: [], notices };
  const job = { connection_id: 'c1', started_at: 0, ended_at: 1, streams: JSON.stringify([stream]), more_streams: 0 };
  const said = (audience: 'operator' | 'customer') =>
    presentJob(job as unknown as JobRow, audience).streams?.[0]?.notices;
  const words = 'shop.orders: rows from earlier syncs have no value in discount, note, which was not synced then.';
  const request = 'POST /api/v1/integrations/connections/c1/sync?from_start=shop.orders';
  const message = `${words} To read the stream from the start: ${request}`;
  const parameters = { stream: 'shop.orders', fields: ['discount', 'note'] };
  expect(said('operator')).toEqual([{ ...notices[0], parameters, message }]);
  expect(said('customer')).toEqual([{ ...notices[0], parameters, message: words }]);
});
