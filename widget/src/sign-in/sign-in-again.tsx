/** Signs in again for a source whose sign-in has ended; the source is kept. */
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useState } from 'preact/hooks';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { summaryOf } from '../sources/progress.ts';
import { useAction } from '../sources/use-action.ts';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';
import type { SignInWords } from './sign-in-en.ts';
import { SignInField } from './sign-in-field.tsx';

export function SignInAgain({ source, words }: { source: SourceSummary; words: SignInWords }) {
  const common = useWords();
  const { api, host, change, look } = useWidget();
  const loaded = useLoaded(source.id, (signal) => api.getSource(source.id, signal));
  const [isDone, setDone] = useState(false);
  const finish = useAction(async (signal, credentialId: string) => {
    if (credentialId !== loaded.value?.credential_id) {
      const saved = await api.updateSource(source.id, { credential_id: credentialId }, signal);
      change((now) => ({
        ...now,
        sources: now.sources.map((known) => (known.id === saved.id ? summaryOf(saved) : known)),
      }));
    }
    setDone(true);
    const { id, name, summarized_source_template: template } = source;
    host.tell({ type: 'source_updated', source: { id, name, source_template_id: template.id } });
    look();
  });
  if (isDone) return <Notice kind="success" title={words.restored} takesFocus />;
  const { oauth } = loaded.value ?? {};
  return (
    <>
      <Notice kind="danger" title={words.endedTitle}>
        <p>{words.endedText(oauth?.provider ?? source.summarized_source_template.name)}</p>
      </Notice>
      {loaded.error !== undefined && (
        <FailureNotice error={loaded.error} actions={<Button onClick={loaded.reload}>{common.tryAgain}</Button>} />
      )}
      {finish.error !== undefined && <FailureNotice error={finish.error} takesFocus />}
      {oauth && (
        <SignInField
          id="inlay-sign-in-again"
          words={words}
          oauth={loaded.value?.credential_id ? { ...oauth, values: [] } : oauth}
          template={source.summarized_source_template}
          sourceId={source.id}
          label={words.again}
          onConnected={({ credentialId }) => finish.run(credentialId)}
        />
      )}
    </>
  );
}
