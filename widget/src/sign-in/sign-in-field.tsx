/**
 * Signing in: the values the provider needs first, the button, and the outcome. Every outcome is a notice that screen readers
 * announce.
 */

import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import type { EnteredSource } from '@inlay/contract/credentials/oauth-flows';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { RequestFailure } from '../api/failure.ts';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';
import type { SignInWords } from './sign-in-en.ts';
import { type Connected, useSignIn } from './use-sign-in.ts';
import { ValueField } from './value-field.tsx';
import { faultOf, titleOf } from './value-words.ts';

export interface SignInFieldProps {
  /** Unique on the page. */
  id: string;
  words: SignInWords;
  oauth: OfferedOAuth;
  template: { id: string; name: string; icon: string | null };
  sourceId?: string | undefined;
  /** The source's current credential. */
  credential?: Connected | undefined;
  /** Label of the button, if it doesn't name the provider. */
  label?: string | undefined;
  isDisabled?: boolean;
  /** How often the customer tried to continue without signing in. */
  timesMissed?: number;
  /** Entries of the surrounding form, to restore after a reload. */
  entered?(): EnteredSource;
  onConnected(connected: Connected): void;
}

export function SignInField({ id, words, oauth, template, credential, ...props }: SignInFieldProps) {
  const { label, sourceId, isDisabled = false, timesMissed = 0, onConnected } = props;
  const common = useWords();
  const { announce, allowedOrigin, resumed } = useWidget();
  const { provider } = oauth;
  const asked = oauth.values;
  // Read before `useSignIn` consumes the resumed sign-in.
  const [values, setValues] = useState(() =>
    Object.fromEntries(
      asked.map(({ name, hosts, default: usual }) => [
        name,
        resumed.current?.values[name] ?? usual ?? hosts?.[0] ?? '',
      ]),
    ),
  );
  const signIn = useSignIn({ templateId: template.id, sourceId, credential, onConnected });
  const { phase, last, cancel, confirm } = signIn;
  const [faults, setFaults] = useState<Record<string, string>>({});
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const returnTo = oauth.return_to.find(
    (address) => URL.canParse(address) && new URL(address).origin === allowedOrigin,
  );

  useEffect(() => {
    if (timesMissed > 0) button.current?.focus();
  }, [timesMissed]);
  useEffect(() => {
    if (phase.is !== 'error' || !(phase.error instanceof RequestFailure)) return;
    const found = phase.error.faults.flatMap(({ loc }): [string, string][] => {
      const value = asked.find(({ name }) => loc[1] === 'values' && loc[2] === name);
      return value ? [[value.name, faultOf(words, value)]] : [];
    });
    setFaults(Object.fromEntries(found));
    focusValue(found[0]?.[0]);
  }, [phase]);

  const focusValue = (name: string | undefined) =>
    name && box.current?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus();

  function begin(how: 'start' | 'reopen' = 'start', returnTo?: string): void {
    if (isDisabled) return;
    const empty = asked.filter(({ name }) => values[name]?.trim() === '').map(({ name }) => name);
    setFaults(Object.fromEntries(empty.map((name) => [name, common.form.faults.required])));
    if (empty.length > 0) return void focusValue(empty[0]);
    const entered = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]));
    signIn[how]({
      values: asked.length === 0 ? undefined : entered,
      entered: props.entered?.(),
      returnTo,
    });
  }

  function stop(): void {
    cancel();
    announce(words.cancelled);
    // The button reappears with the next render.
    requestAnimationFrame(() => button.current?.focus());
  }

  // The browser may have blocked the window until the service reports it as opened.
  const unopenedUrl = phase.is === 'waiting' && signIn.window === 'unknown' ? phase.startUrl : undefined;
  const isUnopened = unopenedUrl !== undefined;
  const thisWindow = returnTo && (
    <Button
      onClick={() => {
        cancel();
        begin('start', returnTo);
      }}
    >
      {words.useThisWindow}
    </Button>
  );
  const isBusy = phase.is === 'starting' || phase.is === 'waiting' || phase.is === 'unconfirmed';
  const again = (text: string, kind: 'primary' | 'secondary' = 'primary') => (
    <Button kind={kind} buttonRef={button} onClick={() => begin()}>
      {text}
    </Button>
  );
  return (
    <div class="inlay-sign-in" ref={box}>
      {phase.is !== 'connected' &&
        asked.map((value) => (
          <ValueField
            key={value.name}
            id={`${id}-${value.name}`}
            field={value}
            title={titleOf(words, value)}
            value={values[value.name] ?? ''}
            fault={Object.hasOwn(faults, value.name) ? faults[value.name] : undefined}
            isDisabled={isBusy || isDisabled}
            onInput={(text) => {
              setValues((now) => ({ ...now, [value.name]: text }));
              setFaults(({ [value.name]: _, ...others }) => others);
            }}
          />
        ))}
      {phase.is === 'error' && Object.keys(faults).length === 0 && <FailureNotice error={phase.error} takesFocus />}
      {phase.is === 'failed' && (
        <Notice
          kind="danger"
          title={phase.code === 'scopes_missing' ? words.missingScopes : words.failed}
          takesFocus
          actions={again(phase.code === 'scopes_missing' ? words.grantAgain : words.again)}
        >
          {phase.code === 'scopes_missing' ? (
            <>
              <p>{words.missingScopesText}</p>
              <ul class="inlay-scopes">
                {phase.missingScopes.map((scope) => (
                  <li key={scope}>{scope}</li>
                ))}
              </ul>
            </>
          ) : (
            <p>{words.failures[phase.code as 'refused'] ?? words.failures.refused}</p>
          )}
        </Notice>
      )}
      {(phase.is === 'open' || phase.is === 'starting' || (phase.is === 'error' && !last)) && (
        <div class="inlay-sign-in-start">
          <Button
            kind="primary"
            buttonRef={button}
            isBusy={phase.is === 'starting'}
            onClick={() => begin()}
            describedBy={timesMissed > 0 ? `${id}-missing` : `${id}-lead`}
          >
            {phase.is !== 'starting' && <SourceIcon icon={template.icon} name={provider} />}
            {label ?? words.signIn(provider)}
          </Button>
          {timesMissed > 0 && (
            <p class="inlay-field-fault" id={`${id}-missing`}>
              <Glyph name="alert" />
              <span>{words.missing}</span>
            </p>
          )}
          <p class="inlay-field-hint" id={`${id}-lead`}>
            {words.lead(provider)}
          </p>
        </div>
      )}
      {phase.is === 'waiting' && (
        <Notice
          title={phase.isBack ? words.finishing : words.waiting(provider)}
          takesFocus
          actions={
            <>
              {!phase.isBack && signIn.window === 'open' && <Button onClick={signIn.show}>{words.showWindow}</Button>}
              {!phase.isBack && signIn.window !== 'open' && !isUnopened && (
                <Button kind="primary" onClick={() => begin('reopen')}>
                  {words.reopenWindow}
                </Button>
              )}
              {!phase.isBack && signIn.window === 'closed' && thisWindow}
              <Button onClick={stop}>{common.cancel}</Button>
            </>
          }
        >
          <p>{!phase.isBack && signIn.window === 'closed' ? words.windowClosed : words.waitingText}</p>
          {!phase.isBack && signIn.window === 'unknown' && !isUnopened && <p>{words.windowUnknown}</p>}
          {unopenedUrl !== undefined && (
            <>
              <p>{words.noWindow}</p>
              <p class="inlay-sign-in-ways">
                <a class="inlay-link" href={unopenedUrl} target="_blank" rel="noopener">
                  {words.openWindow}
                  <Glyph name="external" />
                  <span class="inlay-unseen"> {common.opensInNewTab}</span>
                </a>
              </p>
              {thisWindow}
            </>
          )}
        </Notice>
      )}
      {phase.is === 'unconfirmed' && (
        <Notice
          kind="warning"
          title={words.unconfirmed}
          takesFocus
          actions={
            <>
              <Button kind="primary" isBusy={phase.isConfirming} onClick={confirm}>
                {words.confirm}
              </Button>
              {again(words.otherAccount, 'secondary')}
              <Button kind="quiet" onClick={stop}>
                {common.cancel}
              </Button>
            </>
          }
        >
          <p>
            {phase.signIn.account !== null && phase.signIn.previous_account !== null
              ? words.unconfirmedText(phase.signIn.account, phase.signIn.previous_account)
              : words.unconfirmedUnknown}
          </p>
        </Notice>
      )}
      {last && ['connected', 'failed', 'error'].includes(phase.is) && (
        <Notice
          kind="success"
          title={last.account === null ? words.connected(provider) : words.connectedAs(last.account)}
          takesFocus={phase.is === 'connected' && last.credentialId !== credential?.credentialId}
          actions={
            !isDisabled &&
            phase.is !== 'failed' && (
              <Button buttonRef={button} onClick={() => begin()}>
                {words.otherAccount}
              </Button>
            )
          }
        />
      )}
    </div>
  );
}
