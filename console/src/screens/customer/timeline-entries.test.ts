/** One timeline from two paged lists: nothing is lost, repeated or inserted above. */
import type { AuditEvent } from '@inlay/contract/log/audit';
import type { OperatorJob } from '@inlay/contract/pipelines/operating';
import { expect, it } from 'vitest';
import { continued, entriesOf, lagging, type Part, type Parts, renewed } from './timeline-entries.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const job = (minute: number) => ({ id: `${minute}`, started_at: at(minute) }) as OperatorJob;
const audit = (minute: number, type = 'source.created') =>
  ({ id: `a${minute}`, position: minute, timestamp: at(minute), type }) as AuditEvent;

/** Pages of three, as the service gives them. */
const size = 3;
function pageOf<T>(all: readonly T[], from: number): Part<T, number> {
  const rows = all.slice(from, from + size);
  return { rows, next: from + size < all.length ? from + size : null };
}

function readAll(jobs: readonly OperatorJob[], trail: readonly AuditEvent[]) {
  const seen: string[][] = [];
  let parts: Parts<number> = { jobs: pageOf(jobs, 0), trail: pageOf(trail, 0) };
  for (let rounds = 0; rounds < 50; rounds += 1) {
    seen.push(entriesOf(parts).map(({ key }) => key));
    const behind = lagging(parts);
    if (!behind.jobs && !behind.trail) return { seen, parts };
    parts = continued(parts, {
      ...(behind.jobs && { jobs: pageOf(jobs, parts.jobs.next ?? 0) }),
      ...(behind.trail && { trail: pageOf(trail, parts.trail.next ?? 0) }),
    });
  }
  throw new Error('it never ends');
}

it.each([
  ['jobs and entries in turns', [20, 18, 16, 14, 12, 10, 8], [19, 17, 15, 13, 11, 9, 7, 5]],
  ['many entries between two jobs', [30, 1], [20, 19, 18, 17, 16, 15, 14, 13, 12]],
  ['many jobs and one entry', [9, 8, 7, 6, 5, 4, 3, 2], [1]],
  ['the same times', [5, 5, 5, 5, 4, 4].map((minute, index) => minute + index / 1e9), [5, 4]],
  ['nothing', [], []],
])('shows each once, in order, each time only more below: %s', (_name, jobTimes, auditTimes) => {
  const jobs = jobTimes.map((minute, index) => ({ ...job(minute), id: `${index}` }));
  const trail = auditTimes.map((minute) => audit(minute));
  const { seen } = readAll(jobs, trail);
  const whole = seen.at(-1) ?? [];
  expect(whole).toHaveLength(jobs.length + trail.length);
  expect(new Set(whole).size).toBe(whole.length);
  for (const shown of seen) expect(whole.slice(0, shown.length)).toEqual(shown);
});

it('leaves out sync events, because their jobs say more', () => {
  const parts = {
    jobs: { rows: [job(2)], next: null },
    trail: { rows: [audit(3, 'sync.failed'), audit(1)], next: null },
  };
  expect(entriesOf(parts).map(({ key }) => key)).toEqual(['job 2', 'a1']);
});

it('shows a job above what triggered it in the same second, because starts are in whole seconds', () => {
  const made = { ...audit(1), timestamp: '2026-01-01T00:01:07.400Z' };
  const started = { ...job(1), started_at: '2026-01-01T00:01:07.000Z' };
  const parts = { jobs: { rows: [started], next: null }, trail: { rows: [made], next: null } };
  expect(entriesOf(parts).map(({ key }) => key)).toEqual(['job 1', 'a1']);
});

it('keeps earlier pages when something new arrives, and starts over when it missed too much', () => {
  const old = [6, 5, 4, 3, 2, 1].map((minute) => job(minute));
  const none: Part<AuditEvent, number> = { rows: [], next: null };
  const kept: Parts<number> = { jobs: { rows: old, next: null }, trail: none };
  const oneMore = renewed(kept, { jobs: pageOf([job(7), ...old], 0), trail: none });
  expect(entriesOf(oneMore)).toHaveLength(7);
  const many = [12, 11, 10, 9, 8, 7].map((minute) => job(minute));
  const missed = renewed(kept, { jobs: pageOf([...many, ...old], 0), trail: none });
  expect(entriesOf(missed).map(({ key }) => key)).toEqual(['job 12', 'job 11']);
  expect(lagging(missed).jobs).toBe(true);
});
