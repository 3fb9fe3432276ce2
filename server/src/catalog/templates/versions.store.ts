/** The SQL of `template_versions`. Rows are added and never changed. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { TemplateVersionRow } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';

type NewVersion = Omit<TemplateVersionRow, 'organization_id' | 'created_at'>;

export async function insertVersion(tx: Db, organizationId: string, version: NewVersion): Promise<void> {
  await tx
    .insertInto('template_versions')
    .values({ ...version, organization_id: organizationId, created_at: sql<number>`now_ms()` })
    .execute();
}

export async function findVersion(
  db: Db,
  { organizationId, kind, templateId }: TemplateRef,
  number: number,
): Promise<TemplateVersionRow | undefined> {
  return await db
    .selectFrom('template_versions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('template_id', '=', templateId)
    .where('number', '=', number)
    .executeTakeFirst();
}

export type VersionWithAuthor = TemplateVersionRow & { author: string | null };

/** Newest first, up to this number. */
export async function listVersions(
  db: Db,
  { organizationId, kind, templateId }: TemplateRef,
  { upTo, limit }: { upTo: number; limit: number },
): Promise<VersionWithAuthor[]> {
  return await db
    .selectFrom('template_versions')
    .leftJoin('operator_tokens', 'operator_tokens.id', 'template_versions.made_by')
    .selectAll('template_versions')
    .select('operator_tokens.name as author')
    .where('template_versions.organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('template_id', '=', templateId)
    .where('number', '<=', upTo)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}
