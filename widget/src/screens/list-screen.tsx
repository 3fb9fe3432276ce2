/** All connected sources with their states. */
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { Moment } from '../parts/moment.tsx';
import { Screen } from '../parts/screen.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { isSignInEnded } from '../sign-in/lazy.tsx';
import { connectionsOf, isOngoing, stateOf, summarize } from '../sources/progress.ts';
import { useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords } from '../words/words.ts';

export function ListScreen() {
  const words = useWords();
  const { offers, pipelines, go } = useWidget();
  return (
    <Screen
      name="list"
      title={words.list.title}
      actions={
        offers.length > 0 && (
          <Button kind="primary" glyph="plus" onClick={() => go({ screen: 'choose' })}>
            {words.list.add}
          </Button>
        )
      }
    >
      {pipelines.connections === undefined && <Notice kind="warning">{words.list.statusUnknown}</Notice>}
      <ul class="inlay-rows" aria-label={words.list.title}>
        {pipelines.sources.map((source) => (
          <li key={source.id}>
            <SourceRow source={source} />
          </li>
        ))}
      </ul>
    </Screen>
  );
}

function SourceRow({ source }: { source: SourceSummary }) {
  const words = useWords();
  const { pipelines, formatting, go } = useWidget();
  const { name, summarized_source_template: template } = source;
  const connections = connectionsOf(pipelines, source.id);
  const state = stateOf(source, connections);
  const failed = source.status_message === null ? connections.find(({ status }) => status === 'failed') : source;
  const reason = isSignInEnded(source, connections)
    ? words.signInEnded
    : reasonInWords(failed?.status_reason, failed?.status_message, words, formatting);
  return (
    <button type="button" class="inlay-row" onClick={() => go({ screen: 'source', sourceId: source.id })}>
      <SourceIcon icon={template.icon} name={template.name} />
      <span class="inlay-row-text">
        <span class="inlay-row-name">{name}</span>
        <span class="inlay-row-facts">
          {state === 'failed' && reason ? (
            <span class="inlay-row-reason">{reason}</span>
          ) : (
            <SyncFacts source={source} />
          )}
        </span>
      </span>
      <StateBadge state={state} />
      <Glyph name="chevron" />
    </button>
  );
}

function SyncFacts({ source }: { source: SourceSummary }) {
  const words = useWords();
  const { pipelines, formatting } = useWidget();
  if (pipelines.connections === undefined) return null;
  const { lastRun, rows, nextRunAt } = summarize(connectionsOf(pipelines, source.id));
  const count = rows === undefined ? undefined : words.rows(rows, formatting.number(rows));
  if (lastRun && isOngoing(lastRun)) {
    return <span>{count && rows !== 0 ? words.connected.syncing(count) : words.connected.waiting}</span>;
  }
  return (
    <>
      {lastRun ? (
        <Moment time={lastRun.ended_at ?? lastRun.started_at} tense="past" say={words.list.lastSync} />
      ) : (
        <span>{words.list.notSynced}</span>
      )}
      {count && <span>{count}</span>}
      {nextRunAt && <Moment time={nextRunAt} tense="future" say={words.list.nextSync} />}
    </>
  );
}
