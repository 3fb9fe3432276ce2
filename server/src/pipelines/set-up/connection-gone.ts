/** Whether the platform's answer means that someone deleted the connection there. */
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { PipelinesContext } from '../context.ts';

/** A refusal by id alone proves nothing: the list has to lack the connection, too. */
export async function isConnectionGone(
  ctx: PipelinesContext,
  workspaceId: string,
  platformId: string,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof PlatformError)) return false;
  if (error.failure !== 'not_found' && error.failure !== 'unauthorised') return false;
  return !(await ctx.platform.listConnections(workspaceId)).some(({ id }) => id === platformId);
}
