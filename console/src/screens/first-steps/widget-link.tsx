/**
 * Opens the real widget as a customer in a new tab, for a first try without a backend. Creates the customer if the name is new.
 *
 * Invariants: the user follows a link, so no pop-up blocker interferes. The token is bound to this service's origin, works for
 * an hour, and is in the fragment, which no server sees.
 */
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

const seconds = 3_600;

export interface WidgetLinkProps {
  /** Undefined: the user enters a name. */
  customer: string | undefined;
  onChanged(): void;
  onClose(): void;
}

export function WidgetLink({ customer, onChanged, onClose }: WidgetLinkProps) {
  const [name, setName] = useState(customer ?? '');
  const [url, setUrl] = useState<string | undefined>(undefined);
  if (url !== undefined) return <Made url={url} name={name} isNew={customer === undefined} onClose={onClose} />;
  const request = requestTo('POST /embedded/widget-token', {
    body: { workspace_name: name, allowed_origin: location.origin, expires_in_seconds: seconds },
  });
  return (
    <RequestDialog
      title={customer === undefined ? words.addCustomer : words.openWidget}
      text={customer === undefined ? words.addText : words.openText(customer)}
      label={customer === undefined ? words.addCustomer : words.makeLink}
      request={request}
      onClose={onClose}
      onDone={({ token }) => {
        setUrl((JSON.parse(atob(token)) as { widgetUrl: string }).widgetUrl);
        onChanged();
      }}
    >
      {customer === undefined && (
        <TextField label={words.customerName} hint={words.nameHint} value={name} onInput={setName} isRequired />
      )}
    </RequestDialog>
  );
}

function Made({ url, name, isNew, onClose }: { url: string; name: string; isNew: boolean; onClose(): void }) {
  const id = new URL(url).searchParams.get('workspaceId') ?? '';
  return (
    <InfoDialog
      title={isNew ? words.added(name) : words.openWidget}
      onClose={onClose}
      actions={<Button onClick={onClose}>{common.close}</Button>}
    >
      <p class="c-muted">{words.linkText}</p>
      <p class="c-tools">
        <a class="inlay-button inlay-button-primary" href={url} target="_blank" rel="noopener noreferrer">
          <span>{words.openAs(name)}</span>
        </a>
        <CopyButton text={url} label={words.copyLink} />
        {isNew && <Link to={pathTo('customer', id)}>{words.toCustomer}</Link>}
      </p>
    </InfoDialog>
  );
}
