/** The SQL of `source_definitions` and `source_definition_versions`. */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceDefinitionRow, SourceDefinitionVersionRow } from '../../kernel/db/tables.ts';

export type VersionedDefinition = SourceDefinitionRow & {
  version_id: string;
  number: number;
};

function versionsOf(db: Db, organizationId: string) {
  return db
    .selectFrom('source_definitions')
    .innerJoin('source_definition_versions as versions', 'versions.definition_id', 'source_definitions.id')
    .selectAll('source_definitions')
    .select(['versions.id as version_id', 'versions.number'])
    .where('source_definitions.organization_id', '=', organizationId);
}

/** Each with its newest version. */
export async function listOwn(db: Db, organizationId: string): Promise<VersionedDefinition[]> {
  return await versionsOf(db, organizationId)
    .whereRef('versions.number', '=', 'source_definitions.version')
    .where('source_definitions.deleted_at', 'is', null)
    .execute();
}

/** With its newest version; undefined for a definition that is deleted or another organization's. */
export async function findOwn(db: Db, organizationId: string, id: string): Promise<VersionedDefinition | undefined> {
  return await versionsOf(db, organizationId)
    .whereRef('versions.number', '=', 'source_definitions.version')
    .where('source_definitions.id', '=', id)
    .where('source_definitions.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Finds it even if it is deleted, for the sources that have this version. */
export async function findOwnVersion(
  db: Db,
  organizationId: string,
  id: string,
  number: number,
): Promise<VersionedDefinition | undefined> {
  return await versionsOf(db, organizationId)
    .where('versions.number', '=', number)
    .where('source_definitions.id', '=', id)
    .executeTakeFirst();
}

export async function readVersion(
  db: Db,
  organizationId: string,
  versionId: string,
): Promise<SourceDefinitionVersionRow> {
  return await db
    .selectFrom('source_definition_versions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow();
}

export async function insertOwn(
  tx: Db,
  organizationId: string,
  { id, name, icon }: Pick<SourceDefinitionRow, 'id' | 'name' | 'icon'>,
): Promise<void> {
  await tx
    .insertInto('source_definitions')
    .values({
      id,
      organization_id: organizationId,
      name,
      icon,
      version: 1,
      confirmed_addresses: null,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    })
    .execute();
}

export async function insertVersion(
  tx: Db,
  organizationId: string,
  version: Omit<SourceDefinitionVersionRow, 'organization_id' | 'created_at'>,
): Promise<void> {
  await tx
    .insertInto('source_definition_versions')
    .values({ ...version, organization_id: organizationId, created_at: now })
    .execute();
}

/** Locked until the end of the transaction. */
export async function lockOwn(tx: Db, organizationId: string, id: string): Promise<SourceDefinitionRow | undefined> {
  return await changeOwn(tx, organizationId, id, {});
}

export async function changeOwn(
  tx: Db,
  organizationId: string,
  id: string,
  changes: Partial<Pick<SourceDefinitionRow, 'name' | 'icon' | 'version' | 'confirmed_addresses'>>,
): Promise<SourceDefinitionRow | undefined> {
  const isChanged = Object.keys(changes).length > 0;
  return await tx
    .updateTable('source_definitions')
    .set({ ...changes, updated_at: isChanged ? now : sql<number>`updated_at` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteOwn(tx: Db, organizationId: string, id: string): Promise<SourceDefinitionRow | undefined> {
  return await tx
    .updateTable('source_definitions')
    .set({ deleted_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export type VersionWithAuthor = Omit<SourceDefinitionVersionRow, 'sealed_manifest' | 'content'> & {
  author: string | null;
};

/** Newest first, up to this number. Without what they say, which is long. */
export async function listVersions(
  db: Db,
  organizationId: string,
  definitionId: string,
  { upTo, limit }: { upTo: number; limit: number },
): Promise<VersionWithAuthor[]> {
  return await db
    .selectFrom('source_definition_versions as versions')
    .leftJoin('operator_tokens', 'operator_tokens.id', 'versions.made_by')
    .select([
      'versions.id',
      'versions.organization_id',
      'versions.definition_id',
      'versions.number',
      'versions.copy_of',
      'versions.made_by',
      'versions.session_id',
      'versions.session_label',
      'versions.created_at',
      'operator_tokens.name as author',
    ])
    .where('versions.organization_id', '=', organizationId)
    .where('versions.definition_id', '=', definitionId)
    .where('versions.number', '<=', upTo)
    .orderBy('versions.number', 'desc')
    .limit(limit)
    .execute();
}

/** The oldest up to this number, without those that are named. */
export async function deleteVersions(
  tx: Db,
  organizationId: string,
  definitionId: string,
  { upTo, except, limit }: { upTo: number; except: readonly number[]; limit: number },
): Promise<void> {
  const kept = except.filter((number) => number <= upTo);
  await tx
    .deleteFrom('source_definition_versions')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', (query) =>
      query
        .selectFrom('source_definition_versions')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('definition_id', '=', definitionId)
        .where('number', '<=', upTo)
        .$if(kept.length > 0, (rest) => rest.where('number', 'not in', kept))
        .orderBy('number')
        .limit(limit),
    )
    .execute();
}
