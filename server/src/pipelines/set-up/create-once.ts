/**
 * Makes something on the platform that has no idempotency key, exactly once, the way workspaces are made: look for it
 * first, put the intent on disk, send, bind. What always holds: no second create is sent while an earlier one may still
 * take effect (the settle window), and what a crash left behind is found again before anything new is made.
 */
import type { RemoteRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { PipelinesContext } from '../context.ts';
import { Waiting } from '../interruptions.ts';
import * as remote from '../remote.store.ts';
import { readSettleWindow } from './assert-settled.ts';

/** How often a create whose fate is unknown is looked for. */
const lookAgainMs = 2_000;

interface Creation<Wanted> {
  find(): Promise<string | undefined>;
  /** Finds out what is to be made. May take its time, because nothing is under way yet. */
  prepare(): Promise<Wanted>;
  /** Sends the one create request; the settle window begins with it. */
  create(wanted: Wanted): Promise<string>;
  /** How long the create may take to be answered. */
  timeoutMs: number;
}

/** Returns the id on the platform. The caller holds the lease. */
export async function createOnce<Wanted>(
  ctx: PipelinesContext,
  table: remote.RemoteRef['table'],
  row: RemoteRow,
  { find, prepare, create, timeoutMs }: Creation<Wanted>,
): Promise<string> {
  if (row.platform_id !== null) return row.platform_id;
  const { db } = ctx.store;
  const ref = { table, workspaceId: row.workspace_id, id: row.id };
  const { waitMs } = await readSettleWindow(ctx, ref);
  const found = await find();
  if (found !== undefined) return await remote.bindIfUnbound(db, ref, found);
  if (waitMs > 0) throw new Waiting('waiting for an unconfirmed request to settle', Math.min(waitMs, lookAgainMs));
  const wanted = await prepare();
  // The bundled platform needs no settling: when the caller has an answer, the request has ended there too.
  if (ctx.settleMs > 0) await remote.openSettleWindow(db, ref, timeoutMs + ctx.settleMs);
  let id: string;
  try {
    id = await create(wanted);
  } catch (error) {
    if (error instanceof PlatformError && error.failure !== 'unknown') await remote.closeSettleWindow(db, ref);
    throw error;
  }
  return await remote.bindIfUnbound(db, ref, id);
}
