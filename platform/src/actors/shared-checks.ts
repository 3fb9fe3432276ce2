/**
 * Checks that every coordinator on one PostgreSQL can tell the outcome of, whichever runs them. A coordinator keeps its own
 * checks in memory and writes to the store when one begins and when it ends; while it waits or runs, it says that it is alive,
 * so that nobody waits for a check whose coordinator is gone. Outcomes are sealed: connectors may repeat what they were given.
 */
import type { Db, Store } from '../db/open.ts';
import { resourceNotFound } from '../problems.ts';
import type { Runtime } from '../runtime.ts';
import { type Check, type CheckQueue, type Checks, createCheckQueue, interruption, keptForMs } from './check-queue.ts';
import { deleteChecks, findCheck, prolongChecks, putCheck } from './checks.worker.store.ts';
import type { Sealer } from './sealed-configuration.ts';

type QueueOptions = Parameters<typeof createCheckQueue>[0];

interface SharedChecksContext extends Omit<QueueOptions, 'onOver' | 'runtime'> {
  store: Store;
  sealer: Sealer;
  runtime: QueueOptions['runtime'] & Pick<Runtime, 'sleep'>;
}

const times = { aliveMs: 30_000, keptMs: keptForMs };
const prolongEveryMs = 10_000;
const isOver = ({ status }: Check) => status === 'succeeded' || status === 'failed';
const contextOf = (checkId: string) => `connector check ${checkId}`;

export function sharedChecks({ store, sealer, runtime, log, turns }: SharedChecksContext): Checks {
  const own: CheckQueue = createCheckQueue({ turns, runtime, log, onOver: end });
  const open = new Set<string>();
  const writing = new Set<Promise<void>>();
  const closing = new AbortController();
  let prolonging: Promise<void> | undefined;

  const put = (owner: string, check: Check) => {
    const outcome = sealer.seal(JSON.stringify(check), contextOf(check.checkId));
    return putCheck(store.db, { checkId: check.checkId, owner, outcome }, times);
  };

  function end(owner: string, check: Check): void {
    open.delete(check.checkId);
    // If it can't be written, the check ends for others when they hear nothing of it any more.
    const work = put(owner, check)
      .catch((err) => log.error({ err }, 'platform: The outcome of a check was not stored'))
      .finally(() => writing.delete(work));
    writing.add(work);
  }

  async function prolong(): Promise<void> {
    while (open.size > 0) {
      await runtime.sleep(prolongEveryMs, closing.signal);
      if (closing.signal.aborted) break;
      if (open.size > 0) {
        await prolongChecks(store.db, [...open], times.aliveMs).catch((err) =>
          log.error({ err }, 'platform: Checks could not be prolonged'),
        );
      }
    }
    prolonging = undefined;
  }

  return {
    async start(owner, workspaceId, run) {
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      // Not before the others can find it: its end is written later than its beginning.
      const check = own.start(owner, workspaceId, async (signal) => {
        await begun;
        return await run(signal);
      });
      try {
        if (isOver(check)) return check;
        open.add(check.checkId);
        await put(owner, check);
        prolonging ??= prolong();
        return check;
      } finally {
        begin();
      }
    },
    async get(owner, id) {
      const checkId = id.toLowerCase();
      const known = own.find(owner, checkId);
      if (known) return known;
      const row = await findCheck(store.db, owner, checkId, times.keptMs);
      if (!row) throw resourceNotFound('check', id);
      const check = JSON.parse(sealer.open(row.outcome, contextOf(checkId))) as Check;
      return isOver(check) || row.isAlive ? check : { checkId, status: 'failed', message: interruption };
    },
    async close() {
      await own.close();
      closing.abort();
      await Promise.all([...writing, prolonging]);
    },
  };
}

/** Instead of sealing them with another key: whoever asks for one starts it again. */
export async function forgetChecks(db: Db): Promise<void> {
  await deleteChecks(db);
}
