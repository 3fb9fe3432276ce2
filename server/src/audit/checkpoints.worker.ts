/**
 * Signs the end of every trail, once an hour, where something has happened since. The checkpoint and the event that tells of
 * it are one transaction: after a crash there are both or none, and the next pass signs.
 */
import type { AuditCheckpoint } from '@inlay/contract/audit';
import { isoTime } from '../iso-time.ts';
import { type AuditKeysContext, currentAuditKey } from './audit-keys.ts';
import { signCheckpoint } from './checkpoints.ts';
import * as store from './checkpoints.worker.store.ts';

const everyMs = 3_600_000;

/** For the housekeeping. */
export function createCheckpoints(ctx: AuditKeysContext): () => Promise<void> {
  return async () => {
    for (const organizationId of await store.listDue(ctx.store.db, everyMs)) {
      await signNow(ctx, organizationId, everyMs);
    }
  };
}

/** Undefined: nothing has happened since the last checkpoint, or another process has just signed. */
export async function signNow(
  ctx: AuditKeysContext,
  organizationId: string,
  afterMs = 0,
): Promise<AuditCheckpoint | undefined> {
  const { kid, privateKey } = await currentAuditKey(ctx);
  return await ctx.store.transaction(async (tx) => {
    const taken = await store.takeDue(tx, organizationId, afterMs);
    if (!taken) return undefined;
    const { position, hash, now } = taken;
    const said = { organization_id: organizationId, position, hash, signed_at: isoTime(now), key_id: kid };
    const checkpoint = signCheckpoint(said, privateKey);
    await store.insertCheckpoint(tx, { ...checkpoint, signed_at: now });
    await ctx.journal.record(tx, organizationId, { type: 'audit.checkpoint', data: checkpoint });
    return checkpoint;
  });
}
