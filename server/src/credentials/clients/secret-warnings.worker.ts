/**
 * Warns operators that the secret of an OAuth client expires soon, once per step across replicas. A step missed during
 * downtime is included in the next one.
 */
import { byWorker } from '../../kernel/cause.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OAuthContext } from '../context.ts';
import { entryOf } from './clients.ts';
import { type EndingClient, listEnding, noteWarning } from './clients.worker.store.ts';

const dayMs = 86_400_000;
/** How many days before the end. */
const steps = [1, 7, 30] as const;
const [lastDays, , firstDays] = steps;

export function createSecretWarnings({ store, journal }: OAuthContext): () => Promise<void> {
  async function warn(client: EndingClient, expiresAt: number): Promise<void> {
    const days = steps.find((step) => expiresAt - client.now <= step * dayMs) ?? firstDays;
    await store.transaction(async (tx) => {
      if (!(await noteWarning(tx, client, days))) return;
      await journal.by(byWorker).record(tx, client.organization_id, {
        type: 'oauth_client.secret_expiring',
        ...entryOf(client, { expires_at: isoTime(expiresAt), days }),
      });
    });
  }

  return async () => {
    for (const client of await listEnding(store.db, { withinMs: firstDays * dayMs, lastDays })) {
      if (client.secret_expires_at !== null) await warn(client, client.secret_expires_at);
    }
  };
}
