/** Shown after connecting a source: its set-up and its first sync. */

import type { Connection } from '@inlay/contract/pipelines/connections';
import type { CheckWarning, SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import { CheckWarnings } from '../parts/check-warnings.tsx';
import { Moment } from '../parts/moment.tsx';
import { Screen } from '../parts/screen.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { type Step, Steps } from '../parts/steps.tsx';
import { connectionsOf, isOngoing } from '../sources/progress.ts';
import { useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords, type Words } from '../words/words.ts';

export function ConnectedScreen({ source, warnings }: { source: SourceSummary; warnings: CheckWarning[] }) {
  const words = useWords();
  const { pipelines, offers, formatting, go, announce } = useWidget();
  const connections = connectionsOf(pipelines, source.id);
  const isUnknown = pipelines.connections === undefined;
  const title = titleOf(source, words);
  // Until the source is ready, its connections have no state to show.
  const outcome = (source.status === 'ready' ? connections : []).map((connection) =>
    outcomeOf(connection, words, formatting),
  );
  const firstSync = firstSyncState(source, connections, isUnknown);
  // The row count changes every second, so it is not announced.
  const said = [
    title,
    ...connections.map(({ last_run: run }) => (run && !isOngoing(run) ? words.jobs[run.status] : '')),
  ];
  useEffect(() => announce(said.filter(Boolean).join('. ')), [said.join()]);

  const connecting: Record<SourceSummary['status'], Step> = {
    pending: { title: words.steps.connecting, state: 'active' },
    ready: { title: words.steps.connected, state: 'done' },
    failed: {
      title: words.steps.connect,
      state: 'failed',
      detail: reasonInWords(source.status_reason, source.status_message, words, formatting),
    },
  };
  const steps: Step[] = [
    { title: words.steps.checked, state: 'done' },
    connecting[source.status],
    ...(firstSync === undefined
      ? []
      : [
          {
            title: words.steps.firstSync,
            state: firstSync,
            detail: isUnknown ? words.connected.unknown : outcome.length > 0 && <Outcomes outcomes={outcome} />,
          } satisfies Step,
        ]),
  ];
  const isSettled = source.status === 'ready' && !isUnknown && connections.length === 0;
  return (
    <Screen
      name="connected"
      title={title}
      icon={
        <span class="inlay-connected-icon">
          <SourceIcon
            icon={source.summarized_source_template.icon}
            name={source.summarized_source_template.name}
            size="large"
          />
          {source.status === 'ready' && (
            <span class="inlay-connected-mark">
              <Glyph name="check" />
            </span>
          )}
        </span>
      }
    >
      <div class="inlay-panel">
        <Steps steps={steps} />
      </div>
      <CheckWarnings warnings={warnings} />
      {isSettled ? (
        <p class="inlay-text">{words.connected.nothingSynced}</p>
      ) : source.status === 'failed' ? (
        <Notice kind="danger" title={words.source.failed}>
          <p>{words.source.failedWithoutReason}</p>
        </Notice>
      ) : (
        firstSync === 'active' && <p class="inlay-text">{words.connected.leave}</p>
      )}
      <div class="inlay-actions">
        {source.status === 'failed' ? (
          <Button kind="primary" onClick={() => go({ screen: 'source', sourceId: source.id, part: 'settings' })}>
            {words.connected.openSettings}
          </Button>
        ) : (
          <Button kind="primary" onClick={() => go({ screen: 'list' })}>
            {words.connected.done}
          </Button>
        )}
        {offers.length > 0 && <Button onClick={() => go({ screen: 'choose' })}>{words.connected.another}</Button>}
      </div>
    </Screen>
  );
}

function titleOf({ name, status }: SourceSummary, { connected }: Words): string {
  if (status === 'ready') return connected.title(name);
  return status === 'failed' ? connected.failedTitle(name) : connected.pendingTitle(name);
}

/** Undefined if nothing is synced. */
function firstSyncState(
  { status }: SourceSummary,
  connections: readonly Connection[],
  isUnknown: boolean,
): Step['state'] | undefined {
  if (status !== 'ready') return 'waiting';
  if (isUnknown) return 'waiting';
  if (connections.length === 0) return undefined;
  const runs = connections.flatMap(({ last_run }) => last_run ?? []);
  if (runs.some(isOngoing)) return 'active';
  if (connections.some(({ status, last_run: run }) => status === 'failed' || run?.status === 'failed')) return 'failed';
  return runs.length < connections.length ? 'waiting' : 'done';
}

interface Outcome {
  id: string;
  destination: string;
  text: ComponentChild;
  error: string | null;
}

function outcomeOf(connection: Connection, words: Words, formatting: Formatting): Outcome {
  const { id, destination_name: destination, last_run: run, status, status_message, status_reason } = connection;
  const { connected } = words;
  const text = (): ComponentChild => {
    const rows = run?.rows == null ? undefined : words.rows(run.rows, formatting.number(run.rows));
    if (run && isOngoing(run)) return rows && run.rows !== 0 ? connected.syncing(rows) : connected.waiting;
    if (run?.status === 'succeeded') return rows ? connected.synced(rows) : connected.syncedWithoutCount;
    if (status === 'failed' || run?.status === 'failed') return connected.syncFailed;
    if (run) return connected.syncCancelled;
    if (status === 'inactive') return connected.paused;
    if (connection.next_run_at)
      return <Moment time={connection.next_run_at} tense="future" say={connected.atNextRun} />;
    return connected.byHand;
  };
  return {
    id,
    destination,
    text: text(),
    error:
      run?.status === 'failed'
        ? reasonInWords(run.error_reason, run.error, words, formatting)
        : reasonInWords(status_reason, status_message, words, formatting),
  };
}

function Outcomes({ outcomes }: { outcomes: readonly Outcome[] }) {
  return (
    <ul class="inlay-outcomes">
      {outcomes.map(({ id, destination, text, error }) => (
        <li key={id}>
          <span class="inlay-outcome-name">{destination}</span>
          <span class="inlay-outcome-text">{text}</span>
          {error && <p class="inlay-quoted inlay-outcome-error">{error}</p>}
        </li>
      ))}
    </ul>
  );
}
