/*
 * How many events a second reach one endpoint: read from the log, signed, sent to a receiver on loopback, and the answers
 * written down.
 */
import { pino } from 'pino';
import type { BareAnswer } from './bare-server.ts';
import { onBothDatabases } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import { organizationId } from './dataset.ts';
import { newTag } from './events.ts';
import { figureOf, measureInTurns, timed } from './figures.ts';
import * as product from './product.ts';
import { unguarded } from './unguarded.ts';

/** Events a second. */
const atLeast = 1_000;
const atOnce = 500;

export const webhooks = onBothDatabases('webhooks', async (database, options) => {
  const receiver = startProgram<BareAnswer, { port: number }>('bare-server', options);
  const { port } = await receiver.ask({ headers: [], body: '' });
  const store = await database.open('webhooks', options);
  const runtime = product.systemRuntime;
  const log = pino({ level: 'silent' });
  const client = product.openGuardedClient(unguarded);
  options.onEnd(() => client.close());
  const journal = product.createJournal({ runtime, cause: product.byWorker });
  const sequencer = product.createSequencer({ store, runtime, log, onSequenced: () => {} });
  const network = {
    post: (url: string, options: Omit<product.GuardedRequest, 'method'>) =>
      client.request(url, { ...options, method: 'POST' }),
    allowPrivateNetworks: true,
    timeoutMs: 15_000,
    hostFault: () => undefined,
  };
  const sealer = product.createSealer(Buffer.alloc(32, 5));
  const ctx = { store, runtime, log, sealer, journal, network, customersMay: false, wake: () => {} };
  let delivered = 0;
  const deliveries = product.createDeliveries({
    ...ctx,
    dataOf: (event) => product.dataOf(event, false),
    onAttempt: (outcome) => {
      if (outcome === 'delivered') delivered++;
    },
  });
  options.onEnd(() => deliveries.stop());
  const owner = { organizationId };
  const count = Math.min(options.records, 10_000);
  const round = async () => {
    const { id } = await product.createEndpoint(ctx, owner, { url: `http://127.0.0.1:${port}/`, types: ['tag.*'] });
    for (let made = 0; made < count; made += atOnce) {
      const entries = Array.from({ length: Math.min(atOnce, count - made) }, newTag);
      await store.transaction((tx) => journal.record(tx, organizationId, ...entries));
    }
    await sequencer.pass();
    delivered = 0;
    const measured = await timed(() => deliveries.pass(), count);
    if (delivered !== count) throw new Error(`${delivered} of ${count} events were delivered.`);
    await product.deleteEndpoint(ctx, owner, id);
    return measured;
  };
  const { ours } = await measureInTurns({ ours: round }, options);
  const target = { of: 'value', atLeast } as const;
  return [figureOf('events to one webhook endpoint on loopback', ['rate', 'requests/s'], ours, { target })];
});
