/** The SQL of `sources`. A lease says who sets a source up; `due_at` says that there is something left to do. */

import { sql } from 'kysely';
import { isFreeFor, leaseFor, noLease } from '../kernel/db/leases.ts';
import { fromNow, now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { CredentialRow, SourceRow } from '../kernel/db/tables.ts';
import type { FailureTexts, Reasons } from './two-texts.ts';

const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

interface NewSource {
  id: string;
  organizationId: string;
  workspaceId: string;
  templateId: string;
  definitionId: string;
  templateVersion: number;
  definitionVersion: number;
  name: string;
  slug: string;
  sealedConfig: string;
  credentialId: string | null;
}

export async function insertSource(tx: Db, source: NewSource): Promise<SourceRow> {
  return await tx
    .insertInto('sources')
    .values({
      id: source.id,
      organization_id: source.organizationId,
      workspace_id: source.workspaceId,
      source_template_id: source.templateId,
      definition_id: source.definitionId,
      health: 'never_synced',
      needs_attention: 0,
      name: source.name,
      slug: source.slug,
      sealed_config: source.sealedConfig,
      credential_id: source.credentialId,
      version: 1,
      applied_version: 0,
      template_version: source.templateVersion,
      applied_template_version: 0,
      definition_version: source.definitionVersion,
      lifecycle: 'live',
      platform_id: null,
      no_post_before: 0,
      unconfirmed: null,
      failure: null,
      customer_failure: null,
      failure_reasons: null,
      due_at: now,
      ...noLease,
      attempts: 0,
      last_error: null,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * The slugs of deleted sources count too: what those sources wrote at destinations is still there under their slugs.
 */
export async function slugsLike(tx: Db, workspaceId: string, slug: string): Promise<Set<string>> {
  const rows = await tx.selectFrom('sources').select('slug').where('workspace_id', '=', workspaceId).execute();
  return new Set(rows.map((row) => row.slug).filter((known) => known.startsWith(slug)));
}

export async function findSource(db: Db, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  return await db
    .selectFrom('sources')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lifecycle', '=', 'live')
    .executeTakeFirst();
}

/** Whether any workspace of the organization has this source. */
export async function existsSource(db: Db, organizationId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('sources')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('lifecycle', '=', 'live')
    .executeTakeFirst();
  return row !== undefined;
}

/** Oldest first. */
export async function listSources(db: Db, workspaceId: string): Promise<SourceRow[]> {
  return await db
    .selectFrom('sources')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('lifecycle', '=', 'live')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Records a change, forgets earlier failures and delays, and makes setting up the source due at once. */
export async function changeSource(
  tx: Db,
  workspaceId: string,
  id: string,
  changes: Partial<Pick<SourceRow, 'name' | 'sealed_config' | 'lifecycle' | 'definition_version' | 'credential_id'>>,
): Promise<SourceRow | undefined> {
  return await tx
    .updateTable('sources')
    .set({
      ...changes,
      version: sql`version + 1`,
      failure: null,
      customer_failure: null,
      due_at: now,
      attempts: 0,
      last_error: null,
      updated_at: laterThanUpdatedAt,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lifecycle', '=', 'live')
    .returningAll()
    .executeTakeFirst();
}

/** Takes the lease on the source and returns it; undefined when nothing is due or another worker has the lease. */
export async function leaseSource(
  db: Db,
  workspaceId: string,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<(SourceRow & { now: number }) | undefined> {
  return await db
    .updateTable('sources')
    .set(leaseFor(leaseId, leaseMs))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('due_at', 'is not', null)
    .where(isFreeFor(leaseId))
    .returningAll()
    .returning(now.as('now'))
    .executeTakeFirst();
}

/** Puts the rest of the work off and gives the lease back. */
export async function postponeSource(
  db: Db,
  workspaceId: string,
  id: string,
  leaseId: string,
  { delayMs, error }: { delayMs: number; error: string },
): Promise<void> {
  await db
    .updateTable('sources')
    .set({
      ...noLease,
      due_at: fromNow(delayMs),
      attempts: sql<number>`attempts + 1`,
      last_error: error,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .execute();
}

/** Records that all is done for this version; false if the source was changed meanwhile and there is more to do. */
export async function finishSource(
  db: Db,
  workspaceId: string,
  id: string,
  leaseId: string,
  version: number,
  texts: (Pick<FailureTexts, 'operator' | 'customer'> & { reasons: Reasons | null }) | null,
): Promise<boolean> {
  const row = await db
    .updateTable('sources')
    .set({
      due_at: null,
      ...noLease,
      attempts: 0,
      last_error: null,
      failure: texts?.operator ?? null,
      customer_failure: texts?.customer ?? null,
      failure_reasons: texts?.reasons ? JSON.stringify(texts.reasons) : null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .where('version', '=', version)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function recordApplied(
  db: Db,
  workspaceId: string,
  id: string,
  applied: { version: number; templateVersion: number },
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ applied_version: applied.version, applied_template_version: applied.templateVersion })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** A source that the platform does not have yet gets the newest version of its template. */
export async function applyNewestVersion(
  db: Db,
  workspaceId: string,
  id: string,
  templateVersion: number,
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ template_version: templateVersion })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('platform_id', 'is', null)
    .execute();
}

/**
 * Forgets its configuration, and gives the row with the configuration that it had. Undefined when it was deleted before: with
 * its workspace, or by another worker.
 */
export async function recordSourceDeleted(tx: Db, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  const before = await findAnySource(tx, workspaceId, id);
  const deleted = await tx
    .updateTable('sources')
    .set({ lifecycle: 'deleted', deleted_at: now, due_at: null, ...noLease, sealed_config: '' })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lifecycle', '<>', 'deleted')
    .returningAll()
    .executeTakeFirst();
  return before && deleted && { ...deleted, sealed_config: before.sealed_config };
}

/** Finds a source even if it is being deleted or deleted, for code that finishes work on it. */
export async function findAnySource(db: Db, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  return await db
    .selectFrom('sources')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export type CredentialStatus = Pick<CredentialRow, 'state' | 'reason' | 'last_error' | 'signed_in_at'>;

/** The state of a credential of the workspace. */
export async function findCredentialStatus(
  tx: Db,
  workspaceId: string,
  credentialId: string,
): Promise<CredentialStatus | undefined> {
  return await tx
    .selectFrom('credentials')
    .select(['state', 'reason', 'last_error', 'signed_in_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', credentialId)
    .executeTakeFirst();
}

/** New tokens have come for a platform that cannot ask for them: its sources are to be set up again. */
/** Has them written to the platform again, although nothing of their own has changed. */
export async function wakeSourcesOfCredential(tx: Db, workspaceId: string, credentialId: string): Promise<void> {
  await tx
    .updateTable('sources')
    .set({ due_at: now, applied_version: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('credential_id', '=', credentialId)
    .where('lifecycle', '=', 'live')
    .execute();
}

export async function listSourcesOfCredential(tx: Db, workspaceId: string, credentialId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('sources')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('credential_id', '=', credentialId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The sources that use a credential. */
export async function listSourcesWith(db: Db, workspaceId: string, credentialId: string): Promise<SourceRow[]> {
  return await db
    .selectFrom('sources')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('credential_id', '=', credentialId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .execute();
}
