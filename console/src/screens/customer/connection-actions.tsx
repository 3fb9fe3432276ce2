/** Actions on one connection: sync, pause, resume. */
import type { OperatorConnection } from '@inlay/contract/pipelines/operating';
import { Button } from '@inlay/ui/parts/button.tsx';
import { type ApiRequest, requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useAction } from '../../parts/use-action.ts';
import { words } from '../../words/words.ts';

export function ConnectionActions({ connection, onChanged }: { connection: OperatorConnection; onChanged(): void }) {
  const { announce, mayWrite } = useConsole();
  const action = useAction();
  const isPaused = connection.status === 'inactive';
  const sync: ApiRequest = requestTo('POST /integrations/connections/{connection_id}/sync', { ids: [connection.id] });
  const pause: ApiRequest = requestTo('PATCH /integrations/connections/{connection_id}', {
    ids: [connection.id],
    body: { status: isPaused ? 'active' : 'inactive' },
  });
  const run = (request: ApiRequest, said: string) =>
    action.run(request, () => {
      announce(said);
      onChanged();
    });
  if (!mayWrite) return <span class="c-muted">{words.none}</span>;
  const label = (what: string) => `${what}: ${connection.name}`;
  return (
    <div class="c-row-actions">
      <span class="c-pair">
        <Button
          label={label(words.customer.syncNow)}
          isBusy={action.isBusy}
          onClick={() => run(sync, words.customer.syncStarted)}
        >
          {words.customer.syncNow}
        </Button>
        <CurlButton request={sync} what={label(words.customer.syncNow)} />
      </span>
      <span class="c-pair">
        <Button
          kind="quiet"
          label={label(isPaused ? words.customer.resume : words.customer.pause)}
          isBusy={action.isBusy}
          onClick={() => run(pause, isPaused ? words.customer.resumed : words.customer.paused)}
        >
          {isPaused ? words.customer.resume : words.customer.pause}
        </Button>
        <CurlButton request={pause} what={label(isPaused ? words.customer.resume : words.customer.pause)} />
      </span>
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </div>
  );
}
