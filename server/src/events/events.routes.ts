/** The endpoints of events: pages, single events and a stream for operators, and pages for a workspace's own token. */
import { Readable } from 'node:stream';
import {
  Event,
  EventPage,
  EventPath,
  ListEventsQuery,
  ListOwnEventsQuery,
  StreamEventsQuery,
} from '@inlay/contract/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invalidRequest } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { type Reauthenticate, watchEnds } from '../http/waiting-requests.ts';
import { awaitPage, type EventsContext, getEvent, type Reader } from './events.ts';
import { streamEvents } from './stream.ts';

const path = '/api/v1/events';
const tag = 'Events';
const defaultLimit = 100;

export function eventRoutes(app: FastifyInstance, ctx: EventsContext, reauthenticate: Reauthenticate): void {
  const endOf = watchEnds(app);

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

  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List events',
    description:
      'Everything that has happened in the organization, oldest first, in one order for every reader. Give `next` as `after` to read on; with `wait` the answer comes as soon as there is something.',
    query: ListEventsQuery,
    answer: EventPage,
    errors: ['events_gone', 'events_ahead'],
    handle: async ({
      principal: { organizationId },
      query: { workspace_id, types, since, ...paging },
      request,
      reply,
    }) =>
      await page({ organizationId, workspaceId: workspace_id, isCustomer: false, types, since }, paging, {
        request,
        reply,
      }),
  });

  endpoint(app, {
    method: 'GET',
    url: '/api/v1/embedded/events',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List own events',
    description:
      'What has happened in the workspace of the token, as far as customers are concerned. Positions are those of the whole organization, so there are gaps between them.',
    query: ListOwnEventsQuery,
    answer: EventPage,
    errors: ['events_gone', 'events_ahead'],
    handle: async ({
      principal: { organizationId, workspaceId },
      query: { types, since, ...paging },
      request,
      reply,
    }) => await page({ organizationId, workspaceId, isCustomer: true, types, since }, paging, { request, reply }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/stream`,
    access: 'operator',
    tag,
    summary: 'Stream events',
    description:
      'Events as they happen, as server-sent events (`text/event-stream`): `id` is the position, `event` the type, `data` the event as JSON. A reader that connects again with `Last-Event-ID` goes on where it was. A comment comes every fifteen seconds at the latest.',
    query: StreamEventsQuery,
    answer: Type.String({ title: 'Event stream', examples: ['id: 1042\nevent: sync.succeeded\ndata: {}\n\n'] }),
    answerType: 'text/event-stream',
    errors: ['events_gone', 'events_ahead'],
    handle: async ({ principal: { organizationId }, query, request, reply }) => {
      const { workspace_id, types, since } = query;
      const reader = { organizationId, workspaceId: workspace_id, isCustomer: false, types, since };
      const events = streamEvents(ctx, reader, {
        after: lastEventId(request) ?? query.after,
        ended: endOf(reply),
        assertStillAllowed: () => reauthenticate(request),
      });
      const first = await events.next();
      reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no').type('text/event-stream');
      // Without a body, there is nothing to stream.
      if (request.method === 'HEAD') return '';
      return reply.send(Readable.from(joined(first.value ?? '', events))) as unknown as string;
    },
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:event_id`,
    access: 'operator',
    tag,
    summary: 'Get event',
    params: EventPath,
    answer: Event,
    errors: ['event_not_found'],
    handle: ({ principal, params }) => getEvent(ctx, principal.organizationId, params.event_id),
  });
}

async function* joined(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first;
    yield* rest;
  } catch {
    // The token has stopped working, or the store does not answer. The stream ends; a reader that connects again is told.
  }
}

/** Browsers send it by themselves when they connect again. */
function lastEventId({ headers }: FastifyRequest): number | undefined {
  const given = headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  const position = Number(given);
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return position;
  throw invalidRequest({
    loc: ['header', 'Last-Event-ID'],
    msg: 'must be the position of an event, a whole number',
    type: 'value_error',
  });
}
