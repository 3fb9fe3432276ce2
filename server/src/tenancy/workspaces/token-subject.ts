/** The subject of a scoped token: a workspace, and how often its tokens have been revoked. */
import type { Store } from '../../kernel/db/open.ts';
import { AppError } from '../../kernel/errors.ts';
import type { TokenSubject } from '../tokens/scoped-tokens.ts';
import type { WorkspacesContext } from './context.ts';
import { ensureWorkspace, type WorkspaceRequest } from './creation.ts';
import { getWorkspace } from './workspaces.ts';

/** The workspace of that name, created if there is none. */
export async function ensureTokenSubject(ctx: WorkspacesContext, request: WorkspaceRequest): Promise<TokenSubject> {
  const { id, token_gen } = await ensureWorkspace(ctx, request);
  return { organizationId: request.organizationId, workspaceId: id, tokenGeneration: token_gen };
}

/** Throws `workspace_not_found`, also for a workspace that is being deleted. */
export async function getTokenSubject(
  ctx: { store: Store },
  organizationId: string,
  workspaceId: string,
): Promise<TokenSubject> {
  const { id, token_gen, lifecycle } = await getWorkspace(ctx, organizationId, workspaceId);
  if (lifecycle !== 'live') throw new AppError('workspace_not_found');
  return { organizationId, workspaceId: id, tokenGeneration: token_gen };
}
