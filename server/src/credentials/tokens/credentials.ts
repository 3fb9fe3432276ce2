/**
 * Credentials: the tokens that a provider has given for a workspace.
 *
 * What always holds: a credential belongs to one workspace, and every look-up names it. Its tokens are stored sealed, and
 * leave this folder only for a connector of that workspace (access.ts). Its id stays when the customer signs in again; its
 * generation grows with every new token. Refreshing is in refresh.ts.
 */
import type { CredentialGrant } from '@inlay/contract/credentials/credentials';
import { databaseTime } from '@inlay/database/open-database';
import { isCustomersGrant, signInOf } from '../../catalog/forms/sign-in.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow, SourceRow, SourceTemplateRow } from '../../kernel/db/tables.ts';
import { invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import { findClient } from '../clients/clients.store.ts';
import { providerOf } from '../clients/clients.ts';
import type { OAuthContext, RecordContext } from '../context.ts';
import type { Tokens } from '../provider/token-answers.ts';
import type { CredentialRef } from './credentials.store.ts';
import * as credentials from './credentials.store.ts';
import { nextLook } from './refreshes.ts';

/** What a flow has brought. */
export interface GivenTokens extends Pick<Tokens, 'accessToken' | 'refreshToken' | 'expiresInSeconds'> {
  /** What was granted. */
  scopes: readonly string[];
  /** As checkValues gives them. */
  values: Record<string, string>;
  /** What the provider returned besides the tokens. */
  taken: Record<string, string>;
  /** As accountIdOf gives it. */
  accountId: string | null;
  accountLabel: string | null;
}

export interface NewCredential extends GivenTokens {
  organizationId: string;
  workspaceId: string;
  oauthClientId: string;
  sourceTemplateId: string;
  grant: CredentialGrant;
}

/** In the transaction of the caller. */
export async function recordCredential(ctx: RecordContext, tx: Db, given: NewCredential): Promise<CredentialRow> {
  const id = ctx.runtime.newId();
  const row = await credentials.insertCredential(tx, given.organizationId, {
    id,
    workspace_id: given.workspaceId,
    oauth_client_id: given.oauthClientId,
    source_template_id: given.sourceTemplateId,
    grant_kind: given.grant,
    ...(await columnsOf(ctx, tx, id, given, { grant: given.grant, oldRefreshToken: null })),
  });
  await recordConnected(ctx.journal, tx, { before: undefined, after: row });
  return row;
}

/**
 * New tokens for a credential after its customer has signed in again. Whatever was wrong with it is over; what a refresh
 * of the old tokens brings from now on is thrown away.
 */
export async function renewCredential(
  ctx: OAuthContext,
  tx: Db,
  ref: CredentialRef,
  given: GivenTokens,
): Promise<CredentialRow> {
  await ctx.users.hold(tx, ref.workspaceId);
  const before = await credentials.lockCredential(tx, ref);
  if (!before) throw new Error(`there is no credential ${ref.credentialId}`);
  const isSameAccount = before.account_id !== null && before.account_id === given.accountId;
  // A provider that gives a refresh token only the first time means the same grant.
  const old = openTokens(ctx.sealer, before);
  const oldRefreshToken = isSameAccount ? (old?.refreshToken ?? null) : null;
  // The previous account is no longer connected, so its tokens are revoked at the provider.
  if (old && !isSameAccount && before.state === 'connected') await recordLeftover(ctx, tx, formerTokens(before, old));
  const columns = await columnsOf(ctx, tx, ref.credentialId, given, { grant: before.grant_kind, oldRefreshToken });
  const after = await credentials.replaceTokens(tx, ref, columns);
  await recordConnected(ctx.journal, tx, { before, after });
  await ctx.users.changed(ctx.journal, tx, ref);
  if (before.owner === 'platform') await ctx.users.replaced(tx, ref);
  return after;
}

function formerTokens(row: CredentialRow, { accessToken, refreshToken }: StoredTokens): Leftover {
  return {
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    oauthClientId: row.oauth_client_id,
    sourceTemplateId: row.source_template_id,
    accessToken,
    refreshToken: refreshToken ?? undefined,
    scopes: JSON.parse(row.scopes),
    values: JSON.parse(row.provider_values),
    accountId: row.account_id,
    accountLabel: row.account_label,
  };
}

async function columnsOf(
  { sealer, runtime }: RecordContext,
  tx: Db,
  id: string,
  given: GivenTokens,
  { grant, oldRefreshToken }: { grant: CredentialGrant; oldRefreshToken: string | null },
) {
  const now = await databaseTime(tx);
  const { accessToken, taken } = given;
  const refreshToken = given.refreshToken ?? oldRefreshToken;
  const expiresAt = expiryOf(given, now);
  const canRefresh = refreshToken !== null || grant !== 'authorization_code';
  return {
    sealed_tokens: sealTokens(sealer, id, { accessToken, refreshToken, issuedAt: now, taken }),
    access_expires_at: expiresAt,
    // It was made to be used.
    refresh_due_at: nextLook({ now, expiresAt, canRefresh, usedAt: now, chance: runtime.random() }),
    scopes: JSON.stringify(given.scopes),
    provider_values: JSON.stringify(given.values),
    account_id: given.accountId,
    account_label: given.accountLabel,
  };
}

/** They are stored sealed as a whole, and nothing of them is stored anywhere else. */
export interface StoredTokens {
  accessToken: string;
  /** Null: the customer has to sign in again when the access token ends. */
  refreshToken: string | null;
  /** By the clock of the database. */
  issuedAt: number;
  /** Values from the provider that a source needs. */
  taken: Record<string, string>;
}

const contextOf = (credentialId: string) => `credential ${credentialId}`;

export function sealTokens(sealer: Sealer, credentialId: string, tokens: StoredTokens): string {
  return sealer.seal(Buffer.from(JSON.stringify(tokens)), contextOf(credentialId));
}

/** Undefined: a platform has them, or they have ended. */
export function openTokens(sealer: Sealer, row: { id: string; sealed_tokens: string }): StoredTokens | undefined {
  if (row.sealed_tokens === '') return undefined;
  return JSON.parse(sealer.open(row.sealed_tokens, contextOf(row.id)).toString());
}

/**
 * A customer whose flow failed mostly tries again at once. Many providers end everything that an account has given to a
 * client, so what the next flow brings would end as well. After the pause, its credential shows that the grant is still needed.
 */
const revocationPauseMs = 15 * 60_000;

/**
 * Tokens that nobody will use: from a failed flow, or of a replaced account. They are kept like an ended credential
 * until they are revoked at the provider (revocation.worker.ts).
 */
type Leftover = Omit<NewCredential, 'expiresInSeconds' | 'taken' | 'grant'>;

/**
 * Runs in the caller's transaction, whose log entry gives the reason. Returns the id of the ended credential. `isTest`:
 * an operator waits for the result of the revocation.
 */
export async function recordLeftover(
  { sealer, runtime }: RecordContext,
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
      sealed_tokens: sealTokens(sealer, id, { accessToken, refreshToken, issuedAt: await databaseTime(tx), taken: {} }),
      access_expires_at: null,
      refresh_due_at: null,
      scopes: JSON.stringify(left.scopes),
      provider_values: JSON.stringify(left.values),
      account_id: left.accountId,
      account_label: left.accountLabel,
    },
    { endsWithRevocationInMs: isTest ? 0 : revocationPauseMs },
  );
  return id;
}

/**
 * The id of the operator's own credential for a template (client credentials, JWT bearer); undefined where customers sign in,
 * or enter keys. Each workspace has one for each template. It is made without tokens: they are requested when a connector
 * starts. The caller holds the workspace, so that there is never a second one.
 */
export async function ensureOwnCredential(
  ctx: RecordContext,
  tx: Db,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  template: Pick<SourceTemplateRow, 'id' | 'oauth'>,
): Promise<string | undefined> {
  const oauth = signInOf(template);
  if (!oauth || isCustomersGrant(oauth)) return undefined;
  const { grant = 'client_credentials', oauth_client_id: oauthClientId } = oauth;
  const wanted = { organizationId, workspaceId, templateId: template.id, oauthClientId, grant };
  const known = await credentials.findOwn(tx, wanted);
  if (known !== undefined) return known;
  const client = await findClient(tx, organizationId, oauthClientId);
  const { scopes = [] } = client ? providerOf(client) : {};
  const made = await recordCredential(ctx, tx, {
    ...{ organizationId, workspaceId, oauthClientId, sourceTemplateId: template.id, grant },
    ...{ accessToken: '', refreshToken: undefined, expiresInSeconds: 0 },
    scopes: [...new Set([...scopes, ...(oauth.scopes ?? []), ...(oauth.optional_scopes ?? [])])],
    ...{ values: {}, taken: {}, accountId: null, accountLabel: null },
  });
  return made.id;
}

/**
 * Throws unless the workspace has this credential, for this template. A credential of another workspace is answered as
 * one that does not exist. In a transaction, nobody ends the credential until the transaction does.
 */
export async function holdCredential(
  tx: Db,
  { templateId, ...ref }: CredentialRef & { templateId: string },
): Promise<void> {
  const row = await credentials.lockCredential(tx, ref);
  if (row && row.state !== 'ended' && row.source_template_id === templateId) return;
  throw invalidRequest({
    loc: ['body', 'credential_id'],
    msg: 'no sign-in has this id for this template',
    type: 'value_error',
  });
}

/**
 * A source has stopped using its credential. Once no source uses it, the credential ends, and its tokens will be
 * revoked at the provider.
 */
export async function releaseCredential(
  journal: Journal,
  tx: Db,
  source: Pick<SourceRow, 'organization_id' | 'workspace_id' | 'credential_id'>,
): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId, credential_id: credentialId } = source;
  if (credentialId === null) return;
  const ref = { organizationId, workspaceId, credentialId };
  const before = await credentials.lockCredential(tx, ref);
  if (!before || (await credentials.isUsed(tx, ref))) return;
  const after = await credentials.putEnd(tx, ref);
  if (after) await recordEnd(journal, tx, { before, after }, 'deleted');
}

/** What entries of the log say of a credential: no token, and no name of an account, because entries stay for ever. */
const about = ({ id, oauth_client_id, source_template_id }: CredentialRow) => ({
  credential: { id, oauth_client_id, source_template_id },
});

/** For the audit. */
function settingsOf(row: CredentialRow) {
  return {
    state: row.state,
    reason: row.reason,
    owner: row.owner,
    grant: row.grant_kind,
    scopes: JSON.parse(row.scopes),
    account: row.account_id,
    generation: row.generation,
  };
}

async function recordConnected(
  journal: Journal,
  tx: Db,
  { before, after }: { before: CredentialRow | undefined; after: CredentialRow },
): Promise<void> {
  await journal.record(tx, after.organization_id, {
    type: 'credential.connected',
    workspaceId: after.workspace_id,
    data: { ...about(after), again: before !== undefined },
    change: { before: before && settingsOf(before), after: settingsOf(after) },
  });
}

export async function recordEnd(
  journal: Journal,
  tx: Db,
  { before, after }: { before: CredentialRow; after: CredentialRow },
  reason: 'deleted' | 'unused' | 'revoked' | 'uncertain' | 'expired' | 'scopes_missing',
): Promise<void> {
  await journal.record(tx, after.organization_id, {
    type: 'credential.revoked',
    workspaceId: after.workspace_id,
    data: { ...about(after), reason },
    change: { before: settingsOf(before), after: settingsOf(after) },
  });
}

export async function recordExpiring(journal: Journal, tx: Db, row: CredentialRow, expiresAt: number): Promise<void> {
  await journal.record(tx, row.organization_id, {
    type: 'credential.expiring',
    workspaceId: row.workspace_id,
    data: { ...about(row), expires_at: isoTime(expiresAt) },
  });
}

export function expiryOf({ expiresInSeconds }: Pick<Tokens, 'expiresInSeconds'>, issuedAt: number): number | null {
  return expiresInSeconds === undefined ? null : issuedAt + expiresInSeconds * 1_000;
}

export const refOf = (row: CredentialRow): CredentialRef => ({
  organizationId: row.organization_id,
  workspaceId: row.workspace_id,
  credentialId: row.id,
});
