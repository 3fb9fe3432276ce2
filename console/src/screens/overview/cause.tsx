/** Why connections fail: who can fix each cause, and one button that retries all its connections. */
import type { CauseRetry, CauseRetryRequest } from '@inlay/contract/pipelines/cause-retries';
import type { FailureCause } from '@inlay/contract/pipelines/overview';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { RequestButton } from '../../parts/request-button.tsx';
import { useKept, useSteadyRows } from '../../parts/tables/steady-rows.ts';
import { HowLong, When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { failureInWords } from '../../words/reason.ts';
import { words } from '../../words/words.ts';
import { Retry } from './retries.tsx';

interface CausesProps {
  causes: readonly FailureCause[];
  /** Newest first. */
  retries: readonly CauseRetry[];
  /** The pointer is over a cause, which has a button, or over a list below, so nothing may move. */
  isHeld: boolean;
  onChanged(): void;
}

export function Causes({ causes, retries, isHeld, onChanged }: CausesProps) {
  const steady = useSteadyRows(causes, ({ cause }) => cause, { isHeld, keepsHeight: true });
  return (
    <ul class="c-causes">
      {steady.rows.map((cause) => (
        <li class={steady.isGone(cause) ? 'c-gone' : undefined} key={cause.cause}>
          <Cause
            cause={cause}
            retry={retries.find((retry) => retry.cause === cause.cause)}
            isHeld={isHeld}
            onChanged={onChanged}
          />
        </li>
      ))}
    </ul>
  );
}

interface CauseProps {
  cause: FailureCause;
  /** The latest of this cause. */
  retry: CauseRetry | undefined;
  isHeld: boolean;
  onChanged(): void;
}

function Cause({ cause, retry, isHeld, onChanged }: CauseProps) {
  const examples = useSteadyRows(cause.examples, ({ connection_id }) => connection_id, { isHeld, keepsHeight: true });
  const { announce, mayWrite } = useConsole();
  // A retry started by someone else must not move what is under the pointer.
  const [own, setOwn] = useState<string | undefined>(undefined);
  const kept = useKept(retry?.id, isHeld);
  const isShown = retry !== undefined && (retry.id === kept || retry.id === own);
  const body: CauseRetryRequest = { cause: cause.cause };
  const lasting = cause.attention_by ? words.lasting.needs_attention : words.lasting.failing;
  const list = pathTo('connections', undefined, { cause: cause.cause });
  return (
    <article class="c-cause">
      <div class="c-cause-head">
        <div class="c-cause-text">
          <p class="c-cause-message">{failureInWords(cause)}</p>
          <p class="c-facts">
            <span>
              <Link to={list}>{words.overview.affected(cause.connections)}</Link>
            </span>
            <span>{cause.attention_by ? words.audience[cause.attention_by] : words.kinds[cause.kind]}</span>
            {cause.origin !== 'unknown' && <span>{words.origins[cause.origin]}</span>}
            {cause.since && (
              <span>
                {lasting} <HowLong since={cause.since} />
              </span>
            )}
          </p>
        </div>
        {mayWrite && (
          <RequestButton
            label={words.overview.retry}
            glyph="sync"
            isBusy={retry?.state === 'running'}
            request={requestTo('POST /integrations/causes/retries', { body })}
            onDone={({ id, connections }) => {
              setOwn(id);
              announce(words.overview.retrying(connections.total));
              onChanged();
            }}
          />
        )}
      </div>
      {isShown && <Retry retry={retry} onChanged={onChanged} />}
      <ul class="c-examples">
        {examples.rows.map((example) => (
          <li class={examples.isGone(example) ? 'c-gone' : undefined} key={example.connection_id} data-row>
            <Link to={pathTo('customer', example.workspace_id)}>{example.workspace_name}</Link>
            <span class="c-muted">{example.source_name}</span>
            <span class="c-facts">
              {example.since && (
                <span>
                  {lasting} <HowLong since={example.since} />
                </span>
              )}
              <span>
                {words.column.lastGood}: <When time={example.last_good_at} none={words.overview.neverGood} />
              </span>
              {example.job_id && (
                <span>
                  <Link to={pathTo('job', example.job_id)}>{words.job.short(example.job_id)}</Link>
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </article>
  );
}
