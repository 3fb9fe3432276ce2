/** Compares a job with the last successful job of its connection. */
import type { JobDetail } from '@inlay/contract/pipelines/operating';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words } from '../../words/words.ts';

interface Line {
  title: string;
  here: number | null | undefined;
  good: number | null | undefined;
  say(value: number): string;
}

export function Comparison({ job }: { job: JobDetail }) {
  const { data, error, reload } = useAnswer(
    requestTo('GET /integrations/jobs', {
      query: { connection_id: job.connection_id, status: 'succeeded', started_before: job.started_at, limit: 1 },
    }),
  );
  const good = data?.data[0];
  const { number, duration, bytes } = formatting;
  const lines: Line[] = good
    ? [
        { title: words.column.duration, here: job.duration_seconds, good: good.duration_seconds, say: duration },
        { title: words.column.rows, here: job.rows, good: good.rows, say: number },
        { title: words.column.bytes, here: job.bytes, good: good.bytes, say: bytes },
        ...(good.streams ?? []).map(({ name, namespace, records_emitted }) => ({
          title: words.job.rowsOf(namespace ? `${namespace}.${name}` : name),
          here: job.streams?.find((stream) => stream.name === name && stream.namespace === namespace)?.records_emitted,
          good: records_emitted,
          say: number,
        })),
      ]
    : [];
  const columns: Column<Line>[] = [
    { title: words.job.compared, isWide: true, cell: ({ title }) => title },
    { title: words.job.thisJob, isNumber: true, cell: ({ here, say }) => (here == null ? words.none : say(here)) },
    {
      title: words.job.goodJob,
      isNumber: true,
      cell: ({ good: value, say }) => (value == null ? words.none : say(value)),
    },
    { title: words.column.difference, isNumber: true, cell: (line) => differenceOf(line) ?? words.none },
  ];
  return (
    <Panel
      title={words.job.compare}
      beside={
        good && (
          <span class="c-facts">
            <span>
              <Link to={pathTo('job', good.id)}>{words.job.short(good.id)}</Link>
            </span>
            <span>
              <When time={good.ended_at} />
            </span>
          </span>
        )
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && !good && <Empty title={words.job.noGood} />}
      {good && <Table label={words.job.compare} rows={lines} columns={columns} idOf={({ title }) => title} />}
    </Panel>
  );
}

function differenceOf({ here, good }: Line): string | undefined {
  if (here == null || good == null || good === 0) return undefined;
  const percent = Math.round((here / good - 1) * 100);
  return percent === 0 ? '±0 %' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
}
