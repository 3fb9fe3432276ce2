import { describe, expect, it } from 'vitest';
import { Lane } from './lane.ts';
import { type EndpointFilter, matches } from './matching.ts';
import { maxAttempts, pauseAfter, readRetryAfter } from './retry-schedule.ts';

const events = (...positions: number[]) => positions.map((position) => ({ position }));
const take = (lane: Lane<{ position: number }>) => lane.take()?.position;

describe('A lane', () => {
  it('never says that a position is reached while an event before it is not settled', () => {
    const lane = new Lane(10, false);
    // 12 and 14 are not wanted.
    lane.addFresh(events(11, 13, 15), 16);
    expect([take(lane), take(lane), take(lane), take(lane)]).toEqual([11, 13, 15, undefined]);
    expect([lane.readUntil, lane.inFlight]).toEqual([10, 3]);
    lane.settle({ position: 13, isRetry: false });
    lane.settle({ position: 15, isRetry: false });
    expect(lane.readUntil).toBe(10);
    lane.settle({ position: 11, isRetry: false });
    expect(lane.readUntil).toBe(16);
  });

  it('lets events and retries take turns, and offers a retry once', () => {
    const lane = new Lane(10, false);
    lane.addFresh(events(11, 12), 12);
    lane.addRetry({ position: 3 }, 1, '[]');
    lane.addRetry({ position: 3 }, 1, '[]');
    lane.addRetry({ position: 4 }, 2, '[]');
    expect([take(lane), take(lane), take(lane), take(lane), take(lane)]).toEqual([3, 11, 4, 12, undefined]);
    lane.addRetry({ position: 3 }, 1, '[]');
    expect(take(lane)).toBeUndefined();
    lane.settle({ position: 3, isRetry: true });
    lane.addRetry({ position: 3 }, 2, '[]');
    expect(lane.take()).toMatchObject({ position: 3, attempts: 2, isRetry: true });
  });

  it('in strict order offers one at a time, and nothing behind an event that waits for its next try', () => {
    const lane = new Lane(0, true);
    lane.addFresh(events(1, 2), 2);
    expect([take(lane), take(lane)]).toEqual([1, undefined]);
    lane.blockedMs = 5_000;
    lane.answered();
    expect(take(lane)).toBeUndefined();
    lane.blockedMs = undefined;
    lane.addRetry({ position: 1 }, 1, '[]');
    expect(take(lane)).toBe(1);
    lane.answered();
    expect(take(lane)).toBe(2);
  });
});

describe('The schedule', () => {
  it('begins with five to seven seconds and ends after three days', () => {
    expect([pauseAfter(1, 0), pauseAfter(1, 0.999)]).toEqual([5_000, 6_499]);
    const pauses = Array.from({ length: maxAttempts - 1 }, (_, index) => pauseAfter(index + 1, 0) ?? Number.NaN);
    const days = pauses.reduce((sum, pause) => sum + pause, 0) / 86_400_000;
    expect(days).toBeGreaterThan(3);
    expect(days).toBeLessThan(3.5);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauseAfter(maxAttempts, 0)).toBeUndefined();
  });

  it('waits longer where the receiver asks for it, and never shorter', () => {
    expect(pauseAfter(1, 0, 60_000)).toBe(60_000);
    expect(pauseAfter(2, 0, 1_000)).toBe(300_000);
    expect(pauseAfter(1, 0, 1e12)).toBe(86_400_000);
    const now = Date.parse('2026-01-31T09:30:00Z');
    expect(readRetryAfter('120', now)).toBe(120_000);
    expect(readRetryAfter('Sat, 31 Jan 2026 09:31:00 GMT', now)).toBe(60_000);
    expect(readRetryAfter('Sat, 31 Jan 2026 09:29:00 GMT', now)).toBe(0);
    expect([readRetryAfter('soon', now), readRetryAfter(undefined, now)]).toEqual([undefined, undefined]);
  });
});

describe('The filter of an endpoint', () => {
  const filter = (changes: Partial<EndpointFilter>): EndpointFilter => ({
    types: ['*'],
    workspaceIds: null,
    tags: null,
    ownWorkspaceId: null,
    ...changes,
  });
  const around = {
    isForCustomers: (type: string) => type.startsWith('sync.'),
    tagsOf: (id: string) => (id === 'tagged' ? ['crm'] : []),
  };
  const event = (type: string, workspaceId: string | null = null, data: object = {}) => ({ type, workspaceId, data });
  const check = (changes: Partial<EndpointFilter>, ...given: Parameters<typeof event>) =>
    matches(filter(changes), event(...given), around);

  it('takes types with stars', () => {
    expect(check({}, 'sync.failed')).toBe(true);
    expect(check({ types: ['sync.*'] }, 'sync.failed')).toBe(true);
    expect(check({ types: ['sync.*'] }, 'source.created')).toBe(false);
    expect(check({ types: ['sync.failed', 'tag.*'] }, 'tag.deleted')).toBe(true);
    expect(check({ types: ['sync.fail'] }, 'sync.failed')).toBe(false);
  });

  it('takes workspaces, and then nothing that belongs to none', () => {
    expect(check({ workspaceIds: ['a'] }, 'sync.failed', 'a')).toBe(true);
    expect(check({ workspaceIds: ['a'] }, 'sync.failed', 'b')).toBe(false);
    expect(check({ workspaceIds: ['a'] }, 'tag.deleted')).toBe(false);
  });

  it('takes tags of templates', () => {
    expect(check({ tags: ['crm'] }, 'source.created', 'a', { source: { source_template_id: 'tagged' } })).toBe(true);
    expect(check({ tags: ['crm'] }, 'template.published', null, { template: { id: 'tagged' } })).toBe(true);
    expect(check({ tags: ['erp'] }, 'template.published', null, { template: { id: 'tagged' } })).toBe(false);
    expect(check({ tags: ['crm'] }, 'workspace.created', 'a')).toBe(false);
  });

  it('gives a customer its own workspace and what is meant for customers', () => {
    expect(check({ ownWorkspaceId: 'a' }, 'sync.failed', 'a')).toBe(true);
    expect(check({ ownWorkspaceId: 'a' }, 'sync.failed', 'b')).toBe(false);
    expect(check({ ownWorkspaceId: 'a' }, 'workspace.created', 'a')).toBe(false);
    expect(check({ ownWorkspaceId: 'a' }, 'sync.failed')).toBe(false);
  });
});
