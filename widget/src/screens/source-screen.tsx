/** One source: its activity and settings. Entries in one part survive while the other is shown. */
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { Tabs } from '@inlay/ui/parts/tabs.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useDiscardGuard } from '../parts/discard-guard.tsx';
import { Screen } from '../parts/screen.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { isSignInEnded, SignInAgain } from '../sign-in/lazy.tsx';
import { connectionsOf, stateOf } from '../sources/progress.ts';
import { type SourcePart, useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords } from '../words/words.ts';
import { SourceActivity } from './source-activity.tsx';
import { SourceSettings } from './source-settings.tsx';

export function SourceScreen({ source, part: firstPart = 'activity' }: { source: SourceSummary; part?: SourcePart }) {
  const words = useWords();
  const { pipelines, formatting, go } = useWidget();
  const { sources } = pipelines;
  const guard = useDiscardGuard();
  const [part, setPart] = useState(firstPart);
  const [wasOpened, setOpened] = useState(part === 'settings');
  useEffect(() => {
    if (part === 'settings') setOpened(true);
  }, [part]);
  const { summarized_source_template: template } = source;
  const connections = connectionsOf(pipelines, source.id);
  // Latched, so that the customer still sees the notice after signing in.
  const hasEnded = useRef(false);
  hasEnded.current ||= isSignInEnded(source, connections);
  // The panel of a connection that was not set up has its own notice.
  const attention = [source, ...connections.filter(({ status }) => status !== 'failed')]
    .map(({ health }) => health.attention)
    .find((one) => one?.by === 'customer');
  const problem =
    source.status === 'failed'
      ? (reasonInWords(source.status_reason, source.status_message, words, formatting) ??
        words.source.failedWithoutReason)
      : attention &&
        !hasEnded.current &&
        (reasonInWords(attention, attention.what, words, formatting) ?? words.check.next);
  const label = words.choose.yourSources(sources.length, formatting.number(sources.length));
  return (
    <Screen
      name="source"
      title={source.name}
      icon={<SourceIcon icon={template.icon} name={template.name} size="large" />}
      lead={template.name === source.name ? undefined : template.name}
      status={<StateBadge state={stateOf(source, connections)} />}
      back={{ label, onClick: () => guard.leave(() => go({ screen: 'list' })) }}
    >
      {hasEnded.current && <SignInAgain source={source} />}
      {problem && (
        <Notice
          kind="danger"
          title={words.source.failed}
          actions={
            part === 'activity' && <Button onClick={() => setPart('settings')}>{words.source.reviewSettings}</Button>
          }
        >
          <p class="inlay-quoted">{problem}</p>
        </Notice>
      )}
      <Tabs<SourcePart>
        id="inlay-source"
        label={words.source.parts}
        selected={part}
        onSelect={setPart}
        tabs={[
          {
            key: 'activity',
            title: words.source.activity,
            content: <SourceActivity source={source} connections={connections} />,
          },
          {
            key: 'settings',
            title: words.source.settings,
            content: (wasOpened || part === 'settings') && (
              <SourceSettings source={source} setChanged={guard.setChanged} />
            ),
          },
        ]}
      />
      {guard.dialog}
    </Screen>
  );
}
