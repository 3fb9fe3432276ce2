/** Rollouts of changes and their progress. */
import type { Rollout } from '@inlay/contract/catalog/rollouts';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Panel } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { type Kind, routesOf } from './kinds.ts';
import { words } from './words.ts';

type Command = 'pause' | 'resume' | 'stop';
const commandsIn: Record<Rollout['state'], readonly Command[]> = {
  running: ['pause', 'stop'],
  paused: ['resume', 'stop'],
  stopped: [],
  finished: [],
};

export function Rollouts({ kind, id: templateId }: { kind: Kind; id: string }) {
  const { mayWrite } = useConsole();
  const { data, error, reload } = useAnswer(
    requestTo(`GET ${routesOf[kind].template}/rollouts`, { ids: [templateId] }),
    { live: () => true },
  );
  const columns: Column<Rollout>[] = [
    { title: words.version, cell: ({ version }) => formatting.number(version) },
    {
      title: common.column.status,
      cell: ({ state, state_reason }) => (
        <span>
          {words.states[state]}
          {state_reason && <span class="c-muted"> · {state_reason}</span>}
        </span>
      ),
    },
    { title: words.progress, isWide: true, cell: (rollout) => <Progress rollout={rollout} /> },
    { title: common.column.started, cell: ({ created_at }) => <When time={created_at} /> },
    ...(mayWrite
      ? [
          {
            title: common.column.actions,
            cell: ({ id, state }: Rollout) => (
              <span class="c-tools">
                {commandsIn[state].map((command) => (
                  <RequestButton
                    label={words.commands[command]}
                    request={requestTo(`POST ${routesOf[kind].rollout}/${command}`, { ids: [templateId, id] })}
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
  const { total, waiting, changing, failed } = workspaces;
  const past = total - waiting - changing;
  const text = words.progressOf(past, total);
  return (
    <span>
      {total > 0 && <progress class="c-progress" value={past} max={total} aria-label={text} />}
      <span>{text}</span>
      {failed > 0 && <span class="c-danger"> · {words.failed(failed)}</span>}
    </span>
  );
}
