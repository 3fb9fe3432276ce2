/*
 * Which workspace the folder of a stream belongs to: an empty object `_inlay_owner-<workspace>` in the folder says it. The
 * first workspace that writes to a folder owns it, and nobody else ever writes to it.
 */
import { ConnectorError } from '@inlay/protocol/connector';
import type { S3Client } from './client.ts';

const markName = '_inlay_owner-';

/** If two workspaces claim a folder at the same moment, at most one continues. */
export async function claimFolder(client: S3Client, folder: string, workspaceId: string | undefined): Promise<void> {
  if (workspaceId === undefined) return;
  const own = `${folder}${markName}${workspaceId}`;
  const before = await marksIn(client, folder);
  if (before.some((mark) => mark !== own)) throw belongsToOthers(folder);
  if (before.length > 0) return;
  await client.put(own, Buffer.alloc(0));
  if ((await marksIn(client, folder)).every((mark) => mark === own)) return;
  await client.delete(own);
  throw belongsToOthers(folder);
}

async function marksIn(client: S3Client, folder: string): Promise<string[]> {
  const marks: string[] = [];
  for await (const keys of client.listKeys(`${folder}${markName}`)) marks.push(...keys);
  return marks;
}

function belongsToOthers(folder: string): ConnectorError {
  return new ConnectorError(
    `The folder ${folder} of the bucket belongs to another workspace, so nothing was written. ` +
      'Use a different namespace or prefix for this connection.',
  );
}
