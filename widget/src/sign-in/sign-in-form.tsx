/**
 * The form of a source with a sign-in, which replaces the fields it fills. If the template allows it, the customer can enter these
 * fields instead.
 */

import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import type { Source } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { RequestFailure } from '../api/failure.ts';
import { SourceForm, type SourceFormProps } from '../sources/source-form.tsx';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { findUnused, getCredential } from './endpoints.ts';
import type { SignInWords } from './sign-in-en.ts';
import { SignInField, type SignInFieldProps } from './sign-in-field.tsx';
import type { Connected } from './use-sign-in.ts';

export interface SignInFormProps extends SourceFormProps {
  words: SignInWords;
  oauth: OfferedOAuth;
  template: SignInFieldProps['template'];
  /** The source being changed; undefined for a new one. */
  source?: Pick<Source, 'id' | 'credential_id'> | undefined;
}

export function SignInForm({
  words,
  oauth,
  template,
  source,
  specification,
  startCheck,
  save,
  ...form
}: SignInFormProps) {
  const credential = useCredential(source, template.id);
  const { resumed } = useWidget();
  const [before] = useState(resumed.current);
  const entered = before?.source_template_id === template.id ? before.entered : null;
  const [signedInAs, setCredentialId] = useState(source?.credential_id ?? undefined);
  // Offers a sign-in made through a link.
  const credentialId = signedInAs ?? (credential === 'loading' || source ? undefined : credential?.credentialId);
  // A source with pasted credentials keeps them until the customer chooses to sign in.
  const [entersKeys, setEntersKeys] = useState(source?.credential_id === null);
  const [timesMissed, setTimesMissed] = useState(0);
  const used = entersKeys ? undefined : credentialId;

  /** Faults in fields the sign-in fills have no visible field; the remedy is to sign in again. */
  async function withSignIn<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (entersKeys || !(error instanceof RequestFailure)) throw error;
      const isOfSignIn = ({ loc }: { loc: readonly string[] }) =>
        loc[1] === 'credential_id' || oauth.covers.some((path) => path.join() === loc.slice(2).join());
      if (!error.faults.some(isOfSignIn)) throw error;
      const faults = error.faults.map((fault) =>
        isOfSignIn(fault) ? { ...fault, loc: ['body'], msg: words.again } : fault,
      );
      throw new RequestFailure('invalid', { faults, cause: error });
    }
  }

  function onConnected(connected: Connected): void {
    setCredentialId(connected.credentialId);
    setTimesMissed(0);
    form.onChanged();
  }

  return (
    <SourceForm
      {...form}
      entered={entered ?? undefined}
      specification={entersKeys ? specification : (oauth.user_config_spec?.connectionSpecification ?? specification)}
      formKey={String(entersKeys)}
      mayStart={() => {
        if (entersKeys || credentialId !== undefined) return true;
        setTimesMissed((times) => times + 1);
        return false;
      }}
      startCheck={(config, signal) => withSignIn(() => startCheck(config, signal, used))}
      save={(name, config, warnings, signal) => withSignIn(() => save(name, config, warnings, signal, used))}
      before={(isRunning, entered) => (
        <>
          {!entersKeys && credential !== 'loading' && (
            <SignInField
              id={`${form.id}-sign-in`}
              words={words}
              oauth={source?.credential_id ? { ...oauth, values: [] } : oauth}
              template={template}
              sourceId={source?.id}
              credential={credential}
              label={source?.credential_id ? words.again : undefined}
              isDisabled={isRunning}
              timesMissed={timesMissed}
              entered={entered}
              onConnected={onConnected}
            />
          )}
          {oauth.may_paste && !source?.credential_id && !isRunning && (
            <div class="inlay-sign-in-switch">
              <Button kind="quiet" onClick={() => setEntersKeys(!entersKeys)}>
                {entersKeys ? words.signInInstead : words.enterKeys}
              </Button>
            </div>
          )}
        </>
      )}
    />
  );
}

/**
 * The source's credential if still valid, or for a new source, the one from a sign-in through a link. The account is optional,
 * because it is only displayed.
 */
function useCredential(source: SignInFormProps['source'], templateId: string): Connected | 'loading' | undefined {
  const { api } = useWidget();
  const id = source?.credential_id ?? undefined;
  const isNew = source === undefined;
  const { value, error } = useLoaded(id ?? templateId, async (signal) => {
    if (id !== undefined) return { found: await getCredential(api, id, signal) };
    return { found: isNew ? await findUnused(api, templateId, signal) : undefined };
  });
  if (value) {
    const { found } = value;
    return found?.state === 'connected' ? { credentialId: found.id, account: found.account } : undefined;
  }
  if (error === undefined) return 'loading';
  return id === undefined ? undefined : { credentialId: id, account: null };
}
