/** One endpoint: its settings, what can be done with it, and what became of every event. */
import type {
  Recovery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookTestResult,
} from '@inlay/contract/webhook-endpoints';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField, FactList } from '../../parts/fields.tsx';
import { Bones, Page } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { counted } from '../../words/counted.ts';
import { Deliveries } from './deliveries.tsx';
import { StateBadge } from './state-badge.tsx';
import { webhooksWords } from './words.ts';

const dayMs = 86_400_000;

export function OneWebhook({ place }: { place: Place }) {
  const words = webhooksWords.get();
  const path = `/webhook-endpoints/${encodeURIComponent(place.id)}`;
  const { data: endpoint, error, reload } = useAnswer<WebhookEndpoint>({ method: 'GET', path }, { live: () => true });
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
          <Actions endpoint={endpoint} path={path} onChanged={reload} />
          <Deliveries place={place} path={path} />
        </>
      )}
    </Page>
  );
}

type Asked = 'rotate' | 'recover' | 'delete' | undefined;

function Actions({ endpoint, path, onChanged }: { endpoint: WebhookEndpoint; path: string; onChanged(): void }) {
  const words = webhooksWords.get();
  const { isAdmin, mayWrite, announce, formatting } = useConsole();
  const [asked, setAsked] = useState<Asked>(undefined);
  const [tested, setTested] = useState<WebhookTestResult | undefined>(undefined);
  const [secret, setSecret] = useState<string | null>(null);
  const [overlap, setOverlap] = useState('86400');
  const [days, setDays] = useState('1');
  const close = () => setAsked(undefined);
  if (!mayWrite) return null;
  return (
    <div class="c-tools">
      <RequestButton<WebhookTestResult>
        label={words.test}
        request={{ method: 'POST', path: `${path}/test` }}
        onDone={setTested}
      />
      {isAdmin && (
        <>
          <RequestButton
            label={endpoint.enabled ? words.disable : words.enable}
            request={{ method: 'PATCH', path, body: { enabled: !endpoint.enabled } }}
            onDone={() => {
              announce(words.changed);
              onChanged();
            }}
          />
          <Button onClick={() => setAsked('rotate')}>{words.rotate}</Button>
        </>
      )}
      {endpoint.enabled && <Button onClick={() => setAsked('recover')}>{words.recover}</Button>}
      <Button kind="danger" onClick={() => setAsked('delete')}>
        {words.delete}
      </Button>
      {tested &&
        (tested.delivered ? (
          <Notice kind="success" title={words.testDelivered(String(tested.status_code))} takesFocus />
        ) : (
          <Notice kind="danger" title={words.testFailed} takesFocus>
            {tested.error}
          </Notice>
        ))}
      {asked === 'rotate' && (
        <RequestDialog<WebhookEndpointWithSecret>
          title={words.rotate}
          text={words.rotateText}
          label={words.rotate}
          request={{ method: 'POST', path: `${path}/rotate-secret`, body: { overlap_seconds: Number(overlap) } }}
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
        <RequestDialog<Recovery>
          title={words.recover}
          text={words.recoverText}
          label={words.recover}
          request={{
            method: 'POST',
            path: `${path}/recover`,
            body: { since: new Date(Date.now() - Number(days) * dayMs).toISOString() },
          }}
          onClose={close}
          onDone={({ queued }) => {
            close();
            announce(words.recovered(counted(formatting, queued)));
            onChanged();
          }}
        >
          <ChoiceField label={words.since} value={days} options={words.recovers} onInput={setDays} />
        </RequestDialog>
      )}
      {asked === 'delete' && (
        <DeleteDialog
          title={words.delete}
          text={words.deleteText}
          path={path}
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
