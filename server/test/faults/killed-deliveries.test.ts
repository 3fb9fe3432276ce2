/**
 * `kill -9` of a service that sends webhooks, and three replicas that share the endpoints: nothing is lost, an event comes
 * twice only under its own id, and order is kept where it is promised.
 */
import { expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { createEndpoint } from '../../src/log/webhooks/endpoints.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import { createTestDatabase, describeOnOneDatabase } from '../support/databases.ts';
import { call, operatorToken } from '../support/deployment.ts';
import { startService } from '../support/service.ts';
import { openTestStore } from '../support/test-store.ts';
import { nameOf, type Received, startReceiver, webhookService } from '../support/webhooks.ts';

const program = useCrashingProgram();

/** The names of events in the order of their first arrival, at addresses that end like this. */
const firstArrivals = (received: readonly Received[], end: string) => [
  ...new Set(received.filter(({ path }) => path.endsWith(end)).map(nameOf)),
];

/** Where it is killed: when a webhook has arrived, when it was answered, before a commit, after a commit. */
type Kill = 'arrived' | 'answered' | { at: number; edge: 'before' | 'after' };
const allKills: Kill[] = [
  'arrived',
  'answered',
  ...[1, 2, 3, 4, 5, 6].flatMap((at): Kill[] => [
    { at, edge: 'before' },
    { at, edge: 'after' },
  ]),
];

describeOnOneDatabase('a service killed while it sends webhooks', (kind) => {
  it('sends everything in the end, in order where that was requested', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    onTestFinished(() => database.drop());
    const receiver = await startReceiver();
    const start = () =>
      startService({
        program,
        dataDir: database.dataDir,
        env: {
          INLAY_OPERATOR_TOKEN: operatorToken,
          LOG_LEVEL: 'silent',
          ...(database.url && { INLAY_DATABASE_URL: database.url }),
        },
      });
    let service = await start();
    for (const ordered of [false, true]) {
      const url = `${receiver.url}/${ordered ? 'ordered' : 'plain'}`;
      const made = await call(service, 'POST', '/api/v1/webhook-endpoints', { url, types: ['tag.*'], ordered });
      expect(made.status).toBe(201);
    }
    const names: string[] = [];
    const happen = async () => {
      for (let count = 0; count < 5; count++) {
        const name = `event ${names.length}`;
        const { status } = await call(service, 'POST', '/api/v1/integrations/templates/tags', { name });
        expect(status).toBe(201);
        names.push(name);
      }
    };
    const arrived = async (what: string) => {
      for (const end of ['/plain', '/ordered']) {
        await expect.poll(() => firstArrivals(receiver.received, end).length, { message: what }).toBe(names.length);
      }
    };

    const kills = isLongRun ? allKills : kind === 'sqlite' ? allKills.slice(0, 1) : allKills.slice(1, 2);
    for (const kill of kills) {
      if (typeof kill === 'string') {
        let count = 0;
        receiver.answer = (_, response) => {
          if (++count === 3 && kill === 'arrived') void service.kill();
          response.writeHead(204).end(() => {
            if (count === 3 && kill === 'answered') void service.kill();
          });
        };
        // The third webhook is under way before everything has happened.
        await happen().catch(() => {});
      } else {
        await happen();
        await service.tell(kill);
      }
      await service.exited;
      receiver.answer = (_, response) => response.writeHead(204).end();
      service = await start();
      // A tag whose answer was lost is there, or is made now.
      const { body } = await call(service, 'GET', '/api/v1/integrations/templates/tags');
      names.splice(0, names.length, ...body.data.map(({ name }: { name: string }) => name).sort(byNumber));
      await arrived(JSON.stringify(kill));
    }
    const ids = new Map(receiver.received.map((webhook) => [nameOf(webhook), webhook.id]));
    for (const webhook of receiver.received) expect(webhook.id).toBe(ids.get(nameOf(webhook)));
    expect(firstArrivals(receiver.received, '/ordered')).toEqual(names);
    await service.kill();
  });

  it('is one of three that share the endpoints', async () => {
    const store = await openTestStore(kind);
    const first = await webhookService(store);
    const { organizationId, owner, sealer } = first;
    const replicas = [first];
    while (replicas.length < 3) replicas.push(await webhookService(store, { organizationId, sealer }));
    const receiver = await startReceiver();
    for (let count = 0; count < 3; count++) {
      await createEndpoint(first.ctx, owner, { url: `${receiver.url}/plain-${count}`, types: ['tag.*'] });
      await createEndpoint(first.ctx, owner, {
        url: `${receiver.url}/ordered-${count}`,
        types: ['tag.*'],
        ordered: true,
      });
    }
    for (const { deliveries } of replicas) deliveries.start();
    const names = Array.from({ length: isLongRun ? 60 : 30 }, (_, index) => `event ${index}`);
    for (let begin = 0; begin < names.length; begin += 10) await first.happen(...names.slice(begin, begin + 10));
    for (let count = 0; count < 3; count++) {
      for (const way of ['plain', 'ordered']) {
        const arrivals = () => firstArrivals(receiver.received, `/${way}-${count}`);
        await expect.poll(() => arrivals().length).toBe(names.length);
        if (way === 'ordered') expect(arrivals()).toEqual(names);
      }
    }
  });
});

const byNumber = (one: string, other: string) => Number(one.split(' ')[1]) - Number(other.split(' ')[1]);
