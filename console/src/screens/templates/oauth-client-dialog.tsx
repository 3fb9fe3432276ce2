/** What an administrator has registered with a provider becomes an OAuth client of the organization. */
import type { OAuthClient } from '@inlay/contract/oauth-clients';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { templatesWords } from './words.ts';

interface OAuthClientDialogProps {
  definitionId: string;
  describesSignIn: boolean;
  onClose(): void;
  onMade(client: OAuthClient): void;
}

/** No provider has these names. */
const byIssuer = ':issuer';
const byConnector = ':connector';

export function OAuthClientDialog({ definitionId, describesSignIn, onClose, onMade }: OAuthClientDialogProps) {
  const words = templatesWords.get();
  const { data } = useAnswer<{ data: { key: string; name: string }[] }>({
    method: 'GET',
    path: '/integrations/oauth/providers',
  });
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
    <RequestDialog<OAuthClient>
      title={words.oauth.register}
      text={words.oauth.registerText}
      label={words.oauth.register}
      request={{
        method: 'POST',
        path: '/integrations/oauth/clients',
        secrets: [client_secret],
        body: { name, client_id, ...(client_secret !== '' && { client_secret }), ...provider },
      }}
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
