/**
 * Reports to the platform whether a connection is active: a connection that is not paused follows its workspace. The workspace's
 * own operation (workspaces/operations.ts) writes the same on the platform, and the two may meet.
 *
 * What always holds: the last writer knows what is wanted. The operation reads which connections are paused after it was
 * opened, and this worker writes only while no operation is open, and looks again after it has written.
 */
import type { ConnectionRow } from '../../kernel/db/tables.ts';
import { findLiveWorkspace, isStatusSettled, recordNewConnection } from '../../tenancy/workspaces/live-workspaces.ts';
import type { PipelinesContext } from '../context.ts';
import { Waiting } from '../interruptions.ts';
import { assertSettled } from './assert-settled.ts';

/**
 * A connection made while its workspace was being (de)activated follows the workspace. What is to be enabled with the
 * workspace is written down before the workspace is looked at again, so either this worker or the activation sees the
 * other.
 */
export async function followWorkspace(
  ctx: PipelinesContext,
  connection: ConnectionRow,
  platformId: string,
): Promise<void> {
  await follow(ctx, connection, platformId, async () => {});
}

/** Someone has paused the connection, or wants it to run again. */
export async function followOwnStatus(
  ctx: PipelinesContext,
  connection: ConnectionRow,
  platformId: string,
): Promise<void> {
  const { organization_id, workspace_id } = connection;
  await follow(ctx, connection, platformId, async () => {
    if (await isStatusSettled(ctx.workspaces, organization_id, workspace_id)) return;
    throw new Waiting('waiting until the status of the workspace is settled', 1_000);
  });
}

async function follow(
  ctx: PipelinesContext,
  connection: ConnectionRow,
  platformId: string,
  mayGoOn: () => Promise<void>,
): Promise<void> {
  const { id, organization_id: organizationId, workspace_id: workspaceId } = connection;
  const isPaused = connection.paused === 1;
  // Compare the generation, not the status: after two changes the status is the same again, but the second change did
  // not know of this connection.
  for (let before: number | undefined; ; ) {
    await mayGoOn();
    const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
    if (!workspace || workspace.gen === before) return;
    if (!isPaused) await recordNewConnection(ctx.workspaces, workspace, platformId);
    const status = isPaused ? 'inactive' : workspace.status;
    const write = () => ctx.platform.setConnectionStatus(platformId, status);
    await assertSettled(ctx, { table: 'connections', workspaceId, id }, write, { content: status });
    before = workspace.gen;
  }
}
