/**
 * The SQL of `credentials`, always of one organization. Long because every change of a credential is here: each statement
 * repeats in its conditions what the others may have done meanwhile, and is judged against them.
 */
import type { CredentialOwner } from '@inlay/contract/credentials/credentials';
import { type ExpressionBuilder, sql } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow, Tables } from '../../kernel/db/tables.ts';

/** Which credential: the workspace comes from the caller, never from the credential itself. */
export interface CredentialRef {
  organizationId: string;
  workspaceId: string;
  credentialId: string;
}

/** A row, and the time at which it was read. */
export type SeenCredential = CredentialRow & { now: number };

export type NewCredentialRow = Pick<
  CredentialRow,
  | 'id'
  | 'workspace_id'
  | 'oauth_client_id'
  | 'source_template_id'
  | 'grant_kind'
  | 'sealed_tokens'
  | 'access_expires_at'
  | 'refresh_due_at'
  | 'scopes'
  | 'provider_values'
  | 'account_id'
  | 'account_label'
>;

export async function insertCredential(
  tx: Db,
  organizationId: string,
  credential: NewCredentialRow,
  { endsWithRevocationInMs: revokeInMs }: { endsWithRevocationInMs?: number } = {},
): Promise<CredentialRow> {
  return await tx
    .insertInto('credentials')
    .values({
      ...credential,
      organization_id: organizationId,
      owner: 'service',
      state: 'connected',
      reason: null,
      generation: 1,
      failures: 0,
      used_at: null,
      tried_generation: null,
      tries: 0,
      lease_id: null,
      lease_until: 0,
      last_error: null,
      revoke_due_at: null,
      revoke_tries: 0,
      revocation: null,
      created_at: now,
      updated_at: now,
      signed_in_at: now,
      ended_at: null,
      ...(revokeInMs !== undefined && {
        ...{ state: 'ended' as const, revocation: 'due' as const },
        ...{ refresh_due_at: null, revoke_due_at: fromNow(revokeInMs), ended_at: now },
      }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * From now on a hosted platform owns the tokens, and nobody refreshes them here. Undefined: there are none to hand over, or
 * they are being refreshed at this moment.
 */
export async function putPlatformAsOwner(db: Db, ref: CredentialRef): Promise<SeenCredential | undefined> {
  return await ofRef(db, ref)
    .set({ owner: 'platform', refresh_due_at: null })
    .where('sealed_tokens', '<>', '')
    .where('state', '<>', 'ended')
    .where('grant_kind', '=', 'authorization_code')
    .where('lease_until', '<=', now)
    .returningAll()
    .returning(now.as('now'))
    .executeTakeFirst();
}

/** The platform turns out to ask this service for tokens: those that were not handed over stay here, and are refreshed here. */
export async function putServiceAsOwner(db: Db, ref: CredentialRef): Promise<void> {
  await ofRef(db, ref)
    .set({ owner: 'service', refresh_due_at: sql<number>`coalesce(refresh_due_at, ${now})` })
    .where('owner', '=', 'platform')
    .where('sealed_tokens', '<>', '')
    .where('state', '<>', 'ended')
    .execute();
}

/** Only of a credential that a platform owns, and only as long as its tokens are those of the generation. */
export async function dropTokens(
  db: Db,
  { organizationId, workspaceId, credentialId }: CredentialRef,
  generation: number,
): Promise<void> {
  await db
    .updateTable('credentials')
    .set({ sealed_tokens: '', refresh_due_at: null, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', credentialId)
    .where('owner', '=', 'platform')
    .where('generation', '=', generation)
    .execute();
}

export async function findCredential(db: Db, ref: CredentialRef): Promise<SeenCredential | undefined> {
  return await db
    .selectFrom('credentials')
    .selectAll()
    .select(now.as('now'))
    .where('id', '=', ref.credentialId)
    .where('organization_id', '=', ref.organizationId)
    .where('workspace_id', '=', ref.workspaceId)
    .executeTakeFirst();
}

/** Reads the row and keeps others from changing it until the transaction ends. */
export async function lockCredential(tx: Db, ref: CredentialRef): Promise<SeenCredential | undefined> {
  return await ofRef(tx, ref)
    .set({ tries: sql<number>`tries` })
    .returningAll()
    .returning(now.as('now'))
    .executeTakeFirst();
}

/**
 * Takes the lease of a generation and notes in the same statement that its refresh token is about to be sent. Undefined: there
 * is another generation, someone else has the lease, or the token was sent as often as it may be.
 */
export async function takeLease(
  db: Db,
  ref: CredentialRef,
  {
    generation,
    leaseId,
    leaseMs,
    mostTries,
  }: { generation: number; leaseId: string; leaseMs: number; mostTries: number },
): Promise<SeenCredential | undefined> {
  return await ofRef(db, ref)
    .set({
      lease_id: leaseId,
      lease_until: fromNow(leaseMs),
      tried_generation: sql<number>`generation`,
      tries: sql<number>`case when tried_generation = generation then tries + 1 else 1 end`,
    })
    .where('generation', '=', generation)
    .where('owner', '=', 'service')
    .where('lease_until', '<=', now)
    .where(isRefreshable)
    .where((where) =>
      where.or([
        where('tried_generation', 'is', null),
        where('tried_generation', '<>', generation),
        where('tries', '<', mostTries),
      ]),
    )
    .returningAll()
    .returning(now.as('now'))
    .executeTakeFirst();
}

/**
 * Failures that the operator has to fix are retried repeatedly; a grant that the customer ended stays ended until the
 * next sign-in.
 */
const isRefreshable = (where: ExpressionBuilder<Tables, 'credentials'>) =>
  where.or([
    where('state', '=', 'connected'),
    where.and([where('state', '=', 'needs_attention'), where('reason', 'in', ['client_refused', 'refused'])]),
  ]);

/** Nobody else has taken the lease since, so nobody else has sent the token. */
const isMine = (leaseId: string) => (where: ExpressionBuilder<Tables, 'credentials'>) =>
  where.or([where('lease_id', '=', leaseId), where('lease_until', '<=', now)]);

export type NewTokens = Pick<CredentialRow, 'sealed_tokens' | 'access_expires_at' | 'refresh_due_at' | 'scopes'>;
/** `reason`: why someone has to do something in spite of the new tokens; null: nobody. */
type RefreshedTokens = NewTokens & Pick<CredentialRow, 'reason' | 'last_error'>;

const settled = {
  failures: 0,
  tried_generation: null,
  tries: 0,
  lease_id: null,
  lease_until: 0,
  last_error: null,
  updated_at: now,
} as const;

/**
 * Stores what a refresh brought, in place of that generation. A credential that has ended meanwhile keeps the new tokens for
 * its revocation, and stays ended. Undefined: there is another generation, or someone else refreshes.
 */
export async function putTokens(
  tx: Db,
  ref: CredentialRef,
  { generation, leaseId }: { generation: number; leaseId: string },
  tokens: RefreshedTokens,
): Promise<CredentialRow | undefined> {
  const next = tokens.reason === null ? 'connected' : 'needs_attention';
  const hasEnded = sql<boolean>`state = 'ended'`;
  return await ofRef(tx, ref)
    .set({
      ...settled,
      ...tokens,
      refresh_due_at: sql<
        number | null
      >`case when ${hasEnded} then null else cast(${tokens.refresh_due_at} as bigint) end`,
      generation: generation + 1,
      state: sql<CredentialRow['state']>`case when ${hasEnded} then state else ${sql.lit(next)} end`,
      reason: sql<CredentialRow['reason']>`case when ${hasEnded} then null else ${sql.lit(tokens.reason)} end`,
    })
    .where('generation', '=', generation)
    .where('sealed_tokens', '<>', '')
    .where(isMine(leaseId))
    .returningAll()
    .executeTakeFirst();
}

/** New tokens from the customer, whatever state the credential was in. Nothing that was sent before counts any more. */
export async function replaceTokens(
  tx: Db,
  ref: CredentialRef,
  tokens: NewTokens & Pick<CredentialRow, 'account_id' | 'account_label' | 'provider_values'>,
): Promise<CredentialRow> {
  return await ofRef(tx, ref)
    .set({
      ...settled,
      ...tokens,
      generation: sql<number>`generation + 1`,
      // Even if a platform had the tokens of before: these are handed over again, or never.
      owner: 'service',
      state: 'connected',
      reason: null,
      revoke_due_at: null,
      revoke_tries: 0,
      revocation: null,
      signed_in_at: now,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface Failed {
  /** The token was not sent, or was answered: this time does not count. */
  isSettled: boolean;
  error: string;
  /** Until the next time. */
  pauseMs: number;
}

const oneTryLess = {
  tried_generation: sql<number | null>`case when tries > 1 then tried_generation end`,
  tries: sql<number>`tries - 1`,
};

/** Gives the lease back after a time that brought no tokens. Undefined: it was not ours any more. */
export async function putFailure(
  tx: Db,
  ref: CredentialRef,
  { generation, leaseId }: { generation: number; leaseId: string },
  { isSettled, error, pauseMs }: Failed,
): Promise<CredentialRow | undefined> {
  return await ofRef(tx, ref)
    .set({
      lease_id: null,
      lease_until: 0,
      failures: sql<number>`failures + 1`,
      last_error: error,
      refresh_due_at: sql<number | null>`case when state = 'ended' then null else ${fromNow(pauseMs)} end`,
      ...(isSettled && oneTryLess),
    })
    .where('generation', '=', generation)
    .where('lease_id', '=', leaseId)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Takes back a time that was not spent, after someone else got the lease. A credential that counts as uncertain only because of
 * that time is connected again: its token can be sent once more. Undefined: there is another generation, or an answer has decided.
 */
export async function returnTry(tx: Db, ref: CredentialRef, generation: number): Promise<CredentialRow | undefined> {
  const isUsedUp = sql<boolean>`state = 'needs_attention' and reason = 'uncertain'`;
  return await ofRef(tx, ref)
    .set({
      ...oneTryLess,
      state: sql<CredentialRow['state']>`case when ${isUsedUp} then 'connected' else state end`,
      refresh_due_at: sql<number | null>`case when ${isUsedUp} then ${now} else refresh_due_at end`,
      reason: sql<CredentialRow['reason']>`case when ${isUsedUp} then null else reason end`,
    })
    .where('generation', '=', generation)
    .where('tried_generation', '=', generation)
    .where('tries', '>', 0)
    .returningAll()
    .executeTakeFirst();
}

/** Says why someone has to do something. Undefined: there is another generation, fewer tries, or someone refreshes. */
export async function putNeedsAttention(
  tx: Db,
  ref: CredentialRef,
  { generation, leaseId, leastTries = 0 }: { generation: number; leaseId: string | null; leastTries?: number },
  { reason, error, dueAt }: { reason: CredentialRow['reason']; error: string | null; dueAt: number | null },
): Promise<CredentialRow | undefined> {
  return await ofRef(tx, ref)
    .set({
      state: 'needs_attention',
      reason,
      last_error: error,
      refresh_due_at: dueAt,
      lease_id: null,
      lease_until: 0,
      updated_at: now,
      // An answer has decided: what is known later of other times changes nothing.
      ...(leaseId !== null && { tried_generation: null, tries: 0 }),
    })
    .where('generation', '=', generation)
    .where('state', '<>', 'ended')
    .where('tries', '>=', leastTries)
    .where((where) => (leaseId === null ? where('lease_until', '<=', now) : where('lease_id', '=', leaseId)))
    .returningAll()
    .executeTakeFirst();
}

/** In use: refreshed ahead of the end of its access token from now on. */
export async function putUse(db: Db, ref: CredentialRef, generation: number, dueAt: number | null): Promise<void> {
  await ofRef(db, ref)
    .set({ used_at: now, ...(dueAt !== null && { refresh_due_at: dueAt }) })
    .where('generation', '=', generation)
    .where('state', '=', 'connected')
    .execute();
}

export async function putDue(db: Db, ref: CredentialRef, generation: number, dueAt: number | null): Promise<void> {
  await ofRef(db, ref).set({ refresh_due_at: dueAt }).where('generation', '=', generation).execute();
}

/** The sign-in of the template that it was made for; null: it has none any more. */
export async function findTemplateOAuth(
  db: Db,
  organizationId: string,
  sourceTemplateId: string,
): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('source_templates')
    .select('oauth')
    .where('organization_id', '=', organizationId)
    .where('id', '=', sourceTemplateId)
    .executeTakeFirst();
  return row?.oauth;
}

/** Tokens that a connector has refreshed, replacing those that it was given. */
export async function putHandedBack(
  tx: Db,
  ref: CredentialRef,
  generation: number,
  tokens: Pick<CredentialRow, 'sealed_tokens' | 'access_expires_at'>,
): Promise<CredentialRow | undefined> {
  return await ofRef(tx, ref)
    .set({ ...settled, ...tokens, generation: generation + 1 })
    .where('generation', '=', generation)
    .where('sealed_tokens', '<>', '')
    .returningAll()
    .executeTakeFirst();
}

/** The end, whether it worked or not. Its tokens are kept until they are revoked at the provider. */
export async function putEnd(tx: Db, ref: CredentialRef): Promise<CredentialRow | undefined> {
  return await ofRef(tx, ref)
    .set({
      state: 'ended',
      reason: null,
      refresh_due_at: null,
      revocation: 'due',
      revoke_due_at: now,
      revoke_tries: 0,
      updated_at: now,
      ended_at: now,
    })
    .where('state', '<>', 'ended')
    .returningAll()
    .executeTakeFirst();
}

/** The credentials of a workspace that have not ended. */
export async function listLive(
  tx: Db,
  { organizationId, workspaceId }: Omit<CredentialRef, 'credentialId'>,
): Promise<{ id: string }[]> {
  return await tx
    .selectFrom('credentials')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('state', '<>', 'ended')
    .orderBy('id')
    .execute();
}

export async function isUsed(tx: Db, ref: CredentialRef): Promise<boolean> {
  const user = await tx
    .selectFrom('sources')
    .select('id')
    .where('organization_id', '=', ref.organizationId)
    .where('workspace_id', '=', ref.workspaceId)
    .where('credential_id', '=', ref.credentialId)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
}

export interface Listed {
  workspaceId?: string | undefined;
  credentialId?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function listCredentials(
  db: Db,
  organizationId: string,
  { workspaceId, credentialId, limit }: Listed,
): Promise<CredentialRow[]> {
  let query = db.selectFrom('credentials').selectAll().where('organization_id', '=', organizationId);
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId);
  if (credentialId !== undefined) query = query.where('id', '=', credentialId);
  return await query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute();
}

/** The sources that use them, by the id of the credential. */
export async function listUsers(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  if (ids.length === 0) return users;
  const rows = await db
    .selectFrom('sources')
    .select(['id', 'credential_id'])
    .where('organization_id', '=', organizationId)
    .where('credential_id', 'in', ids)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  for (const { id, credential_id: used } of rows) users.set(used ?? '', [...(users.get(used ?? '') ?? []), id]);
  return users;
}

function ofRef(db: Db, ref: CredentialRef) {
  return db
    .updateTable('credentials')
    .where('id', '=', ref.credentialId)
    .where('organization_id', '=', ref.organizationId)
    .where('workspace_id', '=', ref.workspaceId);
}

/** A credential of the operator's own, of which a workspace has one for each template. */
export async function findOwn(
  tx: Db,
  wanted: {
    organizationId: string;
    workspaceId: string;
    templateId: string;
    oauthClientId: string;
    grant: CredentialRow['grant_kind'];
  },
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('credentials')
    .select('id')
    .where('organization_id', '=', wanted.organizationId)
    .where('workspace_id', '=', wanted.workspaceId)
    .where('source_template_id', '=', wanted.templateId)
    .where('oauth_client_id', '=', wanted.oauthClientId)
    .where('grant_kind', '=', wanted.grant)
    .where('state', '<>', 'ended')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** Only of a workspace that is not being deleted, and of the organization that has both. */
export async function findOwner(
  db: Db,
  { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
): Promise<{ organizationId: string; owner: CredentialOwner } | undefined> {
  return await db
    .selectFrom('credentials')
    .innerJoin('workspaces', (join) =>
      join
        .onRef('workspaces.id', '=', 'credentials.workspace_id')
        .onRef('workspaces.organization_id', '=', 'credentials.organization_id'),
    )
    .select(['credentials.organization_id as organizationId', 'credentials.owner'])
    .where('credentials.workspace_id', '=', workspaceId)
    .where('credentials.id', '=', credentialId)
    .where('workspaces.lifecycle', '=', 'live')
    .executeTakeFirst();
}
