/** One job: what it moved, its attempts, a comparison with the last successful job, and its log. */
import type { JobDetail } from '@inlay/contract/pipelines/operating';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { JobBadge } from '../../parts/badges.tsx';
import { Bars } from '../../parts/bars.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { failureInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';
import { Comparison } from './comparison.tsx';
import { Log } from './log.tsx';
import { RowsPlot } from './rows-plot.tsx';

type Attempt = NonNullable<JobDetail['attempt_list']>[number];
type Stream = NonNullable<JobDetail['streams']>[number];

export function JobScreen({ place }: { place: Place }) {
  const { id } = place;
  const {
    data: job,
    error,
    reload,
  } = useAnswer(requestTo('GET /integrations/jobs/{job_id}', { ids: [id] }), { live: () => true });
  const trail = (
    <>
      <Link to={pathTo('jobs')}>{words.jobsList.title}</Link>
      {job && (
        <>
          {' / '}
          <Link to={pathTo('customer', job.workspace_id)}>{job.workspace_name}</Link>
        </>
      )}
    </>
  );
  return (
    <Page title={words.job.title(id)} trail={trail} beside={job && <JobBadge status={job.status} />}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!job && !error && <Bones rows={6} />}
      {job && <Content job={job} />}
    </Page>
  );
}

function Content({ job }: { job: JobDetail }) {
  return (
    <>
      <Facts job={job} />
      <Log jobId={job.id} attempts={job.attempt_list?.map(({ attempt }) => attempt) ?? []} />
      <Panel title={words.job.attempts}>
        {job.attempt_list ? <Attempts rows={job.attempt_list} /> : <Empty title={words.job.noAttempts} />}
      </Panel>
      <RowsPlot job={job} />
      <History job={job} />
      <Panel title={words.job.streams}>
        <Streams job={job} />
      </Panel>
      <Comparison job={job} />
    </>
  );
}

function Facts({ job }: { job: JobDetail }) {
  const reason = job.first_error ?? job.failure;
  const facts: [string, preact.ComponentChildren][] = [
    [words.column.started, <When time={job.started_at} key="" />],
    [words.column.duration, job.duration_seconds === null ? words.none : formatting.duration(job.duration_seconds)],
    [words.column.rows, job.rows === null ? words.unknown : formatting.number(job.rows)],
    [words.column.bytes, job.bytes === null ? words.unknown : formatting.bytes(job.bytes)],
    [words.column.attempts, job.attempts === null ? words.unknown : formatting.number(job.attempts)],
    ...(job.request_id
      ? [[words.job.requestId, <code key="">{job.request_id}</code>] as [string, preact.ComponentChildren]]
      : []),
  ];
  return (
    <dl class="c-fact-list" aria-label={words.job.facts}>
      {reason && (
        <div class="c-fact-wide">
          <dt>{words.job.firstFailure}</dt>
          <dd>
            {failureInWords(reason)}
            <span class="c-facts">
              <span>{words.kinds[reason.kind]}</span>
              <span>{words.origins[reason.origin]}</span>
            </span>
          </dd>
        </div>
      )}
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Attempts({ rows }: { rows: readonly Attempt[] }) {
  const columns: Column<Attempt>[] = [
    { title: words.column.attempt, cell: ({ attempt }) => words.job.attempt(attempt) },
    { title: words.column.status, cell: ({ status }) => <JobBadge status={status} /> },
    { title: words.column.started, cell: ({ started_at }) => <When time={started_at} /> },
    {
      title: words.column.rows,
      isNumber: true,
      cell: ({ rows: moved }) => (moved === null ? words.none : formatting.number(moved)),
    },
    {
      title: words.column.reason,
      isWide: true,
      cell: ({ failure }) =>
        failure ? (
          <span class="c-clamp" title={failureInWords(failure)}>
            {failureInWords(failure)}
          </span>
        ) : (
          words.none
        ),
    },
  ];
  return <Table label={words.job.attempts} rows={rows} columns={columns} idOf={({ attempt }) => String(attempt)} />;
}

function Streams({ job: { streams, more_streams = 0 } }: { job: JobDetail }) {
  if (!streams || streams.length === 0) return <Empty title={words.job.noStreams} />;
  const number = (value: number | undefined) => (value === undefined ? words.none : formatting.number(value));
  const columns: Column<Stream>[] = [
    { title: words.column.stream, isWide: true, cell: (stream) => nameOf(stream) },
    { title: words.column.emitted, isNumber: true, cell: ({ records_emitted }) => number(records_emitted) },
    { title: words.column.written, isNumber: true, cell: ({ records_written }) => number(records_written) },
    { title: words.column.deleted, isNumber: true, cell: ({ records_deleted }) => number(records_deleted) },
    {
      title: words.column.warnings,
      cell: (stream) => {
        const said = warningsOf(stream);
        if (said.length === 0) return <span class="c-muted">{words.none}</span>;
        return (
          <ul class="c-warnings">
            {said.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        );
      },
    },
  ];
  return (
    <>
      <Table label={words.job.streams} rows={streams} columns={columns} idOf={nameOf} />
      {more_streams > 0 && <p class="c-panel-foot c-muted">{words.job.moreStreams(more_streams)}</p>}
    </>
  );
}

export function nameOf({ namespace, name }: { namespace?: string; name: string }): string {
  return namespace ? `${namespace}.${name}` : name;
}

function warningsOf(stream: Stream): string[] {
  return [
    ...(stream.not_replaced ? [words.job.notReplaced] : []),
    // The platform's own text, as for failures.
    ...(stream.notices ?? []).map(({ message }) => message),
    ...(stream.records_skipped
      ? [words.job.skipped(stream.records_skipped.count, stream.records_skipped.keys.join('; '))]
      : []),
    ...stream.values_changed.map(({ kind, count, field }) => words.job.changes[kind](count, field)),
  ];
}

function History({ job }: { job: JobDetail }) {
  const { data } = useAnswer(
    requestTo('GET /integrations/jobs', { query: { connection_id: job.connection_id, limit: 30 } }),
  );
  const jobs = (data?.data ?? []).toReversed();
  return (
    <Panel
      title={words.job.history}
      beside={
        <Link to={pathTo('jobs', undefined, { connection_id: job.connection_id })}>{words.overview.showAll}</Link>
      }
    >
      <Bars
        label={words.job.history}
        bars={jobs.map(({ id, started_at, rows, status }) => ({
          title: `${words.job.short(id)}, ${formatting.dateTime(started_at)}: ${words.overview.rows(rows ?? 0)}, ${words.jobStatus[status]}`,
          good: status === 'failed' ? 0 : (rows ?? 0),
          bad: status === 'failed' ? Math.max(rows ?? 0, 1) : 0,
        }))}
      />
    </Panel>
  );
}
