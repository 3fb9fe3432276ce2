/** What is wrong with the sign-in of a source, as each audience reads it. Pure. */
import { problemOnOurSide, signInAgain } from '@inlay/contract/pipelines/failure-words';
import type { CredentialStatus } from './sources.store.ts';

const words = {
  revoked: 'The provider has ended the access to the account.',
  uncertain: 'Answers of the provider were lost, so that the access to the account is lost as well.',
  expired: 'The access to the account has expired, and the provider has given nothing to renew it with.',
  scopes_missing: 'The provider no longer grants everything that the template requires.',
  deleted: 'The sign-in was deleted.',
} as const;

/** Null: all is well. */
export function signInTrouble({ state, reason, last_error }: CredentialStatus) {
  if (state === 'connected') return null;
  if (reason === 'client_refused' || reason === 'refused') {
    const said = last_error === null ? '' : ` It says: ${last_error}`;
    const what =
      reason === 'client_refused'
        ? 'The provider does not accept the OAuth client. Check its id and its secret.'
        : 'The provider refuses to renew the access to the account.';
    return { message: `${what}${said}`, customerMessage: problemOnOurSide, by: 'operator' } as const;
  }
  const message = `${words[reason ?? 'deleted']} The customer has to sign in again.`;
  return { message, customerMessage: signInAgain, by: 'customer' } as const;
}
