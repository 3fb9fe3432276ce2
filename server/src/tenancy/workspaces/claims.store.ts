/**
 * The SQL of `name_claims`: at once the lock on a name, the intent to create, and the binding of a name to an id.
 * Taking the lease and binding are one statement each, the same on both databases.
 */
import { type NotNull, sql } from 'kysely';
import { insertionOf } from '../../kernel/db/given-rows.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import type { NameClaimRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { deleted, listLiveByName } from './workspaces.store.ts';

const workspaceByName = prepare((db, organizationId: string, name: string) =>
  db
    .selectFrom('name_claims')
    .innerJoin('workspaces', 'workspaces.id', 'name_claims.workspace_id')
    .select(['workspaces.id', 'workspaces.name', 'workspaces.lifecycle', 'workspaces.token_gen'])
    .where('name_claims.organization_id', '=', organizationId)
    .where('name_claims.name', '=', name)
    .where('workspaces.organization_id', '=', organizationId)
    .where('workspaces.lifecycle', '<>', deleted),
);

/** What a token request has to know of a workspace. */
export type NamedWorkspace = Pick<WorkspaceRow, 'id' | 'name' | 'lifecycle' | 'token_gen'>;

/** The workspace to which a name is bound, live or being deleted. */
export async function findWorkspaceByName(
  db: Db,
  organizationId: string,
  name: string,
): Promise<NamedWorkspace | undefined> {
  return (await workspaceByName(db, organizationId, name))[0];
}

export async function findClaim(db: Db, organizationId: string, name: string): Promise<NameClaimRow | undefined> {
  return await db
    .selectFrom('name_claims')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .executeTakeFirst();
}

export interface Lease {
  organizationId: string;
  name: string;
  leaseId: string;
}

/** Returns the claim if the lease is now ours: a new claim, or an unbound claim whose lease has ended. */
export async function takeLease(
  db: Db,
  lease: Lease,
  leaseMs: number,
): Promise<(NameClaimRow & { now: number }) | undefined> {
  return await db
    .insertInto('name_claims')
    .values({
      organization_id: lease.organizationId,
      name: lease.name,
      state: 'creating',
      workspace_id: null,
      lease_id: lease.leaseId,
      lease_until: sql<number>`now_ms() + ${sql.lit(leaseMs)}`,
      no_post_before: 0,
      attempts: 1,
      last_error: null,
      created_at: sql<number>`now_ms()`,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'name'])
        .doUpdateSet({
          lease_id: lease.leaseId,
          lease_until: sql<number>`now_ms() + ${sql.lit(leaseMs)}`,
          attempts: sql<number>`name_claims.attempts + 1`,
        })
        .where('name_claims.state', '=', 'creating')
        .where('name_claims.lease_until', '<=', sql<number>`now_ms()`),
    )
    .returningAll()
    .returning(sql<number>`now_ms()`.as('now'))
    .executeTakeFirst();
}

function held(db: Db, lease: Lease) {
  return db
    .updateTable('name_claims')
    .where('organization_id', '=', lease.organizationId)
    .where('name', '=', lease.name)
    .where('lease_id', '=', lease.leaseId)
    .where('state', '=', 'creating');
}

/** Prolongs a lease that is still ours. Returns how long a create must still wait; undefined when the lease is lost. */
export async function renewLease(db: Db, lease: Lease, leaseMs: number): Promise<{ waitMs: number } | undefined> {
  const row = await held(db, lease)
    .set({ lease_until: sql<number>`now_ms() + ${sql.lit(leaseMs)}` })
    .returning(sql<number>`no_post_before - now_ms()`.as('waitMs'))
    .executeTakeFirst();
  return row && { waitMs: Math.max(0, row.waitMs) };
}

/**
 * Called before a create is sent; works only while the lease is ours. It is on disk, so no other process sends a create
 * before the window has passed.
 */
export async function openSettleWindow(db: Db, lease: Lease, leaseMs: number, windowMs: number): Promise<boolean> {
  const row = await held(db, lease)
    .set({
      lease_until: sql<number>`now_ms() + ${sql.lit(leaseMs)}`,
      no_post_before: sql<number>`now_ms() + ${sql.lit(windowMs)}`,
    })
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives the lease up and keeps the claim with its settle window. */
export async function releaseLease(db: Db, lease: Lease, lastError: string): Promise<void> {
  await held(db, lease).set({ lease_until: 0, last_error: lastError }).execute();
}

/** Gives up the claim and its lease: certainly no workspace was created for it, and none will be. */
export async function dropUnboundClaim(tx: Db, lease: Lease): Promise<void> {
  const claim = await held(tx, lease).set({ lease_until: 0 }).returning('name').executeTakeFirst();
  if (claim) await deleteUnlessCalledSo(tx, lease.organizationId, claim.name);
}

/**
 * Deletes a claim that this transaction has locked, unless a live workspace has that name. Code that records such a
 * workspace later claims the name itself.
 */
async function deleteUnlessCalledSo(tx: Db, organizationId: string, name: string): Promise<void> {
  if ((await listLiveByName(tx, organizationId, name)).length > 0) return;
  await tx.deleteFrom('name_claims').where('organization_id', '=', organizationId).where('name', '=', name).execute();
}

function insertBound(tx: Db, organizationId: string, claims: { name: string; workspace_id: string }[]) {
  const { columns, expression } = insertionOf(tx, { name: 'text', workspace_id: 'uuid' }, claims, {
    organization_id: sql.val(organizationId),
    name: sql.ref('given.name'),
    state: sql.lit('bound'),
    workspace_id: sql.ref('given.workspace_id'),
    lease_id: sql.lit(''),
    lease_until: sql.lit(0),
    no_post_before: sql.lit(0),
    attempts: sql.lit(0),
    last_error: sql.lit(null),
    created_at: sql`now_ms()`,
  });
  return tx.insertInto('name_claims').columns(columns).expression(expression);
}

/**
 * Binds names to workspaces unless they are bound already. No lease is needed: the first writer wins. Returns the ids
 * that were bound. The settle window stays: a create that was sent may still take effect, whether the name is bound or
 * not.
 */
export async function bindAllUnbound(
  tx: Db,
  organizationId: string,
  idsByName: ReadonlyMap<string, string>,
): Promise<(string | null)[]> {
  if (idsByName.size === 0) return [];
  // The same order everywhere, so that two such transactions never wait for each other's rows.
  const names = [...idsByName].sort(([a], [b]) => (a < b ? -1 : 1));
  const bound = await insertBound(
    tx,
    organizationId,
    names.map(([name, workspace_id]) => ({ name, workspace_id })),
  )
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'name'])
        .doUpdateSet({ state: 'bound', workspace_id: sql`excluded.workspace_id`, lease_until: 0, last_error: null })
        .where('name_claims.state', '=', 'creating'),
    )
    .returning('workspace_id')
    .execute();
  return bound.map((claim) => claim.workspace_id);
}

/** Binds one name in the same way. Returns the id to which the name is bound. */
export async function bindIfUnbound(
  tx: Db,
  organizationId: string,
  name: string,
  workspaceId: string,
): Promise<string> {
  const bound = await bindAllUnbound(tx, organizationId, new Map([[name, workspaceId]]));
  if (bound.length > 0) return workspaceId;
  const { workspace_id } = await tx
    .selectFrom('name_claims')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  if (workspace_id === null) throw new Error('a name that could not be bound is bound to nothing');
  return workspace_id;
}

/** Claims a name for an existing workspace. False when the name is claimed already, even if only for a create. */
export async function claimForWorkspace(
  tx: Db,
  organizationId: string,
  name: string,
  workspaceId: string,
): Promise<boolean> {
  const inserted = await insertBound(tx, organizationId, [{ name, workspace_id: workspaceId }])
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returning('name')
    .executeTakeFirst();
  if (inserted) return true;
  const claim = await findClaim(tx, organizationId, name);
  return claim?.workspace_id === workspaceId;
}

export async function claimsOf(
  db: Db,
  organizationId: string,
  workspaceIds: string[],
): Promise<{ name: string; workspace_id: string }[]> {
  if (workspaceIds.length === 0) return [];
  return await db
    .selectFrom('name_claims')
    .select(['name', 'workspace_id'])
    .where('organization_id', '=', organizationId)
    .where('workspace_id', 'in', workspaceIds)
    .$narrowType<{ workspace_id: NotNull }>()
    .execute();
}

/**
 * The create that was sent under this lease is confirmed, so it cannot take effect later. A window that another process
 * has opened meanwhile stays open.
 */
export async function closeSettleWindow(tx: Db, { organizationId, name, leaseId }: Lease): Promise<void> {
  await tx
    .updateTable('name_claims')
    .set({ no_post_before: 0 })
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .where('lease_id', '=', leaseId)
    .execute();
}

/**
 * Frees one name of a workspace, or all. In two cases the claim stays and only becomes unbound: when the outcome of a
 * create for the name is still unknown, and when another live workspace has the name. Then no rename may take the name,
 * and the next token request or the reconciler finds out which workspace it belongs to.
 */
export async function dropClaims(tx: Db, organizationId: string, workspaceId: string, name?: string): Promise<void> {
  let chosen = tx
    .updateTable('name_claims')
    .set({ state: 'creating', workspace_id: null, lease_id: '', lease_until: 0 })
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId);
  if (name !== undefined) chosen = chosen.where('name', '=', name);
  for (const claim of await chosen.returning(['name', 'no_post_before']).execute()) {
    if (claim.no_post_before > 0) continue;
    await deleteUnlessCalledSo(tx, organizationId, claim.name);
  }
}

/** Records that the outcome of the create is known. Does nothing if another create was sent meanwhile. */
export async function recordSettled(
  tx: Db,
  organizationId: string,
  claim: Pick<NameClaimRow, 'name' | 'no_post_before'>,
): Promise<void> {
  await tx
    .updateTable('name_claims')
    .set({ no_post_before: 0 })
    .where('organization_id', '=', organizationId)
    .where('name', '=', claim.name)
    .where('no_post_before', '=', claim.no_post_before)
    .execute();
}
