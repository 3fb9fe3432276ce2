/** Disconnects a source after a confirmation. Delivered data is kept. */
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import { RequestFailure } from '../api/failure.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { useAction } from '../sources/use-action.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';

export function DisconnectSource({ source }: { source: SourceSummary }) {
  const words = useWords().disconnect;
  const { cancel } = useWords();
  const { api, host, announce, change, withoutLooks, goHome } = useWidget();
  const { id, name, summarized_source_template: template } = source;
  const [isAsking, setAsking] = useState(false);
  const disconnect = useAction(async (signal) => {
    // A refresh before the answer would find the source gone and close this screen.
    await withoutLooks(async () => {
      await endSource(api, id, signal);
      change((now) => ({ ...now, sources: now.sources.filter((known) => known.id !== id) }));
    });
    host.tell({ type: 'source_deleted', source: { id, name, source_template_id: template.id } });
    goHome();
    announce(words.done(name));
  });
  return (
    <section class="inlay-danger-zone" aria-labelledby="inlay-disconnect">
      <div>
        <h2 id="inlay-disconnect">{words.heading}</h2>
        <p>{words.text}</p>
      </div>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {words.open}
      </Button>
      {isAsking && (
        <Dialog
          title={words.title(name)}
          confirm={disconnect.isRunning ? words.confirming : words.confirm}
          dismiss={cancel}
          isBusy={disconnect.isRunning}
          onConfirm={disconnect.run}
          onDismiss={() => {
            disconnect.forget();
            setAsking(false);
          }}
        >
          <p>{words.text}</p>
          {disconnect.error !== undefined && <FailureNotice error={disconnect.error} takesFocus />}
        </Dialog>
      )}
    </section>
  );
}

/** The service records a deletion before calling the platform, so a source that is no longer listed is gone despite an error. */
async function endSource(api: Api, id: string, signal: AbortSignal): Promise<void> {
  try {
    await api.deleteSource(id, signal);
  } catch (error) {
    if (!(error instanceof RequestFailure)) throw error;
    if (error.kind === 'not_found') return;
    if (!error.isAmbiguous) throw error;
    const listed = await api.listSources(signal);
    if (listed.some((source) => source.id === id)) throw error;
  }
}
