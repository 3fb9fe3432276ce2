/** A job's rows over time. Each bar shows what its attempt had moved by then. */
import type { JobDetail } from '@inlay/contract/pipelines/operating';
import { Bars } from '../../parts/bars.tsx';
import { Empty, Panel } from '../../parts/page.tsx';
import { formatting } from '../../words/formatting.ts';
import { words } from '../../words/words.ts';

type Point = NonNullable<JobDetail['row_points']>[number];

const mostBars = 60;

export interface Slot {
  until: number;
  attempt: number;
  rows: number;
}

/** Equal time slots from the first point to the last, each with the latest point before its end. */
export function slotsOf(points: readonly Point[]): Slot[] {
  const times = points.map(({ at }) => Date.parse(at));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return [];
  const count = Math.min(mostBars, Math.max(points.length, 1));
  const length = (last - first) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, index) => {
    const until = index === count - 1 ? last : Math.round(first + index * length);
    const place = times.findLastIndex((time) => time <= until);
    const { attempt = 0, rows = 0 } = points[place] ?? {};
    return { until, attempt, rows };
  });
}

export function RowsPlot({ job: { row_points, attempt_list, ended_at } }: { job: JobDetail }) {
  const slots = slotsOf(row_points ?? []);
  const [first, last] = [slots[0], slots.at(-1)];
  const failed = new Set(attempt_list?.filter(({ status }) => status === 'failed').map(({ attempt }) => attempt));
  const time = (ms: number) => formatting.dateTime(new Date(ms).toISOString());
  const title = words.job.rowsOverTime;
  const { noProgress, noRows, noRowsMoved } = words.job;
  const emptyText = row_points === null ? noProgress : ended_at === null ? noRows : noRowsMoved;
  return (
    <Panel title={title}>
      {!first || !last || slots.every(({ rows }) => rows === 0) ? (
        <Empty title={emptyText} />
      ) : (
        <>
          <Bars
            label={`${title}: ${words.job.rowsBetween(last.rows, time(first.until), time(last.until))}`}
            bars={slots.map(({ until, attempt, rows }) => ({
              title: `${time(until)}, ${words.job.attempt(attempt)}: ${words.overview.rows(rows)}`,
              good: failed.has(attempt) ? 0 : rows,
              bad: failed.has(attempt) ? rows : 0,
            }))}
          />
          <p class="c-panel-foot c-muted">{words.job.rowsBetween(last.rows, time(first.until), time(last.until))}</p>
        </>
      )}
    </Panel>
  );
}
