/** One reason why connections fail: whom it concerns, and one button that tries them all again. */
import type { OperatorConnection } from '@inlay/contract/operating';
import type { FailureCause } from '@inlay/contract/overview';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { ApiError, type ApiRequest, callApi, requestOfNext } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';

export function Cause({ cause, onChanged }: { cause: FailureCause; onChanged(): void }) {
  const words = useWords();
  const { formatting, mayWrite } = useConsole();
  const retry = useRetry(cause.cause, onChanged);
  const list = pathTo('connections', undefined, { cause: cause.cause });
  return (
    <article class="c-cause">
      <div class="c-cause-head">
        <div class="c-cause-text">
          <p class="c-cause-message">{cause.message ?? words.noReason}</p>
          <p class="c-facts">
            <span>
              <Link to={list}>{words.overview.affected(cause.connections, formatting.number(cause.connections))}</Link>
            </span>
            <span>{cause.attention_by ? words.audience[cause.attention_by] : words.kinds[cause.kind]}</span>
            <span>{words.origins[cause.origin]}</span>
            <span>
              {words.column.since} <When time={cause.since} />
            </span>
          </p>
        </div>
        {mayWrite && (
          <Button glyph="sync" isBusy={retry.isBusy} onClick={retry.run}>
            {retry.isBusy
              ? words.overview.retrying(formatting.number(retry.done), formatting.number(retry.all))
              : words.overview.retry}
          </Button>
        )}
      </div>
      {retry.error !== undefined && <ErrorNotice error={retry.error} />}
      <ul class="c-examples">
        {cause.examples.map((example) => (
          <li key={example.connection_id} data-row>
            <Link to={pathTo('customer', example.workspace_id)}>{example.workspace_name}</Link>
            <span class="c-muted">{example.source_name}</span>
            <span class="c-facts">
              <span>
                {words.column.since} <When time={example.since} />
              </span>
              <span>
                {words.column.lastGood}: <When time={example.last_good_at} none={words.overview.neverGood} />
              </span>
              {example.job_id && (
                <span>
                  <Link to={pathTo('job', example.job_id)}>{words.job.title(example.job_id)}</Link>
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </article>
  );
}

/** So many syncs are asked for at a time. */
const atATime = 4;

/** Starts a sync of every connection with the cause, and tells how far it is. */
function useRetry(cause: string, onChanged: () => void) {
  const { announce, formatting, onSignedOut } = useConsole();
  const words = useWords().overview;
  const [progress, setProgress] = useState({ isBusy: false, done: 0, all: 0 });
  const [error, setError] = useState<unknown>(undefined);
  const run = async () => {
    setError(undefined);
    setProgress({ isBusy: true, done: 0, all: 0 });
    let failure: unknown;
    let done = 0;
    let started = 0;
    const ids: string[] = [];
    try {
      let request: ApiRequest | undefined = {
        method: 'GET',
        path: '/integrations/connections',
        query: { cause, limit: 100 },
      };
      while (request) {
        const page: { data: OperatorConnection[]; next: string | null } = await callApi(request);
        ids.push(...page.data.map(({ id }) => id));
        request = page.next === null ? undefined : requestOfNext(page.next);
      }
      const queue = [...ids];
      const work = async () => {
        for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
          await callApi({ method: 'POST', path: `/integrations/connections/${id}/sync` }).then(
            () => {
              started += 1;
            },
            (problem: unknown) => {
              // A sync that runs already is what was wanted.
              if (problem instanceof ApiError && problem.code === 'sync_already_running') started += 1;
              else failure ??= problem;
            },
          );
          done += 1;
          setProgress({ isBusy: true, done, all: ids.length });
        }
      };
      await Promise.all(Array.from({ length: atATime }, work));
      announce(words.retried(formatting.number(started), formatting.number(ids.length)));
    } catch (problem) {
      failure = problem;
    }
    if (failure instanceof ApiError && failure.isSignedOut) onSignedOut();
    setError(failure);
    setProgress({ isBusy: false, done: 0, all: 0 });
    onChanged();
  };
  return { ...progress, error, run: () => void run() };
}
