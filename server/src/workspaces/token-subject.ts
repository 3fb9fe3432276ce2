/** The subject of a scoped token: a workspace, and how often its tokens have been revoked. */
import type { TokenSubject } from '../tokens/scoped-tokens.ts';
import type { WorkspacesContext } from './context.ts';
import { ensureWorkspace, type WorkspaceRequest } from './creation.ts';

/** The workspace of that name, created if there is none. */
export async function ensureTokenSubject(ctx: WorkspacesContext, request: WorkspaceRequest): Promise<TokenSubject> {
  const { id, token_gen } = await ensureWorkspace(ctx, request);
  return { organizationId: request.organizationId, workspaceId: id, tokenGeneration: token_gen };
}
