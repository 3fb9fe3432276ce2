/** Sign-in with an operator token, a one-time link, or the organization's identity provider if configured. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError, beginOidc, callSession } from '../../api/client.ts';
import type { ConsoleSession } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { words } from '../../words/words.ts';
import { rememberPlace } from './way-back.ts';

interface SignInProps {
  /** Code of a one-time link. Only the button uses it up, because link scanners open links too. */
  code?: string | undefined;
  /** Inside a dialog, which has its own title. */
  isWithin?: boolean;
  onSignedIn(session: ConsoleSession): void;
  onLeaveLink?: () => void;
}

export function SignIn({ code, isWithin = false, onSignedIn, onLeaveLink }: SignInProps) {
  useEffect(() => {
    if (!isWithin) document.title = `${words.signIn.title} · Inlay`;
  }, []);
  return (
    <div class={isWithin ? 'c-sign-in-within' : 'c-sign-in'}>
      {!isWithin && (
        <div class="c-sign-in-head">
          <span class="c-brand-mark" aria-hidden="true" />
          <h1>{code ? words.signIn.linkTitle : words.signIn.title}</h1>
          <p class="c-muted">{code ? words.signIn.linkText : words.signIn.lead}</p>
        </div>
      )}
      {code ? (
        <LinkWay code={code} onSignedIn={onSignedIn} onLeave={() => onLeaveLink?.()} />
      ) : (
        <TokenWay onSignedIn={onSignedIn} />
      )}
    </div>
  );
}

function LinkWay({
  code,
  onSignedIn,
  onLeave,
}: {
  code: string;
  onSignedIn: SignInProps['onSignedIn'];
  onLeave(): void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [mustReplace, setMustReplace] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const spend = async () => {
    setBusy(true);
    setError(undefined);
    try {
      onSignedIn(
        await callSession<ConsoleSession>('POST', '/link', { code, ...(mustReplace ? { replace: true } : {}) }),
      );
    } catch (failure) {
      if (failure instanceof ApiError && failure.status === 409 && !mustReplace) setMustReplace(true);
      else setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {mustReplace && !error && (
        <div class="c-ask" role="alert">
          <p class="c-strong">{words.signIn.replaceTitle}</p>
          <p>{words.signIn.replaceText}</p>
        </div>
      )}
      {error !== undefined && (
        <>
          <ErrorNotice error={error} takesFocus />
          <p class="c-muted">{words.signIn.linkFailed}</p>
        </>
      )}
      <div class="c-stack">
        <Button kind="primary" isBusy={isBusy} onClick={() => void spend()}>
          {mustReplace ? words.signIn.replace : words.signIn.useLink}
        </Button>
        <Button onClick={onLeave}>{words.cancel}</Button>
      </div>
    </>
  );
}

function TokenWay({ onSignedIn }: { onSignedIn: SignInProps['onSignedIn'] }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const [hasOidc, setHasOidc] = useState(false);
  const isLeaving = useRef(false);
  useEffect(() => {
    input.current?.focus();
    callSession<{ oidc: boolean }>('GET', '/ways').then(
      ({ oidc }) => setHasOidc(oidc),
      // A token always works.
      () => undefined,
    );
  }, []);
  const submit = async () => {
    const token = input.current?.value.trim() ?? '';
    setMissing(token === '');
    if (token === '' || isBusy) return input.current?.focus();
    setBusy(true);
    setError(undefined);
    try {
      const session = await callSession<ConsoleSession>('POST', '', { token });
      if (input.current) input.current.value = '';
      onSignedIn(session);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const beginWithProvider = async () => {
    if (isLeaving.current) return;
    // A second start would invalidate the first.
    isLeaving.current = true;
    setError(undefined);
    try {
      const address = await beginOidc();
      rememberPlace();
      location.assign(address);
    } catch (failure) {
      isLeaving.current = false;
      setError(failure);
    }
  };
  return (
    <>
      {hasOidc && (
        <>
          <button
            type="button"
            class="inlay-button inlay-button-primary c-wide-button"
            onClick={() => void beginWithProvider()}
          >
            <span>{words.signIn.oidc}</span>
          </button>
          <p class="c-or">{words.signIn.or}</p>
        </>
      )}
      {error !== undefined && <ErrorNotice error={error} takesFocus />}
      <form
        class="c-stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="c-field">
          <label for={id}>{words.signIn.token}</label>
          <input
            class="c-control"
            id={id}
            ref={input}
            type="password"
            autoComplete="off"
            spellcheck={false}
            aria-invalid={isMissing}
            aria-describedby={`${id}-hint`}
          />
          <p class={isMissing ? 'c-fault' : 'c-hint'} id={`${id}-hint`}>
            {isMissing ? words.signIn.missing : words.signIn.tokenHint}
          </p>
        </div>
        <Button kind={hasOidc ? 'secondary' : 'primary'} type="submit" isBusy={isBusy}>
          {words.signIn.submit}
        </Button>
      </form>
      <details class="c-more">
        <summary>{words.signIn.noToken}</summary>
        <p>{words.signIn.command}</p>
        <code class="c-command">npx inlay console link</code>
      </details>
    </>
  );
}
