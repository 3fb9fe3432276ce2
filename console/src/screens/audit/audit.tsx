/** The audit log, newest first, and one entry with its changes. */
import type { AuditEvent } from '@inlay/contract/log/audit';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { requestTo, searchOf } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { auditGroups } from '../../parts/event-types.ts';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { Choice, Filters } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { useBackwards } from '../../parts/tables/use-backwards.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { basePath, type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { type Change, changesOf } from './changes.ts';
import { words } from './words.ts';

export function AuditScreen({ place }: { place: Place }) {
  return place.id ? <OneEntry position={Number(place.id) || 0} /> : <Trail place={place} />;
}

function Trail({ place }: { place: Place }) {
  const asked = (name: string) => place.query.get(name) ?? undefined;
  const filters = {
    types: asked('types'),
    outcome: asked('outcome'),
    actor: asked('actor'),
    workspace_id: asked('workspace_id'),
  };
  const pages = useBackwards('GET /audit-events', filters);
  const columns: Column<AuditEvent>[] = [
    {
      title: words.type,
      isWide: true,
      cell: ({ position, type }) => <Link to={pathTo('audit', String(position))}>{type}</Link>,
    },
    { title: words.who, isName: true, cell: (entry) => <Who entry={entry} /> },
    { title: words.what, cell: (entry) => <About entry={entry} /> },
    { title: words.outcome, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
    { title: words.when, cell: ({ timestamp }) => <When time={timestamp} /> },
  ];
  return (
    <Page
      title={words.title}
      beside={
        <div class="c-tools">
          {(['jsonl', 'csv'] as const).map((format) => (
            <span class="c-pair" key={format}>
              <a
                class="inlay-button inlay-button-secondary"
                href={`${basePath}api/v1/audit-events/export${searchOf({ format, ...filters })}`}
                download
              >
                <span>{words.exportAs(format.toUpperCase())}</span>
              </a>
              <CurlButton
                request={requestTo('GET /audit-events/export', { query: { format, ...filters } })}
                what={words.exportAs(format.toUpperCase())}
              />
            </span>
          ))}
        </div>
      }
    >
      <Filters place={place}>
        <Choice place={place} name="types" label={words.type} options={auditGroups} all={common.list.all} />
        <Choice place={place} name="outcome" label={words.outcome} options={words.outcomes} all={common.list.all} />
        <Choice place={place} name="actor" label={words.who} options={actorOptions} all={common.list.all} />
      </Filters>
      <PagedTable
        label={words.title}
        pages={pages}
        columns={columns}
        idOf={({ id }) => id}
        empty={place.query.size === 0 ? words.nothing : undefined}
      />
    </Page>
  );
}

const { actors } = common.customer;
const actorOptions = Object.fromEntries(
  Object.entries(actors).map(([kind, name]) => [kind, name.charAt(0).toUpperCase() + name.slice(1)]),
);

function Who({ entry: { actor } }: { entry: AuditEvent }) {
  const kind = actors[actor.kind as keyof typeof actors] ?? actor.kind;
  return actor.name ? (
    <span>
      {actor.name} <span class="c-muted">({kind})</span>
    </span>
  ) : (
    <span>{kind}</span>
  );
}

function About({ entry: { workspace_id, workspace_name } }: { entry: AuditEvent }) {
  if (workspace_id === null) return <span class="c-muted">{words.organization}</span>;
  return <Link to={pathTo('customer', workspace_id)}>{workspace_name ?? workspace_id}</Link>;
}

function Outcome({ outcome }: { outcome: AuditEvent['outcome'] }) {
  const isDone = outcome === 'done';
  return (
    <span class={`inlay-badge inlay-badge-${isDone ? 'neutral' : 'danger'}`}>
      <Glyph name={isDone ? 'check' : 'alert'} />
      {words.outcomes[outcome]}
    </span>
  );
}

function OneEntry({ position }: { position: number }) {
  const { data, error, reload } = useAnswer(
    requestTo('GET /audit-events', { query: { after: Math.max(0, position - 1), limit: 1 } }),
  );
  const entry = data?.data.find((one) => one.position === position);
  return (
    <Page title={entry?.type ?? words.title} trail={<Link to={pathTo('audit')}>{words.title}</Link>}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && !entry && <Empty title={words.missing} />}
      {entry && (
        <>
          <FactList
            facts={[
              [words.when, <When time={entry.timestamp} />],
              [words.who, <Who entry={entry} />],
              [words.what, <About entry={entry} />],
              [words.outcome, <Outcome outcome={entry.outcome} />],
              [words.address, entry.address ?? common.none],
              [words.client, entry.user_agent ?? common.none],
              [words.request, <code>{entry.request_id ?? common.none}</code>],
              [words.position, formatting.number(entry.position)],
              [words.hash, <code>{entry.hash ?? common.none}</code>],
            ]}
          />
          <Changes patch={entry.patch} />
          <CodeBlock title={words.data} text={JSON.stringify(entry.data, null, 2)} copyLabel={words.copyData} />
        </>
      )}
    </Page>
  );
}

function Changes({ patch }: { patch: readonly object[] | null }) {
  const changes = changesOf(patch ?? []);
  const columns: Column<Change>[] = [
    { title: words.place, cell: ({ path }) => <code>{path || '/'}</code> },
    { title: words.before, isWide: true, cell: ({ before }) => <Value value={before} /> },
    { title: words.after, isWide: true, cell: ({ after }) => <Value value={after} /> },
  ];
  return (
    <Panel title={words.changes}>
      {changes.length === 0 ? (
        <p class="c-panel-text c-muted">{words.noChanges}</p>
      ) : (
        <Table label={words.changes} rows={changes} columns={columns} idOf={({ path }) => path} />
      )}
    </Panel>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span class="c-muted">{common.none}</span>;
  return <span class="c-value">{JSON.stringify(value, null, 2)}</span>;
}
