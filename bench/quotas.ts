/*
 * What quotas cost where they are compared: recording a source, and counting a sync that has ended, with quotas and
 * without, in a workspace that has many sources.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { byWorker } from '../server/src/cause.ts';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { createJournal } from '../server/src/events/journal.ts';
import { putLimits } from '../server/src/quotas/quotas.store.ts';
import { takeRoom } from '../server/src/quotas/quotas.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { holdLiveWorkspace } from '../server/src/workspaces/live-workspaces.ts';
import { seedPipelines } from '../server/test/support/seed-pipelines.ts';
import { type Benchmark, type Figure, type Measured, measureInTurns, tookMs } from './benchmark.ts';
import { addSource } from './source-row.ts';

const journal = createJournal({ runtime: systemRuntime, cause: byWorker });
const present = 500;
const added = 100;
/** The time with quotas divided by the time without. */
const target = 1.5;

export const benchmark: Benchmark = {
  name: 'quotas',

  async run({ databases, folder, rounds }) {
    const dataDir = join(folder, 'quotas');
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
    const figures = [await measure('SQLite', openSqlite({ file: join(dataDir, 'inlay.db'), now: Date.now }), rounds)];
    const postgres = await databases.postgres();
    if (postgres) {
      const url = await postgres.makeEmpty('quotas');
      figures.push(await measure('PostgreSQL', openPostgres({ url, onIdleError: () => {} }), rounds));
    }
    return figures;
  },
};

async function measure(database: string, store: Store, rounds: number): Promise<Figure> {
  try {
    await migrate(store);
    const organizationId = randomUUID();
    await store.db
      .insertInto('organizations')
      .values({ id: organizationId, name: 'bench', platform_organization_id: organizationId, created_at: 0 })
      .execute();
    const { seeded, ...ids } = await seedPipelines(store, { organizationId, workspaces: 1, jobsEach: 0 });
    const workspaceId = seeded[0]?.workspaceId ?? '';
    const scope = { organizationId, workspaceId, audience: 'operator' } as const;
    await putLimits(store.db, organizationId, workspaceId, JSON.stringify({ sources: 100_000, connections: 100_000 }));
    const add = async (hasQuotas: boolean) => {
      return await store.transaction(async (tx) => {
        await holdLiveWorkspace(tx, organizationId, workspaceId);
        if (hasQuotas) await takeRoom({ journal }, tx, scope, { sources: 1, connections: 1 });
        return await addSource(tx, { organizationId, workspaceId, ...ids });
      });
    };
    for (let count = 0; count < present; count++) await add(false);
    const round = (hasQuotas: boolean) => async (): Promise<Measured> => {
      const made: string[] = [];
      const startedAt = performance.now();
      for (let count = 0; count < added; count++) made.push(await add(hasQuotas));
      const took = performance.now() - startedAt;
      // Every round meets the same number of sources.
      await store.db.deleteFrom('sources').where('id', 'in', made).execute();
      return { tookMs: took, usage: {} };
    };
    const { without, quotas } = await measureInTurns(
      { without: round(false), quotas: round(true) },
      Math.max(rounds, 1),
      tookMs,
    );
    return {
      work: `${database}: recording a source beside ${present} others, with quotas`,
      value: quotas.tookMs / added,
      unit: 'ms',
      reference: { name: 'without quotas', value: without.tookMs / added },
      ratio: quotas.tookMs / without.tookMs,
      target: { of: 'ratio', atMost: target },
    };
  } finally {
    await store.close();
  }
}
