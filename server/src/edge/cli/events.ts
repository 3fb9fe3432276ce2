/** The commands that show what happens as it happens. A service has to run for new entries to get their positions. */
import type { Event, EventPage } from '@inlay/contract/log/events';
import { WebhookKeyError } from 'inlay-webhooks/key-error';
import { type Signer, signerOf } from 'inlay-webhooks/signatures';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createArrivals } from '../../log/events/arrivals.ts';
import { eventTypes, matchingTypes } from '../../log/events/catalogue.ts';
import { awaitPage, type EventsContext, positionFromEnd, type Reader } from '../../log/events/events.ts';
import { makeSecret } from '../../log/webhooks/keys.ts';
import type { ApiClient } from './api-client.ts';
import { usageError } from './exit-codes.ts';
import { type Here, type Inlay, withInlay } from './inlay.ts';
import { type Color, colored, plain, print, printError } from './output.ts';

interface Choice {
  organization?: string;
  types?: string;
  workspace?: string;
  json?: true;
}

export const tailEvents = (options: Choice & { lines: number; follow: boolean }) =>
  withInlay(options, async (inlay) => {
    await readOn(inlay, options, { back: options.lines, follow: options.follow }, async (event) =>
      show(event, options),
    );
  });

export const listenToEvents = (options: Choice & { forwardTo?: string; secret?: string }) =>
  withInlay(options, async (inlay) => {
    const { forwardTo, secret = makeSecret() } = options;
    if (forwardTo !== undefined && !/^https?:\/\//.test(forwardTo)) {
      throw usageError('--forward-to must be a URL that starts with http:// or https://.');
    }
    const sign = signerWith(secret);
    // With --json, standard output is for events alone.
    const tell = options.json ? printError : print;
    tell(
      `Listening for events${forwardTo === undefined ? '' : ` and forwarding them to ${forwardTo}`}. Press Ctrl+C to stop.`,
    );
    if (forwardTo !== undefined && options.secret === undefined) tell(`Signing secret: ${secret}`);
    await readOn(inlay, options, { back: 0, follow: true }, async (event) => {
      show(event, options);
      if (forwardTo !== undefined) tell(`  → ${await forward(event, forwardTo, sign)}`);
    });
  });

function signerWith(secret: string): Signer {
  try {
    return signerOf(secret);
  } catch (error) {
    if (error instanceof WebhookKeyError) throw usageError(`Invalid --secret. ${error.message}`);
    throw error;
  }
}

/** Prints every event that is chosen, in order: so many from the end, and what comes then. */
async function readOn(
  { api, here }: Inlay,
  options: Choice,
  { back, follow }: { back: number; follow: boolean },
  tell: (event: Event) => Promise<void>,
): Promise<void> {
  refuseUnknownTypes(options.types);
  const { begin, read } = api ? readerOf(api, options) : readerHere(here as Here, options);
  for (let after = await begin(back); ; ) {
    const page = await read(after, follow).catch(inWords);
    for (const event of page.data) await tell(event);
    after = page.next;
    if (!follow && page.data.length < pageLimit) return;
  }
}

const pageLimit = 100;
/** The most that the API allows. */
const waitSeconds = 30;

interface EventReader {
  /** The position after which so many events follow. */
  begin(back: number): Promise<number>;
  read(after: number, waits: boolean): Promise<EventPage>;
}

function readerHere({ store, organizationId }: Here, { types, workspace: workspaceId }: Choice): EventReader {
  const ctx: EventsContext = { store, runtime: systemRuntime, arrivals: createArrivals(store, systemRuntime) };
  const reader: Reader = { organizationId, workspaceId, isCustomer: false, types, since: undefined };
  const never = new AbortController().signal;
  return {
    begin: (back) => positionFromEnd(ctx, reader, back),
    read: (after, waits) =>
      awaitPage(ctx, reader, { after, limit: pageLimit, waitMs: waits ? waitSeconds * 1000 : 0, ended: never }),
  };
}

function readerOf(api: ApiClient, { types, workspace: workspace_id }: Choice): EventReader {
  const route = 'GET /events';
  return {
    async begin(back) {
      // Nothing is later, so `next` is the present position.
      const { next } = await api.request(route, { query: { since: '9999-12-31T23:59:59Z', limit: 1 } });
      const begin = Math.max(0, next - back);
      // Positions are consecutive, but the oldest events are removed, and a restore skips some.
      return await api.request(route, { query: { after: begin, limit: 1 } }).then(
        () => begin,
        async (error: unknown) => {
          if (!isUnreadable(error)) throw error;
          const [oldest] = (await api.request(route, { query: { limit: 1 } })).data;
          return error.code === 'events_gone' && oldest ? oldest.position - 1 : next;
        },
      );
    },
    read: (after, waits) =>
      api.request(route, { query: { after, types, workspace_id, limit: pageLimit, wait: waits ? waitSeconds : 0 } }),
  };
}

const isUnreadable = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'events_gone' || error.code === 'events_ahead');

function inWords(error: unknown): never {
  if (isUnreadable(error)) {
    throw new OperatorError('The event log was truncated or restored in the meantime. Run the command again.');
  }
  throw error;
}

function refuseUnknownTypes(types: string | undefined): void {
  for (const pattern of (types ?? '*').split(',').map((part) => part.trim())) {
    if (matchingTypes([pattern], eventTypes).length > 0) continue;
    throw usageError(`Unknown event type ${pattern}. See docs/reference/events.md, or use a wildcard such as sync.*`);
  }
}

function show(event: Event, { json }: Choice): void {
  if (json) {
    print(JSON.stringify(event));
    return;
  }
  const { position, type, timestamp, data } = event;
  const told = [
    colored(timestamp, 'grey'),
    colored(String(position), 'grey'),
    colored(type, colorOf(type)),
    ...[data.workspace, data.connection ?? data.source ?? data.template ?? data.tag].flatMap(nameOf),
    ...[data.problem, data.reason].flatMap(messageOf),
  ];
  print(told.join('  '));
}

const nameOf = (value: unknown) => textOf(value, 'name');
const messageOf = (value: unknown) => textOf(value, 'message');

function textOf(value: unknown, member: string): string[] {
  const text = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined;
  return typeof text === 'string' ? [plain(text)] : [];
}

function colorOf(type: string): Color {
  if (/failed|needs_attention|reached|stopped/.test(type)) return 'red';
  return /succeeded|recovered|finished/.test(type) ? 'green' : 'cyan';
}

const patienceMs = 15_000;

/** As a webhook of this event would arrive. Once: what matters here is what the program answers. */
async function forward({ id, type, timestamp, data }: Event, url: string, sign: Signer): Promise<string> {
  const startedAt = systemRuntime.elapsed();
  const message = {
    id,
    timestamp: Math.floor(systemRuntime.now() / 1000),
    payload: JSON.stringify({ type, timestamp, data }),
  };
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(message.timestamp),
        'webhook-signature': sign(message),
      },
      body: message.payload,
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    });
    await answer.body?.cancel();
    const tookMs = Math.round(systemRuntime.elapsed() - startedAt);
    return colored(`${answer.status} in ${tookMs} ms`, answer.ok ? 'green' : 'red');
  } catch (error) {
    const { message, cause } = error as Error;
    return colored(`not delivered: ${plain(cause instanceof Error ? cause.message : message)}`, 'red');
  }
}
