/** The organization's events, newest first, and one event in full. */
import type { Event } from '@inlay/contract/log/events';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { eventGroups } from '../../parts/event-types.ts';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { Choice, Filters } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import type { Column } from '../../parts/tables/table.tsx';
import { useBackwards } from '../../parts/tables/use-backwards.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

export function EventsScreen({ place }: { place: Place }) {
  return place.id ? <OneEvent id={place.id} /> : <EventList place={place} />;
}

function EventList({ place }: { place: Place }) {
  const asked = (name: string) => place.query.get(name) ?? undefined;
  const pages = useBackwards('GET /events', { types: asked('types'), workspace_id: asked('workspace_id') });
  const columns: Column<Event>[] = [
    { title: words.type, isWide: true, cell: ({ id, type }) => <Link to={pathTo('events', id)}>{type}</Link> },
    { title: words.customer, isName: true, cell: (event) => <About event={event} /> },
    { title: words.when, cell: ({ timestamp }) => <When time={timestamp} /> },
    { title: words.position, isNumber: true, cell: ({ position }) => formatting.number(position) },
  ];
  return (
    <Page title={words.title}>
      <Filters place={place}>
        <Choice place={place} name="types" label={words.type} options={eventGroups} all={common.list.all} />
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

function About({ event: { workspace_id, data } }: { event: Event }) {
  if (workspace_id === null) return <span class="c-muted">{words.organization}</span>;
  const { name } = (data.workspace ?? {}) as { name?: unknown };
  return <Link to={pathTo('customer', workspace_id)}>{typeof name === 'string' ? name : workspace_id}</Link>;
}

function OneEvent({ id }: { id: string }) {
  const { mayWrite, announce } = useConsole();
  const { data: event, error, reload } = useAnswer(requestTo('GET /events/{event_id}', { ids: [id] }));
  return (
    <Page
      title={event?.type ?? words.title}
      trail={<Link to={pathTo('events')}>{words.title}</Link>}
      beside={
        mayWrite &&
        event && (
          <RequestButton
            label={words.resend}
            request={requestTo('POST /events/{event_id}/redeliver', { ids: [event.id], body: {} })}
            onDone={({ webhook_endpoint_ids }) => announce(words.resent(webhook_endpoint_ids.length))}
          />
        )
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!event && !error && <Bones />}
      {event && (
        <>
          <FactList
            facts={[
              [words.when, <When time={event.timestamp} />],
              [words.customer, <About event={event} />],
              [words.position, formatting.number(event.position)],
              [words.id, <code>{event.id}</code>],
            ]}
          />
          <CodeBlock title={words.data} text={JSON.stringify(event.data, null, 2)} copyLabel={words.copyData} />
        </>
      )}
    </Page>
  );
}
