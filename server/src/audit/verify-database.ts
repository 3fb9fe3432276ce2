/** Verifies the trail of an organization as the database holds it. */
import type { Store } from '../db/open.ts';
import { type KeySet, presentCheckpoint } from './checkpoints.ts';
import * as trail from './trail.store.ts';
import { presentEntry } from './trail.ts';
import { createVerifier, type Kept, type Verification } from './verify.ts';

const atOnce = 500;

/** What the database holds, its own checkpoints included, and what was kept elsewhere. */
export async function verifyDatabase(
  store: Store,
  organizationId: string,
  ownKeys: KeySet,
  { checkpoints, keys }: Kept,
): Promise<Verification> {
  const { db } = store;
  const { head, hash, cutUntil } = await trail.findEnds(db, organizationId);
  const stored = (await trail.listCheckpoints(db, organizationId, Number.MAX_SAFE_INTEGER)).map(presentCheckpoint);
  const all = [...stored, ...checkpoints].filter(({ position }) => position >= cutUntil);
  const verifier = createVerifier({ checkpoints: all, keys: new Map([...keys, ...ownKeys]) });
  const everything = { types: undefined, workspaceId: undefined, since: undefined };
  const filter = { ...everything, actorId: undefined, actorKind: undefined, outcome: undefined };
  for (let after = cutUntil; after < head; ) {
    const rows = await trail.listTrail(db, organizationId, { ...filter, after }, atOnce);
    const personal = await trail.listPersonal(
      db,
      organizationId,
      rows.map(({ id }) => id),
    );
    for (const row of rows) {
      if (row.trail_position > head) break;
      verifier.add(
        presentEntry(
          row,
          personal.filter(({ entry_id }) => entry_id === row.id),
        ),
      );
    }
    if (rows.length < atOnce) break;
    after = rows.at(-1)?.trail_position ?? head;
  }
  const result = verifier.end();
  const { last } = result;
  if (last.position < head) {
    const from = Math.max(last.position, cutUntil) + 1;
    result.faults.push({ position: from, id: null, problem: `Entries ${from} to ${head} are missing at the end.` });
  } else if (last.hash !== hash) {
    result.faults.push({ position: head, id: null, problem: 'The end of the trail has another hash than was noted.' });
  }
  return result;
}
