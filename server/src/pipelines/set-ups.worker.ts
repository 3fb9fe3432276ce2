/** Sets up every source that is due, of all workspaces: what was put off, and what a process that died has left. */
import { type Repetition, repeatedly } from '../background.ts';
import type { Store } from '../db/open.ts';
import type { PipelinesContext } from './context.ts';
import { setUpSource } from './set-up.ts';
import { countDueSources, listDueSources } from './sources.worker.store.ts';

const everyMs = 5_000;
const batch = 100;
/** Each may keep a connector busy; the platform has limits of its own. */
const atATime = 8;

export interface SetUps extends Repetition {
  /** One pass over every source that is due. */
  pass(): Promise<void>;
  backlog(): Promise<number>;
}

export function createSetUps(ctx: PipelinesContext): SetUps {
  async function pass(stopping?: AbortSignal): Promise<void> {
    const due = await listDueSources(ctx.store.db, batch);
    const work = async () => {
      for (let source = due.shift(); source && !stopping?.aborted; source = due.shift()) {
        await setUpSource(ctx, source);
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
  }
  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return {
    pass: () => pass(),
    ...repeatedly(ctx, { what: 'setting up sources', pauseMs, work: pass }),
    backlog: () => countOpenSetUps(ctx.store),
  };
}

/** Sources that the platform has still to be told of. */
export async function countOpenSetUps({ db }: Pick<Store, 'db'>): Promise<number> {
  return await countDueSources(db);
}
