/** Everything that has happened to a customer, newest first: jobs, and every entry of the audit trail. */
import type { OperatorJob } from '@inlay/contract/pipelines/operating';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import type { AnswerTo } from '@inlay/contract/requests';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, type ApiRequest, callApi, requestOfNext, requestTo } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { JobBadge } from '../../parts/badges.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Panel } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { failureInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';
import { continued, entriesOf, lagging, type Parts, renewed, type TimelineEntry } from './timeline-entries.ts';

const pageSize = 50;
type JobsRequest = ApiRequest<AnswerTo<'GET /integrations/jobs'>>;
type Loaded = Parts<JobsRequest>;

export function Timeline({ workspaceId, sources }: { workspaceId: string; sources: readonly SourceSummary[] }) {
  const { onSignedOut } = useConsole();
  const { data, error, reload } = useLoaded(workspaceId, (signal) => readFirst(workspaceId, signal), {
    live: (ids) => ids.has(workspaceId),
  });
  const [kept, setKept] = useState<Loaded | undefined>(undefined);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<ApiError | undefined>(undefined);
  useEffect(() => {
    if (data) setKept((before) => renewed(before, data));
  }, [data]);
  const more = (loaded: Loaded) => {
    setLoadingMore(true);
    setMoreError(undefined);
    readMore(workspaceId, loaded)
      .then(
        (part) => setKept((now) => now && continued(now, part)),
        (failure: ApiError) => {
          if (failure.isSignedOut) onSignedOut();
          setMoreError(failure);
        },
      )
      .finally(() => setLoadingMore(false));
  };
  const names = new Map(sources.map(({ id, name }) => [id, name]));
  const entries = kept && entriesOf(kept);
  const behind = kept && lagging(kept);
  const hasMore = behind !== undefined && (behind.jobs || behind.trail);
  const problem = error ?? moreError;
  return (
    <Panel title={words.customer.timeline}>
      {problem && <ErrorNotice error={problem} onTryAgain={reload} />}
      {!entries && !problem && <Bones />}
      {entries?.length === 0 && !hasMore && <Empty title={words.customer.nothing} />}
      {entries && entries.length > 0 && (
        <ol class="c-timeline">
          {entries.map((entry) => (
            <li key={entry.key} data-row>
              <When time={entry.time} />
              <Entry entry={entry} sourceName={entry.job ? names.get(entry.job.source_id) : undefined} />
            </li>
          ))}
        </ol>
      )}
      {kept && hasMore && (
        <p class="c-panel-foot">
          <Button isBusy={isLoadingMore} onClick={() => more(kept)}>
            {words.list.more}
          </Button>
        </p>
      )}
    </Panel>
  );
}

function Entry({ entry: { job, audit }, sourceName }: { entry: TimelineEntry; sourceName: string | undefined }) {
  if (job) {
    return (
      <div class="c-entry">
        <span class="c-entry-head">
          <Link to={pathTo('job', job.id)}>
            {sourceName ? words.customer.syncOf(sourceName) : words.job.short(job.id)}
          </Link>
          <JobBadge status={job.status} />
          {job.rows !== null && <span class="c-muted">{words.overview.rows(job.rows)}</span>}
        </span>
        {job.failure && <span class="c-clamp c-danger">{failureInWords(job.failure)}</span>}
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
        <span class="c-muted">{words.customer.by(audit.actor.name ? `${audit.actor.name} (${kind})` : kind)}</span>
      </span>
    </div>
  );
}

async function readFirst(workspaceId: string, signal: AbortSignal): Promise<Loaded> {
  const query = { workspace_id: workspaceId, limit: pageSize };
  const [jobs, trail] = await Promise.all([
    readJobs(requestTo('GET /integrations/jobs', { query }), signal),
    readTrail(workspaceId, undefined, signal),
  ]);
  return { jobs, trail };
}

async function readMore(workspaceId: string, loaded: Loaded): Promise<Partial<Loaded>> {
  const behind = lagging(loaded);
  const [jobs, trail] = await Promise.all([
    behind.jobs && loaded.jobs.next ? readJobs(loaded.jobs.next) : undefined,
    behind.trail && loaded.trail.next ? readTrail(workspaceId, loaded.trail.next) : undefined,
  ]);
  return { ...(jobs && { jobs }), ...(trail && { trail }) };
}

async function readJobs(request: JobsRequest, signal?: AbortSignal): Promise<Loaded['jobs']> {
  const { data, next } = await callApi(request, signal);
  return { rows: data as OperatorJob[], next: next === null ? null : requestOfNext(next) };
}

async function readTrail(workspaceId: string, before?: number, signal?: AbortSignal): Promise<Loaded['trail']> {
  const query = { workspace_id: workspaceId, sort: '-position', before, limit: pageSize };
  const { data, next } = await callApi(requestTo('GET /audit-events', { query }), signal);
  return { rows: data, next: next === 0 ? null : next };
}
