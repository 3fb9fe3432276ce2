/** Where jobs can run now, for the room of the jobs. */
import type { Claimant, Workers } from '../jobs/context.ts';
import { listLiveCoordinators } from '../jobs/coordinators.ts';
import type { WorkersContext } from './context.ts';
import { liveForMs, ownerOf, readDefinitions } from './live-workers.ts';
import { whyNotHere, whyNotOnWorker } from './placement.ts';
import * as workers from './workers.store.ts';

export function placing(ctx: Pick<WorkersContext, 'actors'>): Workers {
  return {
    async whyNotHere(tx) {
      const find = await readDefinitions(ctx.actors, tx);
      const isAlone = (await listLiveCoordinators(tx)).length <= 1;
      return (candidate) => whyNotHere(candidate, find, isAlone);
    },
    async list(tx) {
      const find = await readDefinitions(ctx.actors, tx);
      return (await workers.listLive(tx, liveForMs)).map(
        (worker): Claimant => ({
          owner: ownerOf(worker),
          slots: worker.slots,
          whyNot: ({ workspace, source, destination }) =>
            whyNotOnWorker(worker, { workspace, actors: [source, destination] }, find),
        }),
      );
    },
  };
}
