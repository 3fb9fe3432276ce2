import type { Connection, Job } from '@inlay/contract/pipelines/connections';
import type { Health } from '@inlay/contract/pipelines/health';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { describe, expect, it } from 'vitest';
import {
  countChanged,
  finishedSyncs,
  historyOf,
  isInMotion,
  mergeJobs,
  stateOf,
  streamsToMention,
  summarize,
} from './progress.ts';

const job = (changes: Partial<Job> = {}): Job => ({
  id: '1',
  status: 'succeeded',
  started_at: '2026-01-31T09:00:00.000Z',
  ended_at: '2026-01-31T09:01:00.000Z',
  duration_seconds: 60,
  rows: 10,
  bytes: 100,
  error: null,
  error_reason: null,
  ...changes,
});
const running = job({ status: 'running', ended_at: null });
const healthy: Health = {
  state: 'healthy',
  since: null,
  failures_in_a_row: 0,
  trying_again: false,
  first_error: null,
  last_good_at: null,
  attention: null,
  paused_because: null,
  paused_reason: null,
};
const failing: Health = { ...healthy, state: 'failing', failures_in_a_row: 2, trying_again: true };
const attention: Health = {
  ...failing,
  state: 'needs_attention',
  attention: { by: 'customer', what: 'Check it.', code: 'connector_error', parameters: {} },
};
const connection = (changes: Partial<Connection> = {}): Connection => ({
  id: 'c',
  name: 'Shop → Files',
  source_id: 's',
  destination_name: 'Files',
  status: 'active',
  status_message: null,
  status_reason: null,
  cron_expression: null,
  slowed_cron_expression: null,
  own_choice: [],
  applied: true,
  customer_may_change: { streams: false, schedule: null },
  health: healthy,
  last_run: null,
  next_run_at: null,
  created_at: '2026-01-31T08:00:00.000Z',
  ...changes,
});
const source = (status: SourceSummary['status'], health = healthy) => ({ id: 's', status, health }) as SourceSummary;

describe('the state of a source', () => {
  it.each([
    ['failed', source('failed'), []],
    ['failed', source('ready'), [connection({ status: 'failed', last_run: running })]],
    ['failed', source('ready', attention), [connection({ last_run: job() })]],
    ['pending', source('pending'), [connection()]],
    [
      'pending',
      source('ready'),
      [connection({ status: 'pending' }), connection({ last_run: job({ status: 'failed' }) })],
    ],
    ['syncing', source('ready'), [connection({ last_run: job() }), connection({ last_run: running })]],
    ['syncing', source('ready'), [connection({ last_run: job({ status: 'incomplete' }) })]],
    ['sync_failed', source('ready'), [connection({ last_run: running, health: failing })]],
    ['failed', source('ready'), [connection({ last_run: job({ status: 'failed' }), health: attention })]],
    ['paused', source('ready'), [connection({ status: 'inactive', last_run: job({ status: 'failed' }) })]],
    ['sync_failed', source('ready'), [connection({ last_run: job({ status: 'failed' }) })]],
    ['ready', source('ready'), [connection({ last_run: job({ status: 'cancelled' }) })]],
    ['ready', source('ready'), []],
  ] as const)('is %s', (state, its, connections) => {
    expect(stateOf(its, connections)).toBe(state);
  });
});

it('sums up the newest run of every connection', () => {
  const later = job({ id: '2', started_at: '2026-01-31T10:00:00.000Z', rows: 5 });
  const connections = [
    connection({ last_run: later, next_run_at: '2026-02-02T00:00:00.000Z' }),
    connection({ last_run: job(), next_run_at: '2026-02-01T00:00:00.000Z' }),
    connection(),
  ];
  expect(summarize(connections)).toEqual({ lastRun: later, rows: 15, nextRunAt: '2026-02-01T00:00:00.000Z' });
});

it('mentions the streams in which something did not arrive as it was, and calls no such run quiet', () => {
  const stream = { name: 'a', records_emitted: 1, values_changed: [] };
  const change = { field: 'price', kind: 'nulled', count: 3, example: 'record 1' } as const;
  const changed = { ...stream, name: 'b', values_changed: [change], more_values_changed: { fields: 2, values: 4 } };
  const kept = { ...stream, name: 'c', not_replaced: true };
  const told = job({ rows: 0, streams: [stream, changed, kept] });
  expect(streamsToMention(told)).toEqual([changed, kept]);
  expect(countChanged(changed)).toBe(7);
  expect(streamsToMention(job({}))).toEqual([]);
  const quiet = (id: string) => job({ id, rows: 0 });
  const entries = historyOf([quiet('4'), quiet('3'), { ...told, id: '2' }, quiet('1')], false);
  expect(entries.map(({ jobs }) => jobs.length)).toEqual([1, 1, 1, 1]);
});

it('knows no rows where no run has counted any', () => {
  expect(summarize([connection({ last_run: job({ rows: null }) })]).rows).toBeUndefined();
});

it('is in motion while something is set up or synced', () => {
  expect(isInMotion({ sources: [source('ready')], connections: [connection({ last_run: job() })] })).toBe(false);
  expect(isInMotion({ sources: [source('pending')], connections: undefined })).toBe(true);
  expect(isInMotion({ sources: [], connections: [connection({ status: 'pending' })] })).toBe(true);
  expect(isInMotion({ sources: [], connections: [connection({ last_run: running })] })).toBe(true);
});

describe('syncs that have finished', () => {
  const at = (...connections: Connection[]) => ({ sources: [], connections });
  const event = { connection_id: 'c', source_id: 's', status: 'succeeded', rows: 10 };

  it('are those that were running before', () => {
    expect(finishedSyncs(at(connection({ last_run: running })), at(connection({ last_run: job() })))).toEqual([event]);
  });

  it('are those that began and ended between two looks', () => {
    expect(finishedSyncs(at(connection({ last_run: job({ id: '0' }) })), at(connection({ last_run: job() })))).toEqual([
      event,
    ]);
    expect(finishedSyncs(at(), at(connection({ last_run: job() })))).toEqual([event]);
  });

  it('are no news the second time, nor the first time anybody looks', () => {
    expect(finishedSyncs(at(connection({ last_run: job() })), at(connection({ last_run: job() })))).toEqual([]);
    expect(finishedSyncs(undefined, at(connection({ last_run: job() })))).toEqual([]);
  });

  it('are not known while the platform does not answer', () => {
    const unknown = { sources: [], connections: undefined };
    expect(finishedSyncs(unknown, at(connection({ last_run: job() })))).toEqual([]);
    expect(finishedSyncs(at(connection()), unknown)).toEqual([]);
  });
});

it('keeps each job of a history once, newest first, as it was seen last', () => {
  const older = job({ id: '3', started_at: '2026-01-30T09:00:00.000Z' });
  const first = job({ id: '9' });
  const second = job({ id: '10' });
  expect(mergeJobs([running, older], [first, second, job()])).toEqual([second, first, job(), older]);
});

describe('the history', () => {
  const jobs = (...rows: (number | null)[]) =>
    rows.map((count, index) => job({ id: String(rows.length - index), rows: count }));
  const read = (of: Job[], isWhole = false) =>
    historyOf(of, isWhole).map(
      ({ jobs, isNothingNew }) => `${jobs.map(({ id }) => id)}${isNothingNew ? ' quiet' : ''}`,
    );

  it('has one entry for runs in a row that brought nothing', () => {
    expect(read(jobs(5, 0, 0, 0, 7, 0))).toEqual(['6', '5,4,3 quiet', '2', '1 quiet']);
  });

  it('shows the newest run automatically', () => {
    expect(read(jobs(0, 0, 0))).toEqual(['3 quiet', '2,1 quiet']);
  });

  it('does not say of the first run of all that it brought nothing new', () => {
    expect(read(jobs(4, 0, 0, 0), true)).toEqual(['4', '3,2 quiet', '1']);
    expect(read(jobs(0), true)).toEqual(['1']);
    expect(read([], true)).toEqual([]);
  });

  it('keeps failed, cancelled and uncounted runs apart', () => {
    const mixed = [
      job({ id: '5' }),
      job({ id: '4', status: 'failed', rows: 0 }),
      job({ id: '3', status: 'cancelled', rows: 0 }),
      job({ id: '2', rows: null }),
      job({ id: '1', rows: 0 }),
    ];
    expect(read(mixed)).toEqual(['5', '4', '3', '2', '1 quiet']);
  });
});
