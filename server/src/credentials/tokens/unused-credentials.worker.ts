/**
 * Ends credentials that no source uses a day after the sign-in: the customer never finished the form, or the source was
 * deleted. Tokens are revoked as with every other end (revocation.worker.ts).
 */
import { byWorker } from '../../kernel/cause.ts';
import type { OAuthContext } from '../context.ts';
import * as credentials from './credentials.store.ts';
import { recordEnd, refOf } from './credentials.ts';
import { listUnused } from './credentials.worker.store.ts';

export const unusedMs = 24 * 3_600_000;
const atATime = 100;

export function createUnusedCredentialHousekeeping({ store, users, journal }: OAuthContext): () => Promise<void> {
  async function endUnlessUsed(ref: credentials.CredentialRef): Promise<void> {
    await store.transaction(async (tx) => {
      await users.hold(tx, ref.workspaceId);
      const before = await credentials.lockCredential(tx, ref);
      // Who makes a source with it locks it as well. So either the source is seen here, or the source finds it ended.
      const isNeeded = !before || before.signed_in_at > before.now - unusedMs || (await credentials.isUsed(tx, ref));
      const after = isNeeded ? undefined : await credentials.putEnd(tx, ref);
      if (before && after) await recordEnd(journal.by(byWorker), tx, { before, after }, 'unused');
    });
  }

  return async () => {
    for (;;) {
      const unused = await listUnused(store.db, unusedMs, atATime);
      for (const row of unused) await endUnlessUsed(refOf(row));
      if (unused.length < atATime) return;
    }
  };
}
