/*
 * What quotas cost where they are compared: recording a source with quotas and without, in a workspace that has many
 * sources.
 */
import { onBothDatabases } from './benchmark.ts';
import { organizationId } from './dataset.ts';
import { figureOf, measureInTurns, timed } from './figures.ts';
import { byWorker, createJournal, putLimits, systemRuntime, takeRoom } from './product.ts';
import { makeWorkspace } from './source-row.ts';

const present = 500;
const added = 100;
/** The time with quotas divided by the time without. */
const atMost = 1.5;

export const quotas = onBothDatabases('quotas', async (database, options) => {
  const store = await database.open('quotas', options);
  const journal = createJournal({ runtime: systemRuntime, cause: byWorker });
  const { workspaceId, addSource } = await makeWorkspace(store);
  const scope = { organizationId, workspaceId, audience: 'operator' } as const;
  await putLimits(store.db, organizationId, workspaceId, JSON.stringify({ sources: 100_000, connections: 100_000 }));
  for (let count = 0; count < present; count++) await addSource();
  const round = (add: () => Promise<string>) => async () => {
    const made: string[] = [];
    const measured = await timed(async () => {
      while (made.length < added) made.push(await add());
    }, added);
    // Every round meets the same number of sources.
    await store.db.deleteFrom('sources').where('id', 'in', made).execute();
    return measured;
  };
  const works = {
    without: round(() => addSource()),
    quotas: round(() => addSource((tx) => takeRoom(journal, tx, scope, { sources: 1, connections: 1 }))),
  };
  const measured = await measureInTurns(works, options);
  return [
    figureOf(`recording a source beside ${present} others, with quotas`, ['each', 'ms'], measured.quotas, {
      than: ['without quotas', measured.without],
      target: { of: 'ratio', atMost },
    }),
  ];
});
