/**
 * What the platform may do with credentials: use those of the workspace that a connector belongs to. A workspace has the same
 * id here and there, and belongs to one organization.
 */
import type { OAuthContext } from './context.ts';
import { type AccessWanted, accessTo, CredentialNeedsAttention, type HandedBack, handBack } from './credentials.ts';
import { findOrganizationOf } from './platform-access.store.ts';

interface NamedByPlatform {
  workspaceId: string;
  credentialId: string;
}

export async function accessForPlatform(ctx: OAuthContext, named: NamedByPlatform, wanted: AccessWanted) {
  return await accessTo(ctx, await refOf(ctx, named), wanted);
}

export async function handBackFromPlatform(ctx: OAuthContext, named: NamedByPlatform, tokens: HandedBack) {
  return await handBack(ctx, await refOf(ctx, named), tokens);
}

async function refOf({ store }: OAuthContext, { workspaceId, credentialId }: NamedByPlatform) {
  const organizationId = await findOrganizationOf(store.db, { workspaceId, credentialId });
  if (organizationId === undefined) throw new CredentialNeedsAttention('gone');
  return { organizationId, workspaceId, credentialId };
}
