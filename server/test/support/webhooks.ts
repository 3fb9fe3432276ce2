/** A receiver of webhooks on loopback that answers as a test wants, and a service that sends to it, without HTTP. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { verify } from '../../../webhooks/src/inlay-webhooks.ts';
import { byWorker } from '../../src/kernel/cause.ts';
import type { Store } from '../../src/kernel/db/open.ts';
import { openGuardedClient } from '../../src/kernel/network/guarded-client.ts';
import { type Runtime, systemRuntime } from '../../src/kernel/runtime.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import type { Entry } from '../../src/log/events/catalogue.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import { createSequencer } from '../../src/log/events/sequencer.worker.ts';
import type { WebhooksContext } from '../../src/log/webhooks/context.ts';
import { createDeliveries } from '../../src/log/webhooks/delivery.worker.ts';
import type { DeliveryOptions } from '../../src/log/webhooks/endpoint-run.worker.ts';
import { createOrganization } from '../../src/tenancy/organizations/organizations.ts';

export interface Received {
  id: string;
  type: string;
  data: Record<string, unknown>;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  at: number;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Each id once, in the order of its first arrival. */
  ids(): string[];
  /** What to answer; 204 if not said. May answer late or never. */
  answer: (webhook: Received, response: ServerResponse) => void;
}

export async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = {
    url: '',
    received: [],
    ids: () => [...new Set(receiver.received.map(({ id }) => id))],
    answer: (_, response) => response.writeHead(204).end(),
  };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { type = '', data = {} } = body === '' ? {} : JSON.parse(body);
    const id = String(request.headers['webhook-id']);
    const webhook = { id, type, data, path: request.url ?? '', headers: request.headers, body, at: Date.now() };
    receiver.received.push(webhook);
    receiver.answer(webhook, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}

export const verified = ({ body, headers }: Received, key: string) => verify(body, headers, key);

const log = pino({ level: 'silent' });

/** A service that has the log and sends webhooks, on this store. */
export async function webhookService(
  store: Store,
  {
    // Longer than a busy machine needs: what timed out once is tried again after minutes.
    timeoutMs = 60_000,
    allowPrivateNetworks = true,
    runtime = systemRuntime,
    ...more
  }: {
    timeoutMs?: number;
    allowPrivateNetworks?: boolean;
    runtime?: Runtime;
    organizationId?: string;
    sealer?: WebhooksContext['sealer'];
    onAttempt?: DeliveryOptions['onAttempt'];
  } = {},
) {
  const organizationId =
    more.organizationId ?? (await createOrganization(store, systemRuntime, { name: randomUUID() })).id;
  const journal = createJournal({ runtime, cause: byWorker });
  const sequencer = createSequencer({ store, runtime, log, onSequenced: () => {} });
  const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks, serviceEndpoints: [] };
  const client = openGuardedClient(surroundings);
  const sealer = more.sealer ?? createSealer(Buffer.alloc(32, 5));
  const ctx: WebhooksContext = {
    store,
    runtime,
    log,
    sealer,
    journal,
    network: {
      post: (url, options) => client.request(url, { ...options, method: 'POST' }),
      allowPrivateNetworks,
      timeoutMs,
      hostFault: () => undefined,
    },
    customersMay: true,
    wake: () => {},
  };
  const create = () =>
    createDeliveries({
      ...ctx,
      dataOf: (event) => JSON.parse(event.data),
      ...(more.onAttempt && { onAttempt: more.onAttempt }),
    });
  const deliveries = create();
  onTestFinished(async () => {
    await deliveries.stop();
    await client.close();
  });
  /** Writes events about tags with these names, and gives each its position. */
  async function happen(...names: string[]): Promise<void> {
    const entries = names.map(
      (name): Entry => ({
        type: 'tag.created',
        data: { tag: { id: randomUUID(), name } },
        change: { before: undefined, after: { name } },
      }),
    );
    await store.transaction((tx) => journal.record(tx, organizationId, ...entries));
    await sequencer.pass();
  }
  return { ctx, organizationId, owner: { organizationId }, journal, sequencer, deliveries, create, happen, sealer };
}

/** The name that `happen` gave the event. */
export const nameOf = ({ data }: Received) => (data as { tag: { name: string } }).tag.name;
