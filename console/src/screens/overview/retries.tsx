/** Progress of cause retries. The service runs them, whether or not the page is open. */
import type { CauseRetry, CauseRetryItem } from '@inlay/contract/pipelines/cause-retries';
import { useEffect, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { failureInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';

const shown = 10;
const shownMs = 24 * 3_600_000;

/** Running retries and those that ended within a day, newest first. Undefined until loaded. */
export function useRetries(): { retries: readonly CauseRetry[] | undefined; reload(): void } {
  const { data, error, reload } = useAnswer(
    requestTo('GET /integrations/causes/retries', { query: { limit: shown } }),
    { live: () => true },
  );
  const isRecent = ({ ended_at }: CauseRetry) => ended_at === null || Date.now() - Date.parse(ended_at) < shownMs;
  // If they can't be loaded, the rest of the overview still works, and a cause's button reports the error.
  return { retries: data ? data.data.filter(isRecent) : error && [], reload };
}

/** Retries whose cause is no longer listed, or is too rare to be listed. */
export function OtherRetries({ retries, onChanged }: { retries: readonly CauseRetry[]; onChanged(): void }) {
  return (
    <Panel title={words.overview.retries}>
      <ul class="c-causes">
        {retries.map((retry) => (
          <li key={retry.id}>
            <div class="c-cause">
              <p class="c-cause-message">{failureInWords(retry)}</p>
              <Retry retry={retry} onChanged={onChanged} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Retry({ retry, onChanged }: { retry: CauseRetry; onChanged(): void }) {
  const { mayWrite, announce } = useConsole();
  const [isAsked, setAsked] = useState(false);
  const { total, waiting, succeeded, failed, skipped, refused } = retry.connections;
  const isRunning = retry.state === 'running';
  const text = words.overview.tried(total - waiting, total);
  return (
    <div class="c-retry">
      {isRunning && <progress class="c-progress" value={total - waiting} max={total} aria-label={text} />}
      <p class="c-facts">
        <span>
          {isRunning
            ? `${words.overview.retrying(total)}, ${words.overview.retryStarted}`
            : retry.state === 'stopped'
              ? words.overview.retryStopped
              : words.overview.retryEnded}{' '}
          <When time={isRunning ? retry.created_at : retry.ended_at} />
        </span>
        <span>{text}</span>
        {succeeded > 0 && <span>{words.overview.succeededAgain(succeeded)}</span>}
        {failed > 0 && <span class="c-danger">{words.overview.failedAgain(failed)}</span>}
        {skipped > 0 && <span>{words.overview.alreadyHealthy(skipped)}</span>}
        {refused > 0 && (
          <span>
            <button type="button" class="c-link-button" onClick={() => setAsked(true)}>
              {words.overview.notStarted(refused)}
            </button>
          </span>
        )}
        {retry.has_more && <span>{words.overview.retryHasMore}</span>}
        {isRunning && <span class="c-muted">{words.overview.mayClose}</span>}
      </p>
      {isRunning && mayWrite && (
        <div class="c-tools">
          <RequestButton
            label={words.overview.stopRetry}
            request={requestTo('POST /integrations/causes/retries/{cause_retry_id}/stop', { ids: [retry.id] })}
            onDone={() => {
              announce(words.overview.retryStopped);
              onChanged();
            }}
          />
        </div>
      )}
      {isAsked && <Refused retry={retry} onClose={() => setAsked(false)} />}
    </div>
  );
}

/** Why no sync was started, customer by customer. */
function Refused({ retry, onClose }: { retry: CauseRetry; onClose(): void }) {
  const { data, error, reload } = useAnswer(
    requestTo('GET /integrations/causes/retries/{cause_retry_id}/connections', {
      ids: [retry.id],
      query: { state: 'refused', limit: 100 },
    }),
  );
  const [help, setHelp] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    // If the texts can't be loaded, the codes are shown alone.
    import('../../api/error-help.ts').then(
      ({ errorHelp }) => setHelp(errorHelp),
      () => undefined,
    );
  }, []);
  const columns: Column<CauseRetryItem>[] = [
    {
      title: words.column.customer,
      isName: true,
      cell: ({ workspace_id, workspace_name }) => <Link to={pathTo('customer', workspace_id)}>{workspace_name}</Link>,
    },
    { title: words.column.source, isName: true, cell: ({ source_name }) => source_name },
    {
      title: words.column.reason,
      isWide: true,
      cell: ({ code }) => (
        <span>
          <code>{code}</code> {help[code ?? '']}
        </span>
      ),
    },
  ];
  return (
    <InfoDialog title={words.overview.notStarted(retry.connections.refused)} onClose={onClose} isWide>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={3} />}
      {data && (
        <Table
          label={words.column.reason}
          rows={data.data}
          columns={columns}
          idOf={({ connection_id }) => connection_id}
        />
      )}
      {data?.next && <p class="c-muted">{words.list.shown(data.data.length)}</p>}
    </InfoDialog>
  );
}
