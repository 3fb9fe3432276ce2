/** What is wrong with the sign-in of a source, as each audience reads it. Pure. */
import { problemOnOurSide, signInAgain } from '@inlay/contract/pipelines/failure-words';
import type { CredentialStatus } from './sources.store.ts';

const words = {
  revoked: 'The provider revoked access to the account.',
  uncertain: 'Access to the account was lost because responses of the provider were lost.',
  expired: 'Access to the account has expired and cannot be renewed.',
  scopes_missing: 'The provider no longer grants all scopes that the template requires.',
  deleted: 'The sign-in was deleted.',
} as const;

/** Null: all is well. */
export function signInTrouble({ state, reason, last_error }: CredentialStatus) {
  if (state === 'connected') return null;
  if (reason === 'client_refused' || reason === 'refused') {
    const said = last_error === null ? '' : ` It says: ${last_error}`;
    const what =
      reason === 'client_refused'
        ? 'The provider rejected the OAuth client. Check its client id and secret.'
        : 'The provider refuses to renew access to the account.';
    return { message: `${what}${said}`, customerMessage: problemOnOurSide, by: 'operator' } as const;
  }
  const message = `${words[reason ?? 'deleted']} The customer has to sign in again.`;
  return { message, customerMessage: signInAgain, by: 'customer' } as const;
}
