/**
 * One sign-in from the click to its end. Only the service says what became of it: a window that is closed, or a message from
 * it, says nothing. Pages with a cross-origin opener policy hide the window from us although it is open.
 *
 * What always holds: one sign-in at a time, however often the customer clicks. It goes on after a reload.
 */
import type { SignInFailureCode, WidgetEvent } from '@inlay/contract/embedding';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf, RequestFailure } from '../api/failure.ts';
import { longerPauseMs, pause } from '../sources/pausing.ts';
import { useWidget } from '../widget.ts';
import { confirmSignIn, getSignIn, type SignIn, startSignIn } from './endpoints.ts';
import { forget, remember, remembered } from './memory.ts';

export interface Connected {
  credentialId: string;
  account: string | null;
}

export type SignInPhase =
  | { is: 'open' }
  /** The service has not answered yet. */
  | { is: 'starting' }
  /** `startUrl`: what to open, where it is not certain that a window has opened. */
  | { is: 'waiting'; startUrl?: string | undefined; isBack: boolean }
  | { is: 'unconfirmed'; signIn: SignIn; isConfirming: boolean }
  | ({ is: 'connected' } & Connected)
  | { is: 'failed'; code: SignInFailureCode; missingScopes: readonly string[] }
  | { is: 'error'; error: unknown };

export interface SignInWish {
  templateId: string;
  /** The source that is connected again. */
  sourceId?: string | undefined;
  /** What the source is connected with already. */
  held?: Connected | undefined;
  onConnected(connected: Connected): void;
}

export interface SignInControl {
  phase: SignInPhase;
  /** What is used until another sign-in succeeds. */
  last: Connected | undefined;
  /** With `returnTo` the whole page goes to the provider, and comes back to that address. */
  start(values: Record<string, string> | undefined, returnTo?: string): void;
  cancel(): void;
  confirm(): void;
}

const windowFeatures = 'popup,width=640,height=760';
const firstPauseMs = 1_000;
const lastPauseMs = 10_000;

type SignInEvent = Extract<WidgetEvent, { type: `sign_in_${string}` }>;

export function useSignIn({ templateId, sourceId, held, onConnected }: SignInWish): SignInControl {
  const { api, host } = useWidget();
  // What counts, until another sign-in has succeeded.
  const last = useRef(held);
  const atRest = (): SignInPhase => (last.current ? { is: 'connected', ...last.current } : { is: 'open' });
  const [phase, setPhase] = useState(atRest);
  const running = useRef<AbortController | undefined>(undefined);
  const popup = useRef<Window | null>(null);
  const named = { source_template_id: templateId, source_id: sourceId ?? null };
  const tell = (type: Exclude<SignInEvent['type'], 'sign_in_failed'>) => host.tell({ type, sign_in: named });

  function fail(code: SignInFailureCode, missingScopes: readonly string[] = []): void {
    host.tell({ type: 'sign_in_failed', sign_in: { ...named, code } });
    setPhase({ is: 'failed', code, missingScopes });
  }

  /** Runs one thing at a time, until it has ended or is cancelled. */
  async function run(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    try {
      await act(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      // The sign-in is not there any more, or can no longer be confirmed.
      if (error instanceof RequestFailure && ['not_found', 'conflict'].includes(error.kind)) fail('expired');
      else setPhase({ is: 'error', error });
    }
    if (running.current === controller) running.current = undefined;
  }

  /** Asks the service until the sign-in has ended, or waits for a confirmation. */
  async function follow(first: SignIn, isWindowSure: boolean, signal: AbortSignal): Promise<void> {
    let signIn = first;
    let pauseMs = firstPauseMs;
    while (['created', 'started', 'exchanging'].includes(signIn.state)) {
      setPhase({
        is: 'waiting',
        startUrl: isWindowSure || signIn.state !== 'created' ? undefined : first.start_url,
        isBack: signIn.state === 'exchanging',
      });
      const askedAt = Date.now();
      try {
        const { state } = signIn;
        signIn = await getSignIn(api, first.id, state, signal);
        if (signIn.state === state) await pause(Math.max(0, askedAt + firstPauseMs - Date.now()), signal);
        pauseMs = firstPauseMs;
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        if (!failure.isPassing) throw failure;
        await pause(Math.max(pauseMs, failure.retryAfterMs ?? 0), signal);
        pauseMs = longerPauseMs(pauseMs, lastPauseMs);
      }
    }
    if (signIn.state === 'unconfirmed') {
      setPhase({ is: 'unconfirmed', signIn, isConfirming: false });
      tell('sign_in_unconfirmed');
    } else end(signIn);
  }

  function end({ state, failure, missing_scopes, credential_id, account }: SignIn): void {
    if (state !== 'connected' || credential_id === null) {
      forget();
      fail(failure ?? 'refused', missing_scopes);
      return;
    }
    const connected = { credentialId: credential_id, account };
    last.current = connected;
    setPhase(atRest());
    tell('sign_in_succeeded');
    onConnected(connected);
  }

  useEffect(() => {
    const known = remembered();
    if (known?.template === templateId && known.source === sourceId) {
      void run(async (signal) => {
        try {
          await follow(await getSignIn(api, known.id, undefined, signal), true, signal);
        } catch (error) {
          // It was of another customer, or was removed.
          if (!(error instanceof RequestFailure && error.kind === 'not_found')) throw error;
          forget();
          setPhase(atRest());
        }
      });
    }
    return () => {
      running.current?.abort();
      // The customer goes to another screen. After a reload, nobody comes here.
      forget();
    };
  }, []);

  return {
    phase,
    last: last.current,
    start: (values, returnTo) =>
      void run(async (signal) => {
        setPhase({ is: 'starting' });
        const request = {
          source_template_id: templateId,
          ...(sourceId && { source_id: sourceId }),
          ...(values && { values }),
          ...(returnTo && { return_to: returnTo }),
        };
        const signIn = await startSignIn(api, request, signal);
        tell('sign_in_started');
        remember({ id: signIn.id, template: templateId, source: sourceId });
        // The browser still takes this for a result of the click, because the service answers soon. A blank window,
        // opened before, would stay blank where the browser gives no handle to it.
        const opened = window.open(signIn.start_url, returnTo === undefined ? '_blank' : '_top', windowFeatures);
        popup.current = returnTo === undefined ? opened : null;
        // The provider's page must not be able to lead this page elsewhere.
        if (popup.current) popup.current.opener = null;
        await follow(signIn, popup.current !== null, signal);
      }),
    cancel() {
      running.current?.abort();
      running.current = undefined;
      popup.current?.close();
      forget();
      host.tell({ type: 'sign_in_failed', sign_in: { ...named, code: 'cancelled' } });
      setPhase(atRest());
    },
    confirm() {
      if (phase.is !== 'unconfirmed') return;
      const { signIn } = phase;
      void run(async (signal) => {
        setPhase({ is: 'unconfirmed', signIn, isConfirming: true });
        end(await confirmSignIn(api, signIn.id, signal));
      });
    },
  };
}
