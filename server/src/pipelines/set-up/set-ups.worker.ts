/**
 * Sets up every source that is due, in all workspaces: sources that were put off, and sources that a dead process has
 * left unfinished. A source may keep a connector busy for minutes. So workspaces take turns, and the next search for
 * due sources does not wait for the running ones.
 */
import { FairQueue, QueueClosed } from '@inlay/schedule/fair-queue';
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { PipelinesContext } from '../context.ts';
import { setUpSource } from './set-up.ts';
import { countDueSources, listDueSources } from './sources.worker.store.ts';

const everyMs = 5_000;
const batch = 100;
/** How many sources are set up at a time. Each may keep a connector busy; the platform has its own limits besides. */
const slots = { total: 8, perTenant: 4 };

export interface SetUps extends Repetition {
  /** One pass over every source that is due. It ends when all are set up or put off. */
  pass(): Promise<void>;
  backlog(): Promise<number>;
}

export function createSetUps(ctx: PipelinesContext): SetUps {
  /** Set-ups in progress, by source id. */
  const underWay = new Map<string, Promise<void>>();
  const turns = new FairQueue({ ...slots, maxWaiting: batch, elapsed: ctx.runtime.elapsed });

  async function begin(): Promise<void> {
    for (const source of await listDueSources(ctx.store.db, batch)) {
      if (underWay.has(source.id)) continue;
      const work = turns
        .run(source.workspaceId, () => setUpSource(ctx, source))
        .catch((err) => {
          if (err instanceof QueueClosed) return;
          ctx.log.error({ err, sourceId: source.id }, 'Source set-up failed; will retry');
        })
        .then(() => void underWay.delete(source.id));
      underWay.set(source.id, work);
    }
  }

  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  const repetition = repeatedly(ctx, { what: 'Source set-up pass', pauseMs, work: begin });
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

/** How many sources have changes that the platform does not know yet. */
export async function countOpenSetUps({ db }: Pick<Store, 'db'>): Promise<number> {
  return await countDueSources(db);
}
