/** Actions on a customer. Each says what it does and can be copied as a command. */
import type { Workspace } from '@inlay/contract/tenancy/workspaces';
import { Button, type ButtonProps } from '@inlay/ui/parts/button.tsx';
import { useId, useState } from 'preact/hooks';
import { type ApiRequest, requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Panel } from '../../parts/page.tsx';
import { type Action, type OnDone, useAction } from '../../parts/use-action.ts';
import { pathTo } from '../../router/router.ts';
import { words } from '../../words/words.ts';

interface ActionsProps {
  customer: Workspace;
  counts: { sources: number; connections: number };
  onChanged(): void;
}

const WidgetLink = lazyPart(async () => (await import('../first-steps/widget-link.tsx')).WidgetLink);

type Asked = 'widget' | 'rename' | 'delete' | undefined;

export function Actions({ customer, counts, onChanged }: ActionsProps) {
  const { announce } = useConsole();
  const [asked, setAsked] = useState<Asked>(undefined);
  const isActive = customer.status === 'active';
  const done = (said: string) => () => {
    announce(said);
    onChanged();
  };
  const status: ApiRequest = requestTo('PUT /workspaces/{workspace_id}', {
    ids: [customer.id],
    body: { status: isActive ? 'inactive' : 'active' },
  });
  return (
    <Panel title={words.column.actions}>
      <ul class="c-actions">
        <li>
          <div class="c-pair">
            <Button onClick={() => setAsked('widget')}>{words.customer.openWidget}</Button>
          </div>
          <p class="c-hint">{words.customer.openWidgetText}</p>
        </li>
        <ActionRow
          title={isActive ? words.customer.suspend : words.customer.reactivate}
          text={isActive ? words.customer.suspendText : words.customer.reactivateText}
          request={status}
          onDone={done(isActive ? words.customer.suspended : words.customer.reactivated)}
        />
        <ActionRow
          title={words.customer.rename}
          text={words.customer.renameText}
          request={requestTo('PUT /workspaces/{workspace_id}', { ids: [customer.id], body: { name: customer.name } })}
          onAsk={() => setAsked('rename')}
        />
        <ActionRow
          title={words.customer.revoke}
          text={words.customer.revokeText}
          request={requestTo('POST /workspaces/{workspace_id}/tokens/revoke', { ids: [customer.id] })}
          onDone={done(words.customer.revoked)}
        />
        <ActionRow
          title={words.customer.delete}
          kind="danger"
          request={requestTo('DELETE /workspaces/{workspace_id}', { ids: [customer.id] })}
          onAsk={() => setAsked('delete')}
        />
      </ul>
      {asked === 'widget' && (
        <WidgetLink customer={customer.name} onChanged={onChanged} onClose={() => setAsked(undefined)} />
      )}
      {asked === 'rename' && (
        <Rename
          customer={customer}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            done(words.customer.renamed)();
          }}
        />
      )}
      {asked === 'delete' && (
        <Delete
          customer={customer}
          counts={counts}
          onClose={() => setAsked(undefined)}
          onDone={(_, goOn) => {
            announce(words.customer.deleted);
            goOn(pathTo('customers'));
          }}
        />
      )}
    </Panel>
  );
}

interface ActionRowProps {
  title: string;
  text?: string;
  kind?: NonNullable<ButtonProps['kind']>;
  request: ApiRequest;
  onDone?: () => void;
  /** Asks before anything happens. */
  onAsk?: () => void;
}

function ActionRow({ title, text, kind = 'secondary', request, onDone, onAsk }: ActionRowProps) {
  const action = useAction();
  const id = useId();
  return (
    <li>
      <div class="c-pair">
        <Button
          kind={kind}
          isBusy={action.isBusy}
          {...(text ? { describedBy: id } : {})}
          onClick={() => (onAsk ? onAsk() : action.run(request, () => onDone?.()))}
        >
          {title}
        </Button>
        <CurlButton request={request} what={title} />
      </div>
      {text && (
        <p class="c-hint" id={id}>
          {text}
        </p>
      )}
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </li>
  );
}

interface AskProps {
  customer: Workspace;
  onClose(): void;
  onDone: OnDone<unknown>;
}

function Rename({ customer, onClose, onDone }: AskProps) {
  const action = useAction();
  const id = useId();
  const [name, setName] = useState(customer.name);
  const submit = () =>
    action.run(
      requestTo('PUT /workspaces/{workspace_id}', { ids: [customer.id], body: { name: name.trim() } }),
      onDone,
    );
  return (
    <InfoDialog
      title={words.customer.rename}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={id} isBusy={action.isBusy || name.trim() === ''}>
            {words.customer.rename}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="c-field"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label for={`${id}-name`}>{words.customer.newName}</label>
        <input
          class="c-control"
          id={`${id}-name`}
          value={name}
          autoComplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </form>
      <Failed action={action} />
    </InfoDialog>
  );
}

function Delete({ customer, counts, onClose, onDone }: AskProps & Pick<ActionsProps, 'counts'>) {
  const action = useAction();
  const id = useId();
  const [typed, setTyped] = useState('');
  const isConfirmed = typed === customer.name;
  return (
    <InfoDialog
      title={words.customer.deleteOf(customer.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="danger" type="submit" form={id} isBusy={action.isBusy}>
            {words.customer.delete}
          </Button>
        </>
      }
    >
      <p class="c-muted">{words.customer.deleteText(counts.sources, counts.connections)}</p>
      <form
        id={id}
        class="c-field"
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed) action.run(requestTo('DELETE /workspaces/{workspace_id}', { ids: [customer.id] }), onDone);
          else document.getElementById(`${id}-name`)?.focus();
        }}
      >
        <label for={`${id}-name`}>{words.customer.typeName(customer.name)}</label>
        <input
          class="c-control"
          id={`${id}-name`}
          value={typed}
          autoComplete="off"
          aria-invalid={!isConfirmed && typed !== ''}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
      <Failed action={action} />
    </InfoDialog>
  );
}

function Failed({ action }: { action: Action }) {
  return action.error === undefined ? null : <ErrorNotice error={action.error} takesFocus />;
}
