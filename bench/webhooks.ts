/*
 * How many events a second reach one endpoint: read from the log, signed, sent to a receiver on loopback, and the answers
 * written down.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { byWorker } from '../server/src/cause.ts';
import { migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite, type Store } from '../server/src/db/open.ts';
import { dataOf } from '../server/src/events/events.ts';
import { createJournal } from '../server/src/events/journal.ts';
import { createSequencer } from '../server/src/events/sequencer.worker.ts';
import { type GuardedRequest, openGuardedClient } from '../server/src/guarded-client.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import { createSealer } from '../server/src/sealing.ts';
import { createDeliveries } from '../server/src/webhooks/delivery.worker.ts';
import { createEndpoint, deleteEndpoint } from '../server/src/webhooks/endpoints.ts';
import type { BareAnswer } from './bare-server.ts';
import { type Benchmark, type Figure, type Measured, measureInTurns, tookMs } from './benchmark.ts';
import { startProgram } from './child-program.ts';

/** Events a second. */
const target = 1_000;
const atOnce = 500;

export const benchmark: Benchmark = {
  name: 'webhooks',

  async run({ databases, folder, rounds, records, programs, signal }) {
    const dataDir = join(folder, 'webhooks');
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
    const receiver = startProgram<BareAnswer, { port: number }>(join(programs, 'bare-server.js'), signal);
    try {
      const { port } = await receiver.ask({ headers: [['content-length', '0']], body: '' });
      const url = `http://127.0.0.1:${port}/`;
      const count = Math.min(records, 10_000);
      const options = { url, count, rounds };
      const sqlite = openSqlite({ file: join(dataDir, 'inlay.db'), now: Date.now });
      const figures = [await measure('SQLite', sqlite, options)];
      const postgres = await databases.postgres();
      if (postgres) {
        const store = openPostgres({ url: await postgres.makeEmpty('webhooks'), onIdleError: () => {} });
        figures.push(await measure('PostgreSQL', store, options));
      }
      return figures;
    } finally {
      await receiver.stop();
    }
  },
};

async function measure(
  database: string,
  store: Store,
  { url, count, rounds }: { url: string; count: number; rounds: number },
): Promise<Figure> {
  const runtime = systemRuntime;
  const log = pino({ level: 'silent' });
  const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] };
  const client = openGuardedClient(surroundings);
  const journal = createJournal({ runtime, cause: byWorker });
  const sequencer = createSequencer({ store, runtime, log, onSequenced: () => {} });
  const network = {
    post: (url: string, options: Omit<GuardedRequest, 'method'>) => client.request(url, { ...options, method: 'POST' }),
    allowPrivateNetworks: true,
    timeoutMs: 15_000,
    hostFault: () => undefined,
  };
  const sealer = createSealer(Buffer.alloc(32, 5));
  const ctx = { store, runtime, log, sealer, journal, network, customersMay: false, wake: () => {} };
  let delivered = 0;
  const deliveries = createDeliveries({
    ...ctx,
    dataOf: (event) => dataOf(event, false),
    onAttempt: (outcome) => {
      if (outcome === 'delivered') delivered++;
    },
  });
  try {
    await migrate(store);
    const organizationId = randomUUID();
    await store.db
      .insertInto('organizations')
      .values({ id: organizationId, name: 'bench', platform_organization_id: organizationId, created_at: 0 })
      .execute();
    const owner = { organizationId };
    const round = async (): Promise<Measured> => {
      const { id } = await createEndpoint(ctx, owner, { url, types: ['tag.*'] });
      for (let made = 0; made < count; made += atOnce) {
        const tags = Array.from({ length: Math.min(atOnce, count - made) }, () => ({ id: randomUUID(), name: 'crm' }));
        const entries = tags.map((tag) => ({
          type: 'tag.created' as const,
          data: { tag },
          change: { before: undefined, after: { name: tag.name } },
        }));
        await store.transaction((tx) => journal.record(tx, organizationId, ...entries));
      }
      await sequencer.pass();
      delivered = 0;
      const startedAt = performance.now();
      await deliveries.pass();
      const took = performance.now() - startedAt;
      if (delivered !== count) throw new Error(`${delivered} of ${count} events were delivered.`);
      await deleteEndpoint(ctx, owner, id);
      return { tookMs: took, usage: {} };
    };
    const { ours } = await measureInTurns({ ours: round }, Math.max(rounds, 1), tookMs);
    return {
      work: `${database}: events to one webhook endpoint on loopback`,
      value: (count / ours.tookMs) * 1_000,
      unit: 'requests/s',
      records: count,
      tookMs: ours.tookMs,
      target: { of: 'value', atLeast: target },
    };
  } finally {
    await deliveries.stop();
    await client.close();
    await store.close();
  }
}
