/** The commands about webhook endpoints. */
import type { WebhookEndpoint } from '@inlay/contract/log/webhook-endpoints';
import { pino } from 'pino';
import { byCommandLine } from '../../kernel/cause.ts';
import { readConfig } from '../../kernel/config/config.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import type { WebhooksContext } from '../../log/webhooks/context.ts';
import { listDeliveries, sendTest } from '../../log/webhooks/deliveries.ts';
import * as endpoints from '../../log/webhooks/endpoints.ts';
import { openWebhookNetwork } from '../../log/webhooks/webhook-network.ts';
import { exitWith, usageError } from './exit-codes.ts';
import { cursorOf, type Here, type Inlay, withInlay } from './inlay.ts';
import { openOwnSealer } from './opened-store.ts';
import { type Cell, colored, plain, print, printJson, span, table } from './output.ts';

interface Chosen {
  organization?: string;
  json?: true;
}

async function withWebhooks(options: Chosen, work: (inlay: Inlay) => Promise<void>): Promise<void> {
  try {
    await withInlay(options, work);
  } catch (error) {
    throw error instanceof AppError ? inWords(error) : error;
  }
}

const here =
  <T>(answer: (ctx: WebhooksContext, owner: endpoints.Owner) => Promise<T>) =>
  async ({ store, organizationId }: Here): Promise<T> => {
    const { config } = readConfig(process.env);
    const network = openWebhookNetwork(config);
    try {
      const ctx: WebhooksContext = {
        store,
        runtime: systemRuntime,
        log: pino({ level: 'silent' }),
        sealer: await openOwnSealer(store),
        journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
        network,
        customersMay: config.webhooks.customersMay,
        wake: () => {},
      };
      return await answer(ctx, { organizationId });
    } finally {
      await network.close();
    }
  };

const route = '/webhook-endpoints/{webhook_endpoint_id}';

export const showEndpoints = (options: Chosen) =>
  withWebhooks(options, async ({ ask, now: readNow }) => {
    const list = here(async (ctx, owner) => ({ data: await endpoints.listEndpoints(ctx, owner) }));
    const { data: all } = await ask('GET /webhook-endpoints', {}, list);
    if (options.json) return printJson({ data: all });
    if (all.length === 0) return print('No webhook endpoints yet. Create one: inlay webhooks create <url>');
    const now = await readNow();
    table(
      ['ID', 'STATE', { title: 'URL', isCut: true }, { title: 'TYPES', isCut: true }, 'LAST DELIVERED'],
      all.map((one) => [
        one.id,
        stateOf(one),
        one.url,
        one.types.join(' '),
        one.last_delivered_at === null ? '-' : `${span(now - Date.parse(one.last_delivered_at))} ago`,
      ]),
    );
  });

function stateOf({ enabled, disabled_reason, failing_since }: WebhookEndpoint): Cell {
  if (!enabled)
    return { text: disabled_reason === 'requested' ? 'disabled' : `disabled: ${disabled_reason}`, color: 'red' };
  return failing_since === null ? { text: 'enabled', color: 'green' } : { text: 'failing', color: 'yellow' };
}

export interface CreateOptions extends Chosen {
  types?: string[];
  workspace?: string[];
  tag?: string[];
  header?: string[];
  signing?: 'hmac' | 'ed25519' | 'both';
  rate?: number;
  ordered?: true;
  description?: string;
}

export const createEndpoint = (url: string, options: CreateOptions) =>
  withWebhooks(options, async ({ ask }) => {
    const { types, workspace, tag, header, signing, rate, ordered, description } = options;
    const body = {
      url,
      ...(types && { types }),
      ...(workspace && { workspace_ids: workspace }),
      ...(tag && { tags: tag }),
      ...(header && { headers: Object.fromEntries(header.map(readHeader)) }),
      ...(signing && { signing }),
      ...(rate !== undefined && { rate_per_second: rate }),
      ...(ordered && { ordered }),
      ...(description !== undefined && { description }),
    };
    const create = here((ctx, owner) => endpoints.createEndpoint(ctx, owner, body));
    const made = await ask('POST /webhook-endpoints', { body }, create);
    if (options.json) return printJson(made);
    print(`ID      ${made.id}`);
    printKeys(made);
  });

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw usageError('Invalid --header. Write it as "X-Key: abc".');
  return [name, value];
}

function printKeys({ secret, keys }: { secret: string | null; keys: WebhookEndpoint['keys'] }): void {
  const publicKey = keys.find(({ public_key }) => public_key !== null)?.public_key;
  if (secret !== null) print(`Secret  ${secret}`);
  if (publicKey) print(`Public  ${publicKey}`);
  if (secret !== null) print('', "Save the secret now. You won't see it again.");
}

export const deleteEndpoint = (id: string, options: Chosen) =>
  withWebhooks(options, async ({ ask }) => {
    const remove = here((ctx, owner) => endpoints.deleteEndpoint(ctx, owner, id));
    await ask(`DELETE ${route}`, { ids: [id] }, remove);
    print(`Deleted ${id}.`);
  });

export const switchEndpoint = (id: string, enabled: boolean, options: Chosen) =>
  withWebhooks(options, async ({ ask }) => {
    const update = here((ctx, owner) => endpoints.updateEndpoint(ctx, owner, id, { enabled }));
    await ask(`PATCH ${route}`, { ids: [id], body: { enabled } }, update);
    print(enabled ? `Enabled ${id}. Delivery resumes with the next event.` : `Disabled ${id}.`);
  });

export const rotateSecret = (id: string, options: Chosen & { overlapHours: number }) =>
  withWebhooks(options, async ({ ask }) => {
    const { overlapHours } = options;
    const body = { overlap_seconds: Math.round(overlapHours * 3_600) };
    const rotate = here((ctx, owner) => endpoints.rotateSecret(ctx, owner, id, body));
    const rotated = await ask(`POST ${route}/rotate-secret`, { ids: [id], body }, rotate);
    if (options.json) return printJson(rotated);
    printKeys(rotated);
    print(
      overlapHours > 0 ? `The old secret also signs for another ${overlapHours} h.` : 'The old secret no longer signs.',
    );
  });

export const testEndpoint = (id: string, options: Chosen) =>
  withWebhooks(options, async ({ ask }) => {
    const send = here((ctx, owner) => sendTest(ctx, owner, id));
    const result = await ask(`POST ${route}/test`, { ids: [id] }, send);
    if (!result.delivered) exitWith('findings');
    if (options.json) return printJson(result);
    const answer = result.response === null ? '' : `\n${plain(result.response)}`;
    print(
      result.delivered
        ? colored(`Delivered: ${result.status_code} in ${result.duration_ms} ms.`, 'green')
        : `${colored(result.error ?? 'Not delivered.', 'red')}${answer}`,
    );
  });

export const showDeliveries = (
  id: string,
  options: Chosen & { status?: 'pending' | 'delivered' | 'failed'; limit: number; cursor?: string },
) =>
  withWebhooks(options, async ({ ask }) => {
    const { status, limit, cursor } = options;
    const query = { limit: Math.min(limit, 100), ...(status && { status }), ...(cursor !== undefined && { cursor }) };
    const list = here((ctx, owner) => listDeliveries(ctx, owner, id, query));
    const { data, next } = await ask(`GET ${route}/deliveries`, { ids: [id], query }, list);
    if (options.json) return printJson({ data, next: cursorOf(next) });
    if (data.length === 0) return print('No matching deliveries.');
    table(
      ['EVENT', 'TYPE', 'STATUS', 'ATTEMPTS', 'CREATED', { title: 'LAST RESPONSE', isCut: true }],
      data.map((one) => {
        const last = one.attempt_list.at(-1);
        const answer = last?.error ?? (last ? `${last.status_code} in ${last.duration_ms} ms` : '-');
        return [one.event_id, one.type, one.status, String(one.attempts), one.created_at, answer];
      }),
    );
  });

function inWords(error: AppError): Error {
  if (error.code === 'webhook_endpoint_not_found') {
    return new OperatorError('Webhook endpoint not found. See: inlay webhooks list');
  }
  if (error.code === 'webhook_endpoint_limit') {
    return new OperatorError(
      'You have reached the maximum number of webhook endpoints. Delete one that you no longer need.',
    );
  }
  return error;
}
