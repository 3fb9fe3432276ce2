/**
 * Tokens of the operator's own (client credentials, JWT bearer): no customer signs in. Each workspace has one credential
 * for each template that wants them. It is made without tokens: they are asked for when a connector starts.
 */
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import type { Db } from '../db/open.ts';
import { findClient } from './clients.store.ts';
import { providerOf } from './clients.ts';
import type { OAuthContext } from './context.ts';
import * as credentials from './credentials.store.ts';
import { recordCredential } from './credentials.ts';

export interface OwnCredentialOf {
  organizationId: string;
  workspaceId: string;
  templateId: string;
  oauth: TemplateOAuth;
}

/** The id. The caller holds the workspace, so that there is never a second one. */
export async function ensureOwnCredential(
  ctx: OAuthContext,
  tx: Db,
  { organizationId, workspaceId, templateId, oauth }: OwnCredentialOf,
): Promise<string> {
  const { grant = 'client_credentials', oauth_client_id: oauthClientId } = oauth;
  const known = await credentials.findOwn(tx, { organizationId, workspaceId, templateId, oauthClientId, grant });
  if (known !== undefined) return known;
  const client = await findClient(tx, organizationId, oauthClientId);
  const { scopes = [] } = client ? providerOf(client) : {};
  const made = await recordCredential(ctx, tx, {
    ...{ organizationId, workspaceId, oauthClientId, sourceTemplateId: templateId, grant, owner: 'service' },
    ...{ accessToken: '', refreshToken: undefined, expiresInSeconds: 0 },
    scopes: [...new Set([...scopes, ...(oauth.scopes ?? []), ...(oauth.optional_scopes ?? [])])],
    ...{ values: {}, taken: {}, accountId: null, accountLabel: null },
  });
  return made.id;
}
