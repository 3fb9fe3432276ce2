/** The SQL with which a sign-in by a link is found again, while its source is yet to be made. */
import type { Db } from '../db/open.ts';
import type { CredentialRow } from '../db/tables.ts';

/** Newest first. Only a few are left without a source at a time. */
export async function listUnusedByLink(
  db: Db,
  organizationId: string,
  workspaceId: string,
  templateId: string | undefined,
): Promise<CredentialRow[]> {
  let query = db
    .selectFrom('credentials')
    .selectAll('credentials')
    .where('credentials.organization_id', '=', organizationId)
    .where('credentials.workspace_id', '=', workspaceId)
    .where('credentials.state', '=', 'connected')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('oauth_flows')
          .select('oauth_flows.id')
          .where('oauth_flows.organization_id', '=', organizationId)
          .where('oauth_flows.workspace_id', '=', workspaceId)
          .whereRef('oauth_flows.credential_id', '=', 'credentials.id')
          .where('oauth_flows.link_until', 'is not', null)
          .where('oauth_flows.source_id', 'is', null),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sources')
            .select('sources.id')
            .where('sources.organization_id', '=', organizationId)
            .where('sources.workspace_id', '=', workspaceId)
            .whereRef('sources.credential_id', '=', 'credentials.id')
            .where('sources.deleted_at', 'is', null),
        ),
      ),
    )
    .orderBy('credentials.signed_in_at', 'desc')
    .orderBy('credentials.id')
    .limit(100);
  if (templateId !== undefined) query = query.where('credentials.source_template_id', '=', templateId);
  return await query.execute();
}
