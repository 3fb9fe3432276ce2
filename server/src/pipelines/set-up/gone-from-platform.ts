/**
 * Finds out whether someone has deleted a source or destination on the platform without telling us. A refusal by id
 * alone proves nothing: a platform says "not found" or "not yours" about a deleted thing, but also while the platform
 * or our access has a fault. We treat a thing as deleted only when the platform's list of the workspace does not have
 * it either.
 */
import type { ConnectorKind } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { PipelinesContext } from '../context.ts';
import { markOf } from '../marks.ts';

/** `error`: the platform's answer to a request about this source or destination. */
export async function isGoneFromPlatform(
  ctx: PipelinesContext,
  kind: ConnectorKind,
  { id, workspaceId }: { id: string; workspaceId: string },
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof PlatformError)) return false;
  if (error.failure !== 'not_found' && error.failure !== 'unauthorised') return false;
  try {
    return (await ctx.platform.findConnector(kind, workspaceId, markOf(id))) === undefined;
  } catch (listing) {
    if (!(listing instanceof PlatformError)) throw listing;
    // Either the whole workspace is gone, or we cannot know just now.
    return listing.failure === 'not_found';
  }
}
