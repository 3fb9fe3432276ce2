/**
 * Signs the end of a trail. The checkpoint and the event that tells of it are one transaction: after a crash there are both
 * or none.
 */
import type { AuditCheckpoint } from '@inlay/contract/audit';
import { isoTime } from '../iso-time.ts';
import { type AuditKeysContext, currentAuditKey } from './audit-keys.ts';
import * as store from './checkpoints.store.ts';
import { signCheckpoint } from './checkpoints.ts';

/** Undefined: nothing has happened since the last checkpoint, or that checkpoint is not old enough. */
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
    await store.insertCheckpoint(tx, organizationId, { ...checkpoint, signed_at: now });
    await ctx.journal.record(tx, organizationId, { type: 'audit.checkpoint', data: checkpoint });
    return checkpoint;
  });
}
