/** What became of each event that was sent to an endpoint, newest first. */
import type { Redelivery, WebhookDelivery } from '@inlay/contract/webhook-endpoints';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName } from '@inlay/ui/parts/glyph.tsx';
import { useEffect } from 'preact/hooks';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Panel } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { useAction } from '../../parts/use-action.ts';
import { usePages } from '../../parts/use-pages.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';
import { webhooksWords } from './words.ts';

const looks: Record<WebhookDelivery['status'], { kind: string; glyph: GlyphName }> = {
  pending: { kind: 'warning', glyph: 'sync' },
  delivered: { kind: 'success', glyph: 'check' },
  failed: { kind: 'danger', glyph: 'alert' },
};

const lookMs = 3_000;

export function Deliveries({ place, path }: { place: Place; path: string }) {
  const words = webhooksWords.get();
  const common = useWords();
  const { mayWrite, formatting, announce, live } = useConsole();
  const action = useAction();
  const status = place.query.get('status') ?? undefined;
  const found = usePages<WebhookDelivery>(
    { method: 'GET', path: `${path}/deliveries`, query: { status, limit: 50 } },
    () => true,
    ({ event_id }) => event_id,
  );
  // Attempts are no events, so nothing tells the page of them.
  useEffect(() => {
    const timer = setInterval(() => {
      if (!live.isPaused()) found.reload();
    }, lookMs);
    return () => clearInterval(timer);
  }, [found.reload, live]);
  const redelivery = ({ event_id }: WebhookDelivery) =>
    ({ method: 'POST', path: `/events/${event_id}/redeliver`, body: {} }) as const;
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
            title: words.actions,
            cell: (delivery: WebhookDelivery) => (
              <span class="c-pair">
                <Button
                  label={words.resendOf(delivery.type)}
                  isBusy={action.isBusy}
                  onClick={() =>
                    action.run<Redelivery>(redelivery(delivery), () => {
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
      {webhooksWords.get().delivery[status]}
    </span>
  );
}

function Answer({ delivery: { attempt_list } }: { delivery: WebhookDelivery }) {
  const last = attempt_list.at(-1);
  const common = useWords();
  if (!last) return <span class="c-muted">{common.none}</span>;
  const text = [last.status_code, last.error, last.response].filter(Boolean).join(' · ');
  return <span class="c-clamp">{text || common.none}</span>;
}
