/**
 * Sets up every source that is due, of all workspaces: what was put off, and what a process that died has left. A source
 * may keep a connector busy for minutes, so workspaces take turns, and a look for what is due waits for none of them.
 */
import { FairQueue, QueueClosed } from '@inlay/schedule/fair-queue';
import { type Repetition, repeatedly } from '../background.ts';
import type { Store } from '../db/open.ts';
import type { PipelinesContext } from './context.ts';
import { setUpSource } from './set-up.ts';
import { countDueSources, listDueSources } from './sources.worker.store.ts';

const everyMs = 5_000;
const batch = 100;
/** Each may keep a connector busy; the platform has limits of its own. */
const slots = { total: 8, perTenant: 4 };

export interface SetUps extends Repetition {
  /** One pass over every source that is due; over when all are set up or put off. */
  pass(): Promise<void>;
  backlog(): Promise<number>;
}

export function createSetUps(ctx: PipelinesContext): SetUps {
  /** By source. */
  const underWay = new Map<string, Promise<void>>();
  const turns = new FairQueue({ ...slots, maxWaiting: batch, elapsed: ctx.runtime.elapsed });

  async function begin(): Promise<void> {
    for (const source of await listDueSources(ctx.store.db, batch)) {
      if (underWay.has(source.id)) continue;
      const work = turns
        .run(source.workspaceId, () => setUpSource(ctx, source))
        .catch((err) => {
          if (err instanceof QueueClosed) return;
          ctx.log.error({ err, sourceId: source.id }, 'a source could not be set up; it will be tried again');
        })
        .then(() => void underWay.delete(source.id));
      underWay.set(source.id, work);
    }
  }

  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  const repetition = repeatedly(ctx, { what: 'setting up sources', pauseMs, work: begin });
  return {
    async pass() {
      await begin();
      await Promise.all(underWay.values());
    },
    start: repetition.start,
    async stop() {
      await repetition.stop();
      turns.close();
      await Promise.all(underWay.values());
    },
    backlog: () => countOpenSetUps(ctx.store),
  };
}

/** Sources that the platform has still to be told of. */
export async function countOpenSetUps({ db }: Pick<Store, 'db'>): Promise<number> {
  return await countDueSources(db);
}
