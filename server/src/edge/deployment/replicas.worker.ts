/**
 * Says every ten seconds that this process runs, and which encryption keys it has. A process that stops in order takes its
 * row away; the row of one that was killed stays for an hour, so that someone can see it.
 */
import type { Logger } from 'pino';
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { deleteReplica, deleteSilent, putSeen } from './replicas.worker.store.ts';

const everyMs = 10_000;
const rememberedMs = 3_600_000;

export interface Presence extends Repetition {
  /** Says it now. */
  tell(): Promise<void>;
}

interface PresenceContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  host: string;
  version: string;
  sealer: Pick<Sealer, 'keyIds'>;
  /** A name by which others on this machine can check whether the process is still alive. */
  processName(id: string): string;
}

export function createPresence({ store, runtime, log, host, version, sealer, processName }: PresenceContext): Presence {
  const id = runtime.newId();
  const process = processName(id);
  const tell = async () => {
    await putSeen(store.db, { id, host, version, process, encryption_keys: sealer.keyIds().join(',') });
    await deleteSilent(store.db, rememberedMs);
  };
  const telling = repeatedly({ runtime, log }, { what: 'Replica heartbeat', pauseMs: () => everyMs, work: tell });
  return {
    tell,
    start: telling.start,
    async stop() {
      await telling.stop();
      await deleteReplica(store.db, id).catch((err) =>
        log.warn({ err }, 'Failed to sign off this replica; it stays listed for an hour'),
      );
    },
  };
}
