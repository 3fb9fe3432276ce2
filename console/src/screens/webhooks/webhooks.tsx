/** Webhook endpoints with their status, and a form to add one. */
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '@inlay/contract/log/webhook-endpoints';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { SecretDialog } from '../../parts/dialogs/secret-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Bones, Empty, Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { type Place, pathTo } from '../../router/router.ts';
import { OneWebhook } from './one-webhook.tsx';
import { StateBadge } from './state-badge.tsx';
import { words } from './words.ts';

export function WebhooksScreen({ place }: { place: Place }) {
  return place.id ? <OneWebhook place={place} /> : <WebhookList />;
}

function WebhookList() {
  const { isAdmin } = useConsole();
  const { data, error, reload } = useAnswer(requestTo('GET /webhook-endpoints'), { live: () => true });
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const columns: Column<WebhookEndpoint>[] = [
    { title: words.address, isWide: true, cell: ({ id, url }) => <Link to={pathTo('webhooks', id)}>{url}</Link> },
    { title: words.description, cell: ({ description }) => description ?? '' },
    { title: words.types, cell: ({ types }) => types.join(', ') },
    { title: words.state, cell: (endpoint) => <StateBadge endpoint={endpoint} /> },
    {
      title: words.lastDelivered,
      cell: ({ last_delivered_at }) => <When time={last_delivered_at} none={words.never} />,
    },
  ];
  const add = isAdmin && (
    <Button kind="primary" glyph="plus" onClick={() => setAdding(true)}>
      {words.add}
    </Button>
  );
  const isEmpty = data?.data.length === 0;
  return (
    <Page title={words.title} beside={!isEmpty && add}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {isEmpty && <Empty title={isAdmin ? words.none : words.noneRead}>{add}</Empty>}
      {data && !isEmpty && <Table label={words.title} rows={data.data} columns={columns} idOf={({ id }) => id} />}
      {isAdding && (
        <AddWebhook
          onClose={() => setAdding(false)}
          onMade={(made) => {
            setAdding(false);
            setSecret(made.secret);
            reload();
          }}
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
    </Page>
  );
}

function AddWebhook({ onMade, onClose }: { onMade(made: WebhookEndpointWithSecret): void; onClose(): void }) {
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState('*');
  const [description, setDescription] = useState('');
  const body = {
    url: url.trim(),
    types: types
      .split(',')
      .map((type) => type.trim())
      .filter(Boolean),
    ...(description.trim() ? { description: description.trim() } : {}),
  };
  return (
    <RequestDialog
      title={words.add}
      label={words.add}
      request={requestTo('POST /webhook-endpoints', { body })}
      onDone={onMade}
      onClose={onClose}
    >
      <TextField label={words.address} hint={words.addressHint} type="url" value={url} onInput={setUrl} isRequired />
      <TextField label={words.types} hint={words.typesHint} value={types} onInput={setTypes} isRequired />
      <TextField label={words.description} value={description} onInput={setDescription} />
    </RequestDialog>
  );
}
