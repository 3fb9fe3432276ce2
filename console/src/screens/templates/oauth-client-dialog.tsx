/** Adds the app that an admin has registered with a provider as an OAuth client. */
import type { OAuthClient } from '@inlay/contract/credentials/oauth-clients';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { words } from './words.ts';

interface OAuthClientDialogProps {
  definitionId: string;
  describesSignIn: boolean;
  onClose(): void;
  onMade(client: OAuthClient): void;
}

/** Option keys that cannot clash with a provider's. */
const byIssuer = ':issuer';
const byConnector = ':connector';

export function OAuthClientDialog({ definitionId, describesSignIn, onClose, onMade }: OAuthClientDialogProps) {
  const { data } = useAnswer(requestTo('GET /integrations/oauth/providers'));
  const [where, setWhere] = useState(describesSignIn ? byConnector : byIssuer);
  const [entered, setEntered] = useState({ name: '', client_id: '', client_secret: '', issuer: '' });
  const set = (name: keyof typeof entered) => (value: string) => setEntered({ ...entered, [name]: value });
  const options = {
    ...(describesSignIn && { [byConnector]: words.oauth.byConnector }),
    [byIssuer]: words.oauth.byIssuer,
    ...Object.fromEntries((data?.data ?? []).map(({ key, name }) => [key, name])),
  };
  const { name, client_id, client_secret, issuer } = entered;
  const provider =
    where === byIssuer ? { issuer } : where === byConnector ? { definition_id: definitionId } : { provider: where };
  return (
    <RequestDialog
      title={words.oauth.register}
      text={words.oauth.registerText}
      label={words.oauth.register}
      request={requestTo('POST /integrations/oauth/clients', {
        secrets: [client_secret],
        body: { name, client_id, ...(client_secret !== '' && { client_secret }), ...provider },
      })}
      onClose={onClose}
      onDone={onMade}
    >
      <ChoiceField label={words.oauth.provider} value={where} options={options} onInput={setWhere} />
      {where === byIssuer && (
        <TextField label={words.oauth.issuer} type="url" value={issuer} onInput={set('issuer')} isRequired />
      )}
      <TextField label={words.name} value={name} onInput={set('name')} isRequired />
      <TextField label={words.oauth.clientId} value={client_id} onInput={set('client_id')} isRequired />
      <TextField
        label={words.oauth.clientSecret}
        hint={words.oauth.clientSecretHint}
        type="password"
        value={client_secret}
        onInput={set('client_secret')}
      />
    </RequestDialog>
  );
}
