/** How far each change is on its way to the customers. */
import type { Rollout } from '@inlay/contract/rollouts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { counted } from '../../words/counted.ts';
import { useWords } from '../../words/words.ts';
import { templatesWords } from './words.ts';

type Command = 'pause' | 'resume' | 'stop';
const commandsIn: Record<Rollout['state'], readonly Command[]> = {
  running: ['pause', 'stop'],
  paused: ['resume', 'stop'],
  stopped: [],
  finished: [],
};

export function Rollouts({ path }: { path: string }) {
  const words = templatesWords.get();
  const common = useWords();
  const { mayWrite } = useConsole();
  const { data, error, reload } = useAnswer<{ data: Rollout[] }>(
    { method: 'GET', path: `${path}/rollouts` },
    { live: () => true },
  );
  const columns: Column<Rollout>[] = [
    { title: words.version, cell: ({ version }) => words.toVersion(String(version)) },
    {
      title: common.column.status,
      cell: ({ state, state_reason }) => (
        <span>
          {words.states[state]}
          {state_reason && <span class="c-muted"> · {state_reason}</span>}
        </span>
      ),
    },
    { title: words.uses, isWide: true, cell: (rollout) => <Progress rollout={rollout} /> },
    { title: common.column.started, cell: ({ created_at }) => <When time={created_at} /> },
    ...(mayWrite
      ? [
          {
            title: common.customer.actions,
            cell: ({ id, state }: Rollout) => (
              <span class="c-tools">
                {commandsIn[state].map((command) => (
                  <RequestButton
                    label={words.commands[command]}
                    request={{ method: 'POST', path: `${path}/rollouts/${id}/${command}` }}
                    onDone={reload}
                    key={command}
                  />
                ))}
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <Panel title={words.rollouts}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={2} />}
      {data?.data.length === 0 && <p class="c-panel-text c-muted">{words.noRollouts}</p>}
      {data && data.data.length > 0 && (
        <Table label={words.rollouts} rows={data.data} columns={columns} idOf={({ id }) => id} />
      )}
    </Panel>
  );
}

function Progress({ rollout: { workspaces } }: { rollout: Rollout }) {
  const words = templatesWords.get();
  const { formatting } = useConsole();
  const { total, waiting, changing, failed } = workspaces;
  const past = total - waiting - changing;
  const text = words.progress(counted(formatting, past), counted(formatting, total));
  return (
    <span>
      {total > 0 && <progress class="c-progress" value={past} max={total} aria-label={text} />}
      <span>{text}</span>
      {failed > 0 && <span class="c-danger"> · {words.failed(formatting.number(failed))}</span>}
    </span>
  );
}
