/**
 * Tokens that a provider has given and that nobody will use: of a sign-in that did not end well, or of the account that
 * another one has replaced. They are kept like a credential that has ended, so that the provider is told of them in the
 * same way (revocation.worker.ts).
 */
import type { Db } from '../db/open.ts';
import { databaseTime } from '../db/open.ts';
import type { OAuthContext } from './context.ts';
import * as credentials from './credentials.store.ts';
import { sealTokens } from './sealed-tokens.ts';

/**
 * A customer whose sign-in failed mostly tries again at once. Many providers end everything that an account has given to a
 * client, so the next sign-in would end as well. After the pause, its credential shows that the grant is still needed.
 */
const pauseMs = 15 * 60_000;

export interface Leftover {
  accessToken: string;
  refreshToken: string | undefined;
  scopes: readonly string[];
  /** As checkValues gives them. */
  values: Record<string, string>;
  accountId: string | null;
  accountLabel: string | null;
  organizationId: string;
  workspaceId: string;
  oauthClientId: string;
  sourceTemplateId: string;
}

/**
 * In the transaction of the caller, whose entry in the log says why. Gives the id of the credential that has ended. `isTest`:
 * an operator waits to read that the provider was told.
 */
export async function recordLeftover(
  { sealer, runtime }: Pick<OAuthContext, 'sealer' | 'runtime'>,
  tx: Db,
  left: Leftover,
  { isTest = false } = {},
): Promise<string> {
  const id = runtime.newId();
  const { accessToken, refreshToken = null } = left;
  await credentials.insertCredential(
    tx,
    left.organizationId,
    {
      id,
      workspace_id: left.workspaceId,
      oauth_client_id: left.oauthClientId,
      source_template_id: left.sourceTemplateId,
      grant_kind: 'authorization_code',
      owner: 'service',
      sealed_tokens: sealTokens(sealer, id, { accessToken, refreshToken, issuedAt: await databaseTime(tx), taken: {} }),
      access_expires_at: null,
      refresh_due_at: null,
      scopes: JSON.stringify(left.scopes),
      provider_values: JSON.stringify(left.values),
      account_id: left.accountId,
      account_label: left.accountLabel,
    },
    { endsWithRevocationInMs: isTest ? 0 : pauseMs },
  );
  return id;
}
