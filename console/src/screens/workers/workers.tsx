/** The machines that run syncs: what they do, and their enrolment. */
import type { Worker, WorkerState, WorkerWithToken } from '@inlay/contract/pipelines/workers';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName } from '@inlay/ui/parts/glyph.tsx';
import { useEffect, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { EnrolWorker, StartWorker } from './enrol.tsx';
import { words } from './words.ts';

type Asked = { what: 'enrol' } | { what: 'drain' | 'resume' | 'revoke'; worker: Worker };

/** Workers come and go without an event. */
const everyMs = 10_000;

export function WorkersScreen() {
  const { isAdmin, live, announce } = useConsole();
  const { data, error, reload } = useAnswer(requestTo('GET /integrations/workers'));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!live.isPaused() && document.visibilityState === 'visible') reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [live, reload]);
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const [made, setMade] = useState<WorkerWithToken | undefined>(undefined);
  const close = () => setAsked(undefined);
  const onDone = (said: string) => () => {
    close();
    announce(said);
    reload();
  };
  return (
    <Page
      title={words.title}
      beside={
        isAdmin &&
        data && (
          <Button kind="primary" glyph="plus" onClick={() => setAsked({ what: 'enrol' })}>
            {words.enrol}
          </Button>
        )
      }
    >
      <Panel title={words.machines}>
        {error && <ErrorNotice error={error} onTryAgain={reload} />}
        {!data && !error && <Bones />}
        {data?.data.length === 0 && (
          <Empty title={words.none}>
            <p class="c-muted">{words.noneText}</p>
          </Empty>
        )}
        {data && data.data.length > 0 && <WorkerTable workers={data.data} onAsk={setAsked} />}
      </Panel>
      {asked?.what === 'enrol' && (
        <EnrolWorker
          onMade={(enrolled) => {
            close();
            setMade(enrolled);
            reload();
          }}
          onClose={close}
        />
      )}
      {asked?.what === 'drain' && (
        <RequestDialog
          title={words.drainOf(asked.worker.name)}
          text={words.drainText}
          label={words.drain}
          request={requestTo('POST /integrations/workers/{worker_id}/drain', { ids: [asked.worker.id], body: {} })}
          onClose={close}
          onDone={onDone(words.drained)}
        />
      )}
      {asked?.what === 'resume' && (
        <RequestDialog
          title={words.resumeOf(asked.worker.name)}
          label={words.resume}
          request={requestTo('POST /integrations/workers/{worker_id}/drain', {
            ids: [asked.worker.id],
            body: { drain: false },
          })}
          onClose={close}
          onDone={onDone(words.resumed)}
        />
      )}
      {asked?.what === 'revoke' && (
        <RequestDialog
          title={words.revokeOf(asked.worker.name)}
          text={asked.worker.reusable ? words.revokeReusableText : words.revokeText}
          label={words.revoke}
          kind="danger"
          request={requestTo('DELETE /integrations/workers/{worker_id}', { ids: [asked.worker.id] })}
          onClose={close}
          onDone={onDone(words.revoked)}
        />
      )}
      {made && <StartWorker made={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}

function WorkerTable({ workers, onAsk }: { workers: readonly Worker[]; onAsk(asked: Asked): void }) {
  const { isAdmin } = useConsole();
  const columns: Column<Worker>[] = [
    {
      title: words.name,
      isWide: true,
      cell: (worker) => (
        <>
          {worker.name} <Marks worker={worker} />
        </>
      ),
    },
    { title: words.state, cell: (worker) => <StateBadge worker={worker} /> },
    {
      title: words.slots,
      cell: ({ slots, free_slots }) =>
        slots === 0 ? <span class="c-muted">{common.none}</span> : words.used(slots - free_slots, slots),
    },
    { title: words.running, isName: true, cell: ({ running }) => <Running running={running} /> },
    { title: words.version, cell: ({ version }) => version ?? <span class="c-muted">{common.none}</span> },
    { title: words.lastSeen, cell: ({ last_seen_at }) => <When time={last_seen_at} /> },
    ...(isAdmin
      ? [
          {
            title: common.column.actions,
            cell: (worker: Worker) => <Actions worker={worker} onAsk={onAsk} />,
          },
        ]
      : []),
  ];
  return <Table label={words.machines} rows={workers} columns={columns} idOf={({ id }) => id} />;
}

function Actions({ worker, onAsk }: { worker: Worker; onAsk(asked: Asked): void }) {
  const { name, state, reusable } = worker;
  if (state === 'revoked') return <span class="c-muted">{common.none}</span>;
  return (
    <span class="c-pair">
      {state === 'draining' && (
        <Button label={words.resumeOf(name)} onClick={() => onAsk({ what: 'resume', worker })}>
          {words.resume}
        </Button>
      )}
      {state === 'online' && !reusable && (
        <Button label={words.drainOf(name)} onClick={() => onAsk({ what: 'drain', worker })}>
          {words.drain}
        </Button>
      )}
      <Button kind="danger" label={words.revokeOf(name)} onClick={() => onAsk({ what: 'revoke', worker })}>
        {words.revoke}
      </Button>
    </span>
  );
}

/** What was decided when the worker was enrolled. */
function Marks({ worker }: { worker: Worker }) {
  const marks = [
    ...Object.entries(worker.labels).map(([name, value]) => `${name}=${value}`),
    ...(worker.workspace_ids ? [words.limited(worker.workspace_ids.length)] : []),
    ...(worker.trusted ? [words.isTrusted] : []),
    ...(worker.allow_private_networks ? [words.hasPrivateNetworks] : []),
  ];
  if (marks.length === 0) return null;
  return (
    <span class="c-tags">
      {marks.map((mark) => (
        <span class="c-tag" key={mark}>
          {mark}
        </span>
      ))}
    </span>
  );
}

function Running({ running }: Pick<Worker, 'running'>) {
  const known = running.flatMap(({ job_id, workspace_name }) => (job_id === null ? [] : [{ job_id, workspace_name }]));
  const others = running.length - known.length;
  if (running.length === 0) return <span class="c-muted">{common.none}</span>;
  return (
    <span>
      {known.map(({ job_id, workspace_name }, index) => (
        <span key={job_id}>
          {index > 0 && ', '}
          <Link to={pathTo('job', job_id)}>{workspace_name ?? words.job}</Link>
        </span>
      ))}
      {others > 0 && (
        <span class="c-muted">
          {known.length > 0 && ', '}
          {words.others(others)}
        </span>
      )}
    </span>
  );
}

const looks: Record<WorkerState, { kind: string; glyph: GlyphName }> = {
  waiting: { kind: 'neutral', glyph: 'clock' },
  online: { kind: 'success', glyph: 'check' },
  draining: { kind: 'warning', glyph: 'pause' },
  offline: { kind: 'danger', glyph: 'alert' },
  revoked: { kind: 'neutral', glyph: 'close' },
};

function StateBadge({ worker: { state, reusable } }: { worker: Worker }) {
  const { kind, glyph } = looks[state];
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      <Glyph name={glyph} />
      {state === 'waiting' && reusable ? words.reusableState : words.states[state]}
    </span>
  );
}
