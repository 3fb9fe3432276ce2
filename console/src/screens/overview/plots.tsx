/** Syncs that ended in the last day, and rows that arrived in the last month. */
import type { Overview } from '@inlay/contract/pipelines/overview';
import { Bars } from '../../parts/bars.tsx';
import { Panel } from '../../parts/page.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';

const words = common.overview;

const hoursShown = 24;

export function Plots({ overview }: { overview: Overview }) {
  const hours = overview.hours.slice(-hoursShown);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const succeeded = sum(hours.map((hour) => hour.succeeded));
  const failed = sum(hours.map((hour) => hour.failed));
  const rows = sum(overview.days.map((day) => day.rows));
  const said = (good: number, bad: number) => `${words.succeeded(good)}, ${words.failed(bad)}`;
  const since = hours[0]?.from;
  return (
    <div class="c-two">
      <Panel
        title={words.day}
        beside={
          <p class="c-plot-sum">
            <Link to={pathTo('jobs', undefined, { status: 'succeeded', ended_after: since })}>
              {words.succeeded(succeeded)}
            </Link>
            <Link to={pathTo('jobs', undefined, { status: 'failed', ended_after: since })}>{words.failed(failed)}</Link>
          </p>
        }
      >
        <Bars
          label={`${words.day}: ${said(succeeded, failed)}`}
          bars={hours.map((hour) => ({
            title: `${formatting.dateTime(hour.from)}: ${said(hour.succeeded, hour.failed)}`,
            good: hour.succeeded,
            bad: hour.failed,
          }))}
        />
      </Panel>
      <Panel
        title={words.month}
        beside={
          <p class="c-plot-sum">
            <Link to={pathTo('jobs', undefined, { ended_after: overview.days[0]?.from })}>{words.rows(rows)}</Link>
          </p>
        }
      >
        <Bars
          label={`${words.month}: ${words.rows(rows)}`}
          bars={overview.days.map((day) => ({
            title: `${formatting.dateTime(day.from)}: ${words.rows(day.rows)}`,
            good: day.rows,
          }))}
        />
      </Panel>
    </div>
  );
}
