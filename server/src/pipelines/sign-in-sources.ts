/** Sources, as far as sign-ins with a provider are concerned (oauth/). */
import type { OAuthFlowRow } from '../db/tables.ts';
import type { PipelinesContext } from './context.ts';
import { findSource } from './sources.store.ts';
import { createSource, updateSource } from './sources.ts';

export async function findSourceForSignIn(
  { store }: Pick<PipelinesContext, 'store'>,
  organizationId: string,
  workspaceId: string,
  id: string,
): Promise<{ id: string; templateId: string; credentialId: string | null } | undefined> {
  const row = await findSource(store.db, workspaceId, id);
  if (row?.organization_id !== organizationId) return undefined;
  return { id: row.id, templateId: row.source_template_id, credentialId: row.credential_id };
}

/** A link has connected: the source is made, or gets the credential that it does not have yet. Gives its id. */
export async function connectSourceByLink(ctx: PipelinesContext, flow: OAuthFlowRow): Promise<string> {
  const { organization_id: organizationId, workspace_id: workspaceId, source_id, credential_id } = flow;
  const scope = { organizationId, workspaceId, audience: 'customer' } as const;
  const signedIn = credential_id === null ? {} : { credential_id };
  if (source_id === null) {
    return (await createSource(ctx, scope, { source_template_id: flow.source_template_id, ...signedIn })).id;
  }
  return (await updateSource(ctx, scope, source_id, signedIn)).id;
}
