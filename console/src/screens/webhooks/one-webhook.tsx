/** One endpoint: settings, actions and deliveries. */
import type { WebhookEndpoint, WebhookTestResult } from '@inlay/contract/log/webhook-endpoints';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { DeleteDialog } from '../../parts/dialogs/delete-dialog.tsx';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { SecretDialog } from '../../parts/dialogs/secret-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField, FactList } from '../../parts/fields.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { Deliveries } from './deliveries.tsx';
import { StateBadge } from './state-badge.tsx';
import { words } from './words.ts';

const dayMs = 86_400_000;

export function OneWebhook({ place }: { place: Place }) {
  const {
    data: endpoint,
    error,
    reload,
  } = useAnswer(requestTo('GET /webhook-endpoints/{webhook_endpoint_id}', { ids: [place.id] }), { live: () => true });
  return (
    <Page title={endpoint?.url ?? words.title} trail={<Link to={pathTo('webhooks')}>{words.title}</Link>}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!endpoint && !error && <Bones />}
      {endpoint && (
        <>
          <FactList
            facts={[
              [words.state, <StateBadge endpoint={endpoint} />],
              [words.types, endpoint.types.join(', ')],
              [words.signing, endpoint.signing],
              [words.lastDelivered, <When time={endpoint.last_delivered_at} none={words.never} />],
              ...(endpoint.description ? [[words.description, endpoint.description] as const] : []),
              ...(endpoint.workspace_id
                ? [
                    [
                      words.ofCustomer,
                      <Link to={pathTo('customer', endpoint.workspace_id)}>{endpoint.workspace_id}</Link>,
                    ] as const,
                  ]
                : []),
            ]}
          />
          {endpoint.disabled_reason && <Notice kind="warning" title={words.reasons[endpoint.disabled_reason]} />}
          <Actions endpoint={endpoint} onChanged={reload} />
          <Deliveries place={place} />
        </>
      )}
    </Page>
  );
}

type Asked = 'rotate' | 'recover' | 'delete' | undefined;

function Actions({ endpoint, onChanged }: { endpoint: WebhookEndpoint; onChanged(): void }) {
  const { isAdmin, mayWrite, announce } = useConsole();
  const [asked, setAsked] = useState<Asked>(undefined);
  const [tested, setTested] = useState<WebhookTestResult | undefined>(undefined);
  const [secret, setSecret] = useState<string | null>(null);
  const [overlap, setOverlap] = useState('86400');
  const [days, setDays] = useState('1');
  const close = () => setAsked(undefined);
  if (!mayWrite) return null;
  return (
    <div class="c-tools">
      <RequestButton
        label={words.test}
        request={requestTo('POST /webhook-endpoints/{webhook_endpoint_id}/test', { ids: [endpoint.id] })}
        onDone={setTested}
      />
      {isAdmin && (
        <>
          <RequestButton
            label={endpoint.enabled ? words.disable : words.enable}
            request={requestTo('PATCH /webhook-endpoints/{webhook_endpoint_id}', {
              ids: [endpoint.id],
              body: { enabled: !endpoint.enabled },
            })}
            onDone={() => {
              announce(words.changed);
              onChanged();
            }}
          />
          <Button onClick={() => setAsked('rotate')}>{words.rotate}</Button>
        </>
      )}
      {endpoint.enabled && <Button onClick={() => setAsked('recover')}>{words.recover}</Button>}
      {isAdmin && (
        <Button kind="danger" onClick={() => setAsked('delete')}>
          {words.delete}
        </Button>
      )}
      {tested &&
        (tested.delivered ? (
          <Notice kind="success" title={words.testDelivered(String(tested.status_code))} takesFocus />
        ) : (
          <Notice kind="danger" title={words.testFailed} takesFocus>
            {tested.error}
          </Notice>
        ))}
      {asked === 'rotate' && (
        <RequestDialog
          title={words.rotate}
          text={words.rotateText}
          label={words.rotate}
          request={requestTo('POST /webhook-endpoints/{webhook_endpoint_id}/rotate-secret', {
            ids: [endpoint.id],
            body: { overlap_seconds: Number(overlap) },
          })}
          onClose={close}
          onDone={(made) => {
            close();
            setSecret(made.secret);
            onChanged();
          }}
        >
          <ChoiceField label={words.overlap} value={overlap} options={words.overlaps} onInput={setOverlap} />
        </RequestDialog>
      )}
      {asked === 'recover' && (
        <RequestDialog
          title={words.recover}
          text={words.recoverText}
          label={words.recover}
          request={requestTo('POST /webhook-endpoints/{webhook_endpoint_id}/recover', {
            ids: [endpoint.id],
            body: { since: new Date(Date.now() - Number(days) * dayMs).toISOString() },
          })}
          onClose={close}
          onDone={({ queued }) => {
            close();
            announce(words.recovered(queued));
            onChanged();
          }}
        >
          <ChoiceField label={words.period} value={days} options={words.periods} onInput={setDays} />
        </RequestDialog>
      )}
      {asked === 'delete' && (
        <DeleteDialog
          title={words.delete}
          text={words.deleteText}
          request={requestTo('DELETE /webhook-endpoints/{webhook_endpoint_id}', { ids: [endpoint.id] })}
          said={words.deleted}
          to={pathTo('webhooks')}
          onClose={close}
        />
      )}
      {secret !== null && (
        <SecretDialog
          title={words.madeTitle}
          text={words.once}
          secret={secret}
          copyLabel={words.copySecret}
          onClose={() => setSecret(null)}
        />
      )}
    </div>
  );
}
