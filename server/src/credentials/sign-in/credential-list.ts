/** Credentials as operators and customers see them, and their end by an operator. */
import type { Credential, OwnCredential } from '@inlay/contract/credentials/credentials';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OAuthContext } from '../context.ts';
import { attentionBy } from '../tokens/access.ts';
import * as credentials from '../tokens/credentials.store.ts';
import { recordEnd, refOf } from '../tokens/credentials.ts';
import { canBeRefreshed } from '../tokens/refresh.ts';
import { listUnusedCredentials } from './flows.store.ts';

export async function listCredentials(
  ctx: OAuthContext,
  organizationId: string,
  which: { workspaceId: string | undefined; limit: number },
): Promise<Credential[]> {
  return await presentAll(ctx, organizationId, await credentials.listCredentials(ctx.store.db, organizationId, which));
}

export async function getCredential(ctx: OAuthContext, organizationId: string, id: string): Promise<Credential> {
  const [shown] = await presentAll(ctx, organizationId, [await find(ctx, organizationId, id)]);
  if (!shown) throw new AppError('credential_not_found');
  return shown;
}

/** Ends it now, for every source that uses it. The tokens are revoked at the provider later. */
export async function endCredential(ctx: OAuthContext, organizationId: string, id: string): Promise<Credential> {
  const ref = refOf(await find(ctx, organizationId, id));
  await ctx.store.transaction(async (tx) => {
    await ctx.users.hold(tx, ref.workspaceId);
    const before = await credentials.lockCredential(tx, ref);
    const after = before && (await credentials.putEnd(tx, ref));
    if (!after) return;
    await recordEnd(ctx.journal, tx, { before, after }, 'deleted');
    await ctx.users.changed(ctx.journal, tx, ref);
  });
  return await getCredential(ctx, organizationId, id);
}

export async function getOwnCredential(ctx: OAuthContext, ref: credentials.CredentialRef): Promise<OwnCredential> {
  const row = await credentials.findCredential(ctx.store.db, ref);
  if (!row) throw new AppError('credential_not_found');
  return presentOwn(row);
}

/** Credentials of a customer whose source is yet to be made: signed in by a link, or from a page that may have forgotten them. */
export async function listOwnUnused(
  { store }: OAuthContext,
  {
    organizationId,
    workspaceId,
    ...of
  }: { organizationId: string; workspaceId: string; templateId: string | undefined; origin: string | undefined },
): Promise<OwnCredential[]> {
  const rows = await listUnusedCredentials(store.db, organizationId, workspaceId, of);
  return rows.map(presentOwn);
}

function presentOwn(row: CredentialRow): OwnCredential {
  const by = attentionBy(row.reason);
  const isWell = row.state === 'connected';
  const reason: Reason = { code: by === 'operator' ? 'problem_on_our_side' : 'sign_in_ended', parameters: {} };
  return {
    id: row.id,
    state: row.state,
    attention_by: isWell ? null : by,
    message: isWell ? null : sayReason(reason, 'customer'),
    reason: isWell ? null : reason,
    account: row.account_label,
    scopes: JSON.parse(row.scopes),
    signed_in_at: isoTime(row.signed_in_at),
  };
}

async function find(ctx: OAuthContext, organizationId: string, credentialId: string): Promise<CredentialRow> {
  const [row] = await credentials.listCredentials(ctx.store.db, organizationId, { credentialId, limit: 1 });
  if (!row) throw new AppError('credential_not_found');
  return row;
}

async function presentAll(
  ctx: OAuthContext,
  organizationId: string,
  rows: readonly CredentialRow[],
): Promise<Credential[]> {
  const ids = rows.map(({ id }) => id);
  const users = await credentials.listUsers(ctx.store.db, organizationId, ids);
  return rows.map((row) => ({
    id: row.id,
    workspace_id: row.workspace_id,
    oauth_client_id: row.oauth_client_id,
    grant: row.grant_kind,
    owner: row.owner,
    state: row.state,
    reason: row.reason,
    last_error: row.last_error,
    account: row.account_label,
    scopes: JSON.parse(row.scopes),
    has_refresh_token: canBeRefreshed(ctx, row),
    access_token_expires_at: row.access_expires_at === null ? null : isoTime(row.access_expires_at),
    revocation: row.revocation,
    source_ids: users.get(row.id) ?? [],
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    signed_in_at: isoTime(row.signed_in_at),
  }));
}
