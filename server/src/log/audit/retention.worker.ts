/**
 * Removes entries beyond the retention period. Only a prefix is removed, and only up to a checkpoint, whose signature
 * proves where the rest starts. A later checkpoint first declares the cut and its retention. Entries are deleted once
 * the trail contains the event of that checkpoint, so that every export of the rest contains the proof.
 */
import { type AuditKeysContext, readOwnKeys } from './audit-keys.ts';
import { isSigned, type KeySet, presentCheckpoint } from './checkpoints.ts';
import * as trails from './retention.worker.store.ts';
import { findSignedCut, signNow } from './signing.ts';

const deletedAtOnce = 1_000;

/** For housekeeping. Events that are still readable are never deleted. */
export function createTrailRetention(
  ctx: AuditKeysContext,
  { eventsMs, auditMs }: { eventsMs: number; auditMs: number },
): () => Promise<void> {
  const { store } = ctx;
  const retentionMs = Math.max(eventsMs, auditMs);

  async function announce(organizationId: string, keys: KeySet): Promise<void> {
    const cut = await findSignedCut(store.db, organizationId, keys);
    const older = await trails.findLastOlder(store.db, organizationId, cut?.position ?? 0, retentionMs);
    if (!older || !isSigned(presentCheckpoint(older), keys)) return;
    await signNow(ctx, organizationId, { cut: { position: older.position, retentionMs } });
  }

  async function remove(organizationId: string, keys: KeySet): Promise<void> {
    const cut = await findSignedCut(store.db, organizationId, keys);
    if (!cut || (await trails.isTellingOfCheckpoint(store.db, organizationId))) return;
    await store.transaction((tx) => trails.recordCut(tx, organizationId, cut.position));
    for (;;) {
      const count = await store.transaction((tx) =>
        trails.deleteUntil(tx, organizationId, cut.position, deletedAtOnce),
      );
      if (count < deletedAtOnce) return;
    }
  }

  return async () => {
    const { keys } = await readOwnKeys(store.db, ctx.sealer);
    for (const organizationId of await trails.listTrails(store.db)) {
      // In this order: a new announcement would put off what the last one has announced.
      await remove(organizationId, keys);
      await announce(organizationId, keys);
    }
  };
}
