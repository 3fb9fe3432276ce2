/**
 * Says every ten seconds that this process runs. A process that stops in order takes its row away; the row of one that was
 * killed stays for an hour, so that somebody can see it.
 */
import type { Logger } from 'pino';
import { type Repetition, repeatedly } from '../background.ts';
import type { Store } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';
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
}

export function createPresence({ store, runtime, log, host, version }: PresenceContext): Presence {
  const id = runtime.newId();
  const tell = async () => {
    await putSeen(store.db, { id, host, version });
    await deleteSilent(store.db, rememberedMs);
  };
  const telling = repeatedly(
    { runtime, log },
    { what: 'telling that this replica runs', pauseMs: () => everyMs, work: tell },
  );
  return {
    tell,
    start: telling.start,
    async stop() {
      await telling.stop();
      await deleteReplica(store.db, id).catch((err) => log.warn({ err }, 'this replica will be listed for an hour'));
    },
  };
}
