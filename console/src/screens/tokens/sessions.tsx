/** Console sessions. Admins can end them. */
import type { ConsoleSession } from '@inlay/contract/tenancy/console';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

export function Sessions() {
  const { isAdmin, session: own, announce } = useConsole();
  const { data, error, reload } = useAnswer(requestTo('GET /console-sessions'));
  const [asked, setAsked] = useState<ConsoleSession | undefined>(undefined);
  const columns: Column<ConsoleSession>[] = [
    {
      title: words.who,
      isWide: true,
      cell: ({ id, label }) => (
        <>
          {label} {id === own.id && <span class="c-muted">({words.you})</span>}
        </>
      ),
    },
    { title: words.how, cell: ({ kind }) => words.kinds[kind] },
    { title: words.role, cell: ({ permission }) => common.shell.roles[permission] },
    { title: words.since, cell: ({ created_at }) => <When time={created_at} /> },
    { title: words.lastUsed, cell: ({ last_used_at }) => <When time={last_used_at} /> },
    { title: words.ends, cell: ({ expires_at }) => <When time={expires_at} tense="future" /> },
    ...(isAdmin
      ? [
          {
            title: common.column.actions,
            cell: (session: ConsoleSession) => (
              <Button kind="danger" label={`${words.end}: ${session.label}`} onClick={() => setAsked(session)}>
                {words.end}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Panel title={words.sessions}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && <Table label={words.sessions} rows={data.data} columns={columns} idOf={({ id }) => id} />}
      {asked && (
        <RequestDialog
          title={words.endOf(asked.label)}
          text={words.endText}
          label={words.end}
          kind="danger"
          request={requestTo('DELETE /console-sessions/{console_session_id}', { ids: [asked.id] })}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            announce(words.ended);
            reload();
          }}
        />
      )}
    </Panel>
  );
}
