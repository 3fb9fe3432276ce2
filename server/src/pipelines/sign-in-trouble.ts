/** What is wrong with the sign-in of a source, as each audience reads it. Pure. */
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import type { CredentialStatus } from './sources.store.ts';
import { operatorsOnly, sameForBoth } from './two-texts.ts';

/** Null: all is well. */
export function signInTrouble({ state, reason, last_error }: CredentialStatus) {
  if (state === 'connected') return null;
  if (reason === 'client_refused' || reason === 'refused') {
    const code = reason === 'client_refused' ? 'oauth_client_rejected' : 'provider_rejected';
    const what: Reason = { code, parameters: {} };
    const said = last_error === null ? '' : ` The provider says: ${last_error}`;
    return operatorsOnly(what, `${sayReason(what, 'operator')}${said}`);
  }
  const texts = sameForBoth({ code: 'sign_in_ended', parameters: { why: reason ?? 'deleted' } });
  return { ...texts, reasons: { ...texts.reasons, customer: { code: 'sign_in_ended', parameters: {} } as const } };
}
