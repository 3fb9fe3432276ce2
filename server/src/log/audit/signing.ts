/**
 * Signs the head of a trail. The checkpoint and its event are written in one transaction.
 *
 * A checkpoint declares which prefix of the trail was cut, and under which retention. The declaration comes from the
 * previous checkpoint, whose signature is verified, or from this process's retention setting. It never comes from the
 * database alone, whose owner could otherwise cut the trail and have the cut signed.
 */
import type { AuditCheckpoint, AuditCut } from '@inlay/contract/log/audit';
import type { Db } from '../../kernel/db/open.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { type AuditKeysContext, currentAuditKey, readOwnKeys } from './audit-keys.ts';
import * as store from './checkpoints.store.ts';
import { isSigned, type KeySet, presentCheckpoint, signCheckpoint } from './checkpoints.ts';
import { isBehind, isDue } from './due.ts';

interface Occasion {
  /** Signs only if the last checkpoint is older. */
  afterMs?: number;
  /** Signs now, and says that entries up to this position go, because they are older than the retention. */
  cut?: { position: number; retentionMs: number };
}

const dayMs = 86_400_000;

/** Undefined: nothing has happened since the last checkpoint, or that checkpoint is not old enough. */
export async function signNow(
  ctx: AuditKeysContext,
  organizationId: string,
  { afterMs = 0, cut: wanted }: Occasion = {},
): Promise<AuditCheckpoint | undefined> {
  const { kid, privateKey } = await currentAuditKey(ctx);
  const { keys } = await readOwnKeys(ctx.store.db, ctx.sealer);
  return await ctx.store.transaction(async (tx) => {
    const taken = await store.takeEnd(tx, organizationId, wanted ? isBehind : isDue(afterMs));
    if (!taken) return undefined;
    const { position, hash, now, cutUntil } = taken;
    const before = await findSignedCut(tx, organizationId, keys);
    const cut: AuditCut | null =
      wanted && wanted.position > (before?.position ?? 0)
        ? { position: wanted.position, at: isoTime(now), retention_days: wanted.retentionMs / dayMs }
        : before !== undefined
          ? before
          : cutUntil === 0
            ? null
            : { position: cutUntil, at: null, retention_days: null };
    const said = { organization_id: organizationId, position, hash, signed_at: isoTime(now), key_id: kid, cut };
    const checkpoint = signCheckpoint(said, privateKey);
    await store.insertCheckpoint(tx, organizationId, { ...checkpoint, signed_at: now, cut: JSON.stringify(cut) });
    await ctx.journal.record(tx, organizationId, { type: 'audit.checkpoint', data: checkpoint });
    return checkpoint;
  });
}

/**
 * The cut that the last checkpoint speaks of; null: none. Undefined: only versions that did not record cuts have signed the
 * trail.
 */
export async function findSignedCut(
  db: Db,
  organizationId: string,
  keys: KeySet,
): Promise<AuditCut | null | undefined> {
  const row = await store.findLastOfCut(db, organizationId);
  if (!row) return undefined;
  if (row.cut === 'null') return null;
  const checkpoint = presentCheckpoint(row);
  return isSigned(checkpoint, keys) ? checkpoint.cut : null;
}
