/** The syncs of a source: destination, schedule, results, and a button to sync now. */
import type { Connection } from '@inlay/contract/pipelines/connections';
import type { Health } from '@inlay/contract/pipelines/health';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { RequestFailure } from '../api/failure.ts';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { HowLong, Moment } from '../parts/moment.tsx';
import { isBroken, isOngoing } from '../sources/progress.ts';
import { useAction } from '../sources/use-action.ts';
import { useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords } from '../words/words.ts';
import { ConnectionChoice } from './connection-choice.tsx';
import { JobHistory } from './job-history.tsx';

export function SourceActivity({ source, connections }: { source: SourceSummary; connections: readonly Connection[] }) {
  const words = useWords();
  const { pipelines } = useWidget();
  if (pipelines.connections === undefined) return <Notice kind="warning">{words.list.statusUnknown}</Notice>;
  if (connections.length === 0) {
    const text = { pending: words.source.pending, failed: words.source.noHistory, ready: words.source.nothingSynced };
    return <p class="inlay-text">{text[source.status]}</p>;
  }
  return (
    <>
      {connections.map((connection) => (
        <ConnectionPanel connection={connection} key={connection.id} />
      ))}
    </>
  );
}

function ConnectionPanel({ connection }: { connection: Connection }) {
  const words = useWords();
  const { api, formatting, announce, change, look } = useWidget();
  const { id, status, status_message, status_reason, health, last_run: run, next_run_at } = connection;
  const headingId = `inlay-connection-${id}`;

  const sync = useAction(async (signal) => {
    try {
      const started = await api.startSync(id, signal);
      change((now) => ({
        ...now,
        connections: now.connections?.map((known) => (known.id === id ? { ...known, last_run: started } : known)),
      }));
      announce(words.source.syncStarted);
    } finally {
      // A refusal means that the state has changed, so look again in either case.
      look();
    }
  });
  const cancel = useAction(async (signal) => {
    try {
      const cancelled = await api.cancelSync(id, signal);
      change((now) => ({
        ...now,
        connections: now.connections?.map((known) => (known.id === id ? { ...known, last_run: cancelled } : known)),
      }));
      announce(words.source.syncCancelled);
    } catch (error) {
      // The sync has already ended; the new state shows how.
      if (!(error instanceof RequestFailure && error.kind === 'conflict')) throw error;
    } finally {
      look();
    }
  });
  const isRunning = run !== null && isOngoing(run);
  const rows = run?.rows == null ? undefined : words.rows(run.rows, formatting.number(run.rows));
  const isRefused = sync.error instanceof RequestFailure && sync.error.kind === 'conflict';
  return (
    <section class="inlay-panel" aria-labelledby={headingId}>
      <div class="inlay-panel-head">
        <div>
          <h2 id={headingId}>{words.source.syncTo(connection.destination_name)}</h2>
          <p class="inlay-facts">
            {isBroken(health) && <Failing health={health} />}
            {!isBroken(health) && isRunning && rows && run.rows !== 0 && <span>{words.connected.syncing(rows)}</span>}
            {!isRunning && run?.ended_at && <Moment time={run.ended_at} tense="past" say={words.list.lastSync} />}
            {!run && status === 'active' && <span>{words.list.notSynced}</span>}
            {!isRunning && next_run_at && <Moment time={next_run_at} tense="future" say={words.list.nextSync} />}
          </p>
        </div>
        {status === 'active' && (
          <div class="inlay-actions">
            <Button glyph="sync" isBusy={sync.isRunning || isRunning} onClick={sync.run}>
              {isRunning ? words.source.syncing : words.source.syncNow}
            </Button>
            {isRunning && (
              <Button isBusy={cancel.isRunning} onClick={cancel.run}>
                {words.source.cancelSync}
              </Button>
            )}
          </div>
        )}
      </div>
      {status === 'inactive' && (
        <Notice kind="warning">
          {reasonInWords(
            status_reason ?? health.paused_reason,
            status_message ?? health.paused_because,
            words,
            formatting,
          ) ?? words.source.paused}
        </Notice>
      )}
      {status === 'pending' && <Notice>{words.source.pending}</Notice>}
      {status === 'failed' && (
        <Notice kind="danger" title={words.source.failed}>
          <p class="inlay-quoted">
            {reasonInWords(status_reason, status_message, words, formatting) ?? words.source.failedWithoutReason}
          </p>
        </Notice>
      )}
      {isRefused
        ? status === 'active' && !isRunning && <Notice kind="warning">{words.source.notReady}</Notice>
        : sync.error !== undefined && <FailureNotice error={sync.error} takesFocus />}
      {cancel.error !== undefined && <FailureNotice error={cancel.error} takesFocus />}
      <ConnectionChoice connection={connection} />
      <JobHistory connection={connection} />
    </section>
  );
}

function Failing({ health: { since, trying_again } }: { health: Health }) {
  const { failing, failingFor, tryingAgain } = useWords().source;
  const say = (text: string) => (trying_again ? tryingAgain(text) : text);
  return since === null ? <span>{say(failing)}</span> : <HowLong since={since} say={(time) => say(failingFor(time))} />;
}
