/** The reasons why connections fail: whom each concerns, and one button that tries them all again. */
import type { CauseRetry, CauseRetryRequest } from '@inlay/contract/operating';
import type { FailureCause } from '@inlay/contract/overview';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { ApiError, callApi } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useSteadyRows } from '../../parts/steady-rows.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';

interface CausesProps {
  causes: readonly FailureCause[];
  /** The pointer is over a cause, which has a button, or over a list below: nothing may move then. */
  isHeld: boolean;
  onChanged(): void;
}

export function Causes({ causes, isHeld, onChanged }: CausesProps) {
  const steady = useSteadyRows(causes, ({ cause }) => cause, { isHeld, keepsHeight: true });
  return (
    <ul class="c-causes">
      {steady.rows.map((cause) => (
        <li class={steady.isGone(cause) ? 'c-gone' : undefined} key={cause.cause}>
          <Cause cause={cause} isHeld={isHeld} onChanged={onChanged} />
        </li>
      ))}
    </ul>
  );
}

function Cause({ cause, isHeld, onChanged }: { cause: FailureCause; isHeld: boolean; onChanged(): void }) {
  const examples = useSteadyRows(cause.examples, ({ connection_id }) => connection_id, { isHeld, keepsHeight: true });
  const words = useWords();
  const { formatting, mayWrite } = useConsole();
  const retry = useRetry(cause, onChanged);
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
        {examples.rows.map((example) => (
          <li class={examples.isGone(example) ? 'c-gone' : undefined} key={example.connection_id} data-row>
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

/** Starts a sync of every connection with the cause, some at a time, and tells how far it is. */
function useRetry({ cause, connections }: FailureCause, onChanged: () => void) {
  const { announce, formatting, onSignedOut } = useConsole();
  const words = useWords().overview;
  const [progress, setProgress] = useState({ isBusy: false, done: 0, all: 0 });
  const [error, setError] = useState<unknown>(undefined);
  const run = async () => {
    setError(undefined);
    setProgress({ isBusy: true, done: 0, all: connections });
    let done = 0;
    let started = 0;
    try {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const body: CauseRetryRequest = { cause, ...(cursor && { cursor }) };
        const answer: CauseRetry = await callApi({ method: 'POST', path: '/integrations/causes/retry', body });
        // A sync that runs already is what was wanted.
        const running = answer.not_started.filter(({ code }) => code === 'sync_already_running').length;
        started += answer.started.length + running;
        done += answer.started.length + answer.not_started.length;
        cursor = answer.next_cursor;
        setProgress({ isBusy: true, done, all: Math.max(connections, done) });
      }
      announce(words.retried(formatting.number(started), formatting.number(Math.max(connections, done))));
    } catch (problem) {
      if (problem instanceof ApiError && problem.isSignedOut) onSignedOut();
      setError(problem);
    }
    setProgress({ isBusy: false, done: 0, all: 0 });
    onChanged();
  };
  return { ...progress, error, run: () => void run() };
}
