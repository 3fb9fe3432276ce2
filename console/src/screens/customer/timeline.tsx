/** Everything that has happened to a customer, newest first: jobs, and every entry of the audit trail. */
import type { AuditEventPage } from '@inlay/contract/audit';
import type { JobPage, OperatorJob } from '@inlay/contract/operating';
import type { SourceSummary } from '@inlay/contract/sources';
import { useState } from 'preact/hooks';
import type { Static } from 'typebox';
import { callApi } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { JobBadge } from '../../parts/badges.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Panel } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';
import { entriesOf, type TimelineEntry } from './timeline-entries.ts';

const dayMs = 86_400_000;
/** The trail is read oldest first, so this many pages are read at most. */
const maxPages = 5;

export function Timeline({ workspaceId, sources }: { workspaceId: string; sources: readonly SourceSummary[] }) {
  const words = useWords();
  const [days, setDays] = useState('7');
  const { data, error, reload } = useLoaded(
    `${workspaceId} ${days}`,
    (signal) => read(workspaceId, Number(days), signal),
    { live: (ids) => ids.has(workspaceId) },
  );
  const names = new Map(sources.map(({ id, name }) => [id, name]));
  return (
    <Panel
      title={words.customer.timeline}
      beside={
        <label class="c-choice">
          <span class="inlay-unseen">{words.customer.period}</span>
          <select class="c-control" value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
            {Object.entries(words.customer.periods).map(([value, text]) => (
              <option value={value} key={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data?.entries.length === 0 && <Empty title={words.customer.nothing} />}
      {data && data.entries.length > 0 && (
        <ol class="c-timeline">
          {data.entries.map((entry) => (
            <li key={entry.key} data-row>
              <When time={entry.time} />
              <Entry entry={entry} sourceName={entry.job ? names.get(entry.job.source_id) : undefined} />
            </li>
          ))}
        </ol>
      )}
      {data?.hasMore && <p class="c-panel-foot c-muted">{words.customer.noMore}</p>}
    </Panel>
  );
}

function Entry({ entry: { job, audit }, sourceName }: { entry: TimelineEntry; sourceName: string | undefined }) {
  const words = useWords();
  const { formatting } = useConsole();
  if (job) {
    return (
      <div class="c-entry">
        <span class="c-entry-head">
          <Link to={pathTo('job', job.id)}>
            {sourceName ? words.customer.syncOf(sourceName) : words.job.title(job.id)}
          </Link>
          <JobBadge status={job.status} />
          {job.rows !== null && (
            <span class="c-muted">
              {formatting.number(job.rows)} {words.overview.rows}
            </span>
          )}
        </span>
        {job.failure && <span class="c-clamp c-danger">{job.failure.message ?? words.noReason}</span>}
      </div>
    );
  }
  if (!audit) return null;
  const kind = words.customer.actors[audit.actor.kind as keyof typeof words.customer.actors] ?? audit.actor.kind;
  return (
    <div class="c-entry">
      <span class="c-entry-head">
        <code>{audit.type}</code>
        {audit.outcome === 'refused' && <span class="c-danger">{words.customer.refused}</span>}
        <span class="c-muted">{words.customer.by(audit.actor.name ? `${kind} ${audit.actor.name}` : kind)}</span>
      </span>
    </div>
  );
}

async function read(workspaceId: string, days: number, signal: AbortSignal) {
  const since = new Date(Date.now() - days * dayMs).toISOString();
  const [jobs, trail] = await Promise.all([
    callApi<Static<typeof JobPage>>(
      {
        method: 'GET',
        path: '/integrations/jobs',
        query: { workspace_id: workspaceId, started_after: since, limit: 100 },
      },
      signal,
    ),
    readTrail(workspaceId, since, signal),
  ]);
  return {
    entries: entriesOf(jobs.data as OperatorJob[], trail.data),
    hasMore: jobs.next !== null || trail.hasMore,
  };
}

async function readTrail(workspaceId: string, since: string, signal: AbortSignal) {
  const data: AuditEventPage['data'] = [];
  const limit = 200;
  let after: number | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const query = { workspace_id: workspaceId, since, limit, after };
    const page = await callApi<AuditEventPage>({ method: 'GET', path: '/audit-events', query }, signal);
    data.push(...page.data);
    if (page.data.length < limit) return { data, hasMore: false };
    after = page.next;
  }
  return { data, hasMore: true };
}
