/** How customers sign in with a provider: OAuth client, scopes and a test. Only admins register clients. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { CheckField, ChoiceField } from '../../parts/fields.tsx';
import { changed, type Draft, valueAt } from './draft.ts';
import { OAuthClientDialog } from './oauth-client-dialog.tsx';
import { NameList, namesIn } from './tags-field.tsx';
import { TestSignIn } from './test-sign-in.tsx';
import { words as templatesWords } from './words.ts';

const words = templatesWords.oauth;

interface OAuthSetupProps {
  definitionId: string;
  /** Whether the connector's specification defines a sign-in. */
  describesSignIn: boolean;
  templateId?: string;
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
}

export function OAuthSetup({ definitionId, describesSignIn, templateId, draft, change }: OAuthSetupProps) {
  const { isAdmin } = useConsole();
  const [isRegistering, setRegistering] = useState(false);
  const { data, error, reload } = useAnswer(requestTo('GET /integrations/oauth/clients'));
  const clients = data?.data ?? [];
  const isOn = isObject(draft.oauth);
  const chosenId = valueAt(draft, ['oauth', 'oauth_client_id']);
  const chosen = clients.find(({ id }) => id === chosenId);
  const set = (name: string) => (value: unknown) => change((before) => changed(before, ['oauth', name], value));
  const list = (name: string) => namesIn(valueAt(draft, ['oauth', name]));
  const options = Object.fromEntries([
    ...(chosen ? [] : [[String(chosenId ?? ''), words.chooseClient]]),
    ...clients.map(({ id, name, provider }) => [id, provider ? `${name} (${provider})` : name]),
  ]);
  return (
    <>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      <CheckField
        label={words.on}
        isChecked={isOn}
        onChange={(on) =>
          change((before) => changed(before, ['oauth'], on ? { oauth_client_id: clients[0]?.id ?? '' } : null))
        }
      />
      {isOn && (
        <>
          {data && clients.length === 0 && <p class="c-hint">{isAdmin ? words.none : words.noneForOperator}</p>}
          {clients.length > 0 && (
            <ChoiceField
              label={words.client}
              value={String(chosenId ?? '')}
              options={options}
              onInput={set('oauth_client_id')}
            />
          )}
          {isAdmin && (
            <div>
              <Button onClick={() => setRegistering(true)}>{words.register}</Button>
            </div>
          )}
          {chosen && <Redirect url={chosen.redirect_url} />}
          {chosen?.needs_secret && <Notice kind="warning" title={words.needsSecret} />}
          <NameList label={words.scopes} hint={words.scopesHint} names={list('scopes')} onChange={set('scopes')} />
          <NameList
            label={words.optionalScopes}
            hint={words.optionalScopesHint}
            names={list('optional_scopes')}
            onChange={set('optional_scopes')}
          />
          <CheckField
            label={words.mayPaste}
            isChecked={valueAt(draft, ['oauth', 'may_paste']) === true}
            onChange={set('may_paste')}
          />
          {templateId ? (
            <TestSignIn templateId={templateId} values={Object.entries(chosen?.endpoints.values ?? {})} />
          ) : (
            <p class="c-hint">{words.saveFirst}</p>
          )}
        </>
      )}
      {isRegistering && (
        <OAuthClientDialog
          definitionId={definitionId}
          describesSignIn={describesSignIn}
          onClose={() => setRegistering(false)}
          onMade={({ id }) => {
            setRegistering(false);
            reload();
            set('oauth_client_id')(id);
          }}
        />
      )}
    </>
  );
}

function Redirect({ url }: { url: string }) {
  return (
    <div class="c-field">
      <span class="t-label">{words.redirect}</span>
      <p class="c-secret">
        <code>{url}</code>
        <CopyButton text={url} label={words.copyRedirect} />
      </p>
      <p class="c-hint">{words.redirectHint}</p>
    </div>
  );
}
