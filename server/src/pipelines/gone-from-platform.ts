/**
 * What somebody has deleted on the platform behind our back. A refusal by id alone proves nothing: a platform says "not
 * found" or "not yours" of what is gone, but also while it or our access is out of order. It is taken for gone when the
 * platform also lists the workspace's connectors without it.
 */
import type { ConnectorKind } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import type { PipelinesContext } from './context.ts';
import { markOf } from './marks.ts';

/** `error`: what the platform said when it was asked to do something with it. */
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
    // Its workspace is gone, and has taken it along; or nothing can be told just now.
    return listing.failure === 'not_found';
  }
}
