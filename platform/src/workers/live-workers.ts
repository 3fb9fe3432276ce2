/** Workers as those who run attempts. */
import type { Db } from '../db/open.ts';
import type { WorkerRow } from '../db/tables.ts';
import { listDefinitions } from '../definitions/definitions.ts';
import type { WhyNot } from '../jobs/context.ts';
import type { WorkersContext } from './context.ts';
import { type FindDefinition, whyNotOnWorker } from './placement.ts';

export const ownerOf = ({ worker_id }: Pick<WorkerRow, 'worker_id'>) => `worker-${worker_id}`;

/** A worker says every 10 s that it is there. */
export const liveForMs = 30_000;

type Placing = Pick<WorkersContext, 'actors'>;

export async function whyNotOf({ actors }: Placing, db: Db, worker: WorkerRow): Promise<WhyNot> {
  const find = await readDefinitions(actors, db);
  return ({ workspace, source, destination }) =>
    whyNotOnWorker(worker, { workspace, actors: [source, destination] }, find);
}

/** Those of the deployment: a definition that isn't among them is the manifest of a workspace. */
export async function readDefinitions({ definitions }: Placing['actors'], db: Db): Promise<FindDefinition> {
  const known = await listDefinitions({ ...definitions, store: { db } });
  const byId = new Map(known.map((definition) => [definition.definitionId, definition]));
  return (id) => byId.get(id);
}
