/** The syncs of a connection, newest first. The first page is kept up to date; older pages are loaded on demand. */
import type { Connection, Job } from '@inlay/contract/pipelines/connections';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName, Spinner } from '@inlay/ui/parts/glyph.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { Moment } from '../parts/moment.tsx';
import { RowsSkeleton } from '../parts/skeletons.tsx';
import { countChanged, type HistoryEntry, historyOf, mergeJobs, streamsToMention } from '../sources/progress.ts';
import { useAction } from '../sources/use-action.ts';
import { useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords } from '../words/words.ts';

/** Large, because runs without new data share one line. */
const pageSize = 20;

export function JobHistory({ connection }: { connection: Connection }) {
  const words = useWords();
  const { api } = useWidget();
  const { id, last_run } = connection;
  const [loaded, setLoaded] = useState<{ jobs: readonly Job[]; isWhole: boolean } | undefined>(undefined);
  const firstNew = useRef<HTMLLIElement>(null);
  const [newFrom, setNewFrom] = useState<number | undefined>(undefined);

  const load = useAction(async (signal, offset: number) => {
    const page = await api.listJobs(id, { limit: pageSize, offset }, signal);
    const isEnd = page.length < pageSize;
    setLoaded((before) => ({
      jobs: mergeJobs(before?.jobs ?? [], page),
      isWhole: isEnd || (offset === 0 && before?.isWhole === true),
    }));
    if (offset > 0) setNewFrom(offset);
  });
  // A started or ended run means there may be more runs since the last refresh.
  useEffect(() => load.run(0), [id, last_run?.id, last_run?.status]);
  // The pressed button may be gone, so the focus moves to the first entry that it loaded.
  useEffect(() => firstNew.current?.focus(), [newFrom]);

  const jobs = mergeJobs(loaded?.jobs ?? [], last_run ? [last_run] : []);
  const firstNewId = newFrom === undefined ? undefined : jobs[newFrom]?.id;
  if (!loaded && load.error !== undefined) {
    return <FailureNotice error={load.error} actions={<Button onClick={() => load.run(0)}>{words.tryAgain}</Button>} />;
  }
  if (!loaded) return <RowsSkeleton />;
  if (jobs.length === 0) return <p class="inlay-text">{words.source.noHistory}</p>;
  return (
    <div class="inlay-history">
      <h3>{words.source.history}</h3>
      <ol>
        {historyOf(jobs, loaded.isWhole).map((entry) => {
          const isFirstNew = entry.jobs.some(({ id }) => id === firstNewId);
          return (
            // Keyed by the oldest job, so that an open entry remains open when a newer run joins it.
            <li key={entry.jobs.at(-1)?.id} ref={isFirstNew ? firstNew : null} tabIndex={isFirstNew ? -1 : undefined}>
              <Entry entry={entry} />
            </li>
          );
        })}
      </ol>
      {load.error !== undefined && <FailureNotice error={load.error} />}
      {!loaded.isWhole && (
        <Button kind="quiet" isBusy={load.isRunning} onClick={() => load.run(loaded.jobs.length)}>
          {words.source.showMore}
        </Button>
      )}
    </div>
  );
}

const looks: Record<Job['status'], { kind: string; glyph?: GlyphName }> = {
  pending: { kind: 'active' },
  running: { kind: 'active' },
  incomplete: { kind: 'active' },
  failed: { kind: 'danger', glyph: 'alert' },
  succeeded: { kind: 'success', glyph: 'check' },
  cancelled: { kind: 'neutral', glyph: 'close' },
};

function Entry({ entry: { jobs, isNothingNew } }: { entry: HistoryEntry }) {
  const words = useWords();
  const { formatting } = useWidget();
  const [newest] = jobs;
  if (jobs.length === 1) return <JobEntry job={newest} isNothingNew={isNothingNew} />;
  return (
    <details class="inlay-quiet-runs">
      <summary class="inlay-job">
        <span class="inlay-job-mark">
          <Glyph name="chevron" />
        </span>
        <span class="inlay-job-head">
          <span class="inlay-job-status">{words.source.quietRuns(jobs.length, formatting.number(jobs.length))}</span>
          <Moment time={newest.started_at} tense="past" />
        </span>
      </summary>
      <ol>
        {jobs.map((job) => (
          <li key={job.id}>
            <JobEntry job={job} isNothingNew />
          </li>
        ))}
      </ol>
    </details>
  );
}

function JobEntry({ job, isNothingNew }: { job: Job; isNothingNew: boolean }) {
  const words = useWords();
  const { formatting } = useWidget();
  const { status, rows, bytes, duration_seconds } = job;
  const error = reasonInWords(job.error_reason, job.error, words, formatting);
  const waiting = reasonInWords(job.waiting_reason, job.waiting_because, words, formatting);
  const { kind, glyph } = looks[status];
  return (
    <div class="inlay-job">
      <span class={`inlay-job-mark inlay-job-${kind}`}>{glyph ? <Glyph name={glyph} /> : <Spinner />}</span>
      <span class="inlay-job-head">
        <span class="inlay-job-status">{words.jobs[status]}</span>
        <Moment time={job.started_at} tense="past" />
      </span>
      <span class="inlay-facts inlay-job-facts">
        {rows !== null && <span>{isNothingNew ? words.nothingNew : words.rows(rows, formatting.number(rows))}</span>}
        {bytes !== null && bytes > 0 && <span>{formatting.bytes(bytes)}</span>}
        {duration_seconds !== null && <span>{formatting.duration(duration_seconds)}</span>}
      </span>
      {error && <p class="inlay-quoted inlay-job-error">{error}</p>}
      {waiting && <p class="inlay-quoted inlay-job-error">{waiting}</p>}
      <ChangedValues job={job} />
    </div>
  );
}

/** Values changed during a sync, collapsed at first. */
function ChangedValues({ job }: { job: Job }) {
  const words = useWords();
  const { formatting } = useWidget();
  const said = words.source.changes;
  const streams = streamsToMention(job);
  if (streams.length === 0) return null;
  const count = streams.reduce((sum, stream) => sum + countChanged(stream), 0);
  const skipped = streams.reduce((sum, { records_skipped }) => sum + (records_skipped?.count ?? 0), 0);
  const other = skipped > 0 ? said.skipped(skipped, formatting.number(skipped)) : said.notReplaced;
  return (
    <details class="inlay-job-changes">
      <summary>{count > 0 ? said.title(count, formatting.number(count)) : other}</summary>
      <ul>
        {streams.map((stream) => (
          <li key={`${stream.namespace} ${stream.name}`}>
            <strong>{stream.name}</strong>
            <ul>
              {stream.not_replaced && <li>{said.notReplaced}</li>}
              {stream.records_skipped && (
                <li>{said.skipped(stream.records_skipped.count, formatting.number(stream.records_skipped.count))}</li>
              )}
              {stream.values_changed.map(({ field, kind, count: values }) => (
                <li key={`${kind} ${field}`}>{said[kind](values, formatting.number(values), field)}</li>
              ))}
              {stream.more_values_changed && (
                <li>
                  {said.more(stream.more_values_changed.fields, formatting.number(stream.more_values_changed.fields))}
                </li>
              )}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  );
}
