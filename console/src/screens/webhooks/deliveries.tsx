/** Deliveries to an endpoint, newest first. */
import type { WebhookDelivery } from '@inlay/contract/log/webhook-endpoints';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName } from '@inlay/ui/parts/glyph.tsx';
import { useEffect } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Panel } from '../../parts/page.tsx';
import { Choice } from '../../parts/tables/filters.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import type { Column } from '../../parts/tables/table.tsx';
import { usePages } from '../../parts/tables/use-pages.ts';
import { useAction } from '../../parts/use-action.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

const looks: Record<WebhookDelivery['status'], { kind: string; glyph: GlyphName }> = {
  pending: { kind: 'warning', glyph: 'sync' },
  delivered: { kind: 'success', glyph: 'check' },
  failed: { kind: 'danger', glyph: 'alert' },
};

const lookMs = 3_000;

export function Deliveries({ place }: { place: Place }) {
  const { mayWrite, announce, live } = useConsole();
  const action = useAction();
  const status = place.query.get('status') ?? undefined;
  const found = usePages(
    requestTo('GET /webhook-endpoints/{webhook_endpoint_id}/deliveries', {
      ids: [place.id],
      query: { status, limit: 50 },
    }),
    () => true,
    ({ event_id }) => event_id,
  );
  // Attempts emit no events, so the page polls for them.
  useEffect(() => {
    const timer = setInterval(() => {
      if (!live.isPaused()) found.reload();
    }, lookMs);
    return () => clearInterval(timer);
  }, [found.reload, live]);
  const redelivery = ({ event_id }: WebhookDelivery) =>
    requestTo('POST /events/{event_id}/redeliver', { ids: [event_id], body: {} });
  const columns: Column<WebhookDelivery>[] = [
    {
      title: words.event,
      cell: ({ event_id, type }) => <Link to={pathTo('events', event_id)}>{type}</Link>,
    },
    { title: words.state, cell: ({ status: present }) => <StatusBadge status={present} /> },
    { title: words.attempts, isNumber: true, cell: ({ attempts }) => formatting.number(attempts) },
    { title: words.answer, isWide: true, cell: (delivery) => <Answer delivery={delivery} /> },
    { title: words.when, cell: ({ created_at }) => <When time={created_at} /> },
    { title: words.next, cell: ({ next_attempt_at }) => <When time={next_attempt_at} tense="future" /> },
    ...(mayWrite
      ? [
          {
            title: common.column.actions,
            cell: (delivery: WebhookDelivery) => (
              <span class="c-pair">
                <Button
                  label={words.resendOf(delivery.type)}
                  isBusy={action.isBusy}
                  onClick={() =>
                    action.run(redelivery(delivery), () => {
                      announce(words.resent);
                      found.reload();
                    })
                  }
                >
                  {words.resend}
                </Button>
                <CurlButton request={redelivery(delivery)} what={words.resendOf(delivery.type)} />
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <Panel
      title={words.deliveries}
      beside={<Choice place={place} name="status" label={words.state} options={words.delivery} all={common.list.all} />}
    >
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
      <PagedTable
        label={words.deliveries}
        pages={found}
        columns={columns}
        idOf={({ event_id }) => event_id}
        empty={status === undefined ? words.noDeliveries : undefined}
      />
    </Panel>
  );
}

function StatusBadge({ status }: { status: WebhookDelivery['status'] }) {
  const { kind, glyph } = looks[status];
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      <Glyph name={glyph} />
      {words.delivery[status]}
    </span>
  );
}

function Answer({ delivery: { attempt_list } }: { delivery: WebhookDelivery }) {
  const last = attempt_list.at(-1);
  if (!last) return <span class="c-muted">{common.none}</span>;
  const text = [last.status_code, last.error, last.response].filter(Boolean).join(' · ');
  return <span class="c-clamp">{text || common.none}</span>;
}
