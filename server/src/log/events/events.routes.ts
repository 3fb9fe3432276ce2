/** The endpoints of events: pages, single events and a stream for operators, and pages for a workspace's own token. */
import { Readable } from 'node:stream';
import type { EventPage } from '@inlay/contract/log/events';
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest } from '../../kernel/errors.ts';
import { serve } from '../../kernel/http/endpoint.ts';
import { type Reauthenticate, watchEnds } from '../../kernel/http/waiting-requests.ts';
import { awaitPage, type EventsContext, getEvent, type Reader } from './events.ts';
import { streamEvents } from './stream.ts';
import { createStreamCounts } from './stream-counts.ts';

const defaultLimit = 100;

export function eventRoutes(app: FastifyInstance, ctx: EventsContext, reauthenticate: Reauthenticate): void {
  const endOf = watchEnds(app);
  const countStream = createStreamCounts();

  async function page(
    reader: Reader,
    { after, limit = defaultLimit, wait = 0 }: { after?: number; limit?: number; wait?: number },
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<EventPage> {
    reply.header('cache-control', 'no-store');
    const found = await awaitPage(ctx, reader, { after, limit, waitMs: wait * 1000, ended: endOf(reply) });
    // The token may have been revoked while the request waited.
    if (wait > 0) await reauthenticate(request);
    return found;
  }

  serve(app, operations.events, {
    list: async ({ principal: { organizationId }, query: { workspace_id, types, since, ...paging }, request, reply }) =>
      await page({ organizationId, workspaceId: workspace_id, isCustomer: false, types, since }, paging, {
        request,
        reply,
      }),
  });

  serve(app, operations.embeddedEvents, {
    list: async ({ principal: { organizationId, workspaceId }, query: { types, since, ...paging }, request, reply }) =>
      await page({ organizationId, workspaceId, isCustomer: true, types, since }, paging, { request, reply }),
  });

  serve(app, operations.events, {
    stream: async ({ principal, query, request, reply }) => {
      const { workspace_id, types, since } = query;
      const ended = endOf(reply);
      countStream(principal, ended);
      const { organizationId } = principal;
      const reader = { organizationId, workspaceId: workspace_id, isCustomer: false, types, since };
      const events = streamEvents(ctx, reader, {
        after: lastEventId(request) ?? query.after,
        ended,
        assertStillAllowed: () => reauthenticate(request),
      });
      const first = await events.next();
      reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no').type('text/event-stream');
      // Without a body, there is nothing to stream.
      if (request.method === 'HEAD') return '';
      return reply.send(Readable.from(joined(first.value ?? '', events))) as unknown as string;
    },

    get: ({ principal, params }) => getEvent(ctx, principal.organizationId, params.event_id),
  });
}

async function* joined(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first;
    yield* rest;
  } catch {
    // The token expired or the store does not respond. The stream ends, and the reader finds out when it reconnects.
  }
}

/** Browsers send it automatically when they reconnect. */
function lastEventId({ headers }: FastifyRequest): number | undefined {
  const given = headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  const position = Number(given);
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return position;
  throw invalidRequest({
    loc: ['header', 'Last-Event-ID'],
    msg: 'must be the position of an event, as a whole number',
    type: 'value_error',
  });
}
