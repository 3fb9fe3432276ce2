/** Operations on events: pages, single events and a stream for operators, and pages for customers. */
import { Type } from 'typebox';
import {
  Event,
  EventPage,
  EventPath,
  ListEventsQuery,
  ListOwnEventsQuery,
  maxEventStreams,
  StreamEventsQuery,
} from '../log/events.ts';
import { RedeliverRequest, Redelivery } from '../log/webhook-endpoints.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Events' } as const;

export const events = {
  list: {
    ...about,
    route: 'GET /api/v1/events',
    paging: 'position',
    summary: 'List events',
    description:
      'Returns all events of the organization, oldest first and in the same order for every reader. Pass `next` as `after` to continue. With `wait`, the request is held until there are events (long polling).',
    query: ListEventsQuery,
    answer: EventPage,
    errors: ['events_gone', 'events_ahead'],
  },
  stream: {
    ...about,
    route: 'GET /api/v1/events/stream',
    paging: 'position',
    summary: 'Stream events',
    description:
      'Streams events as server-sent events (`text/event-stream`): `id` is the position, `event` the type, and `data` the event as JSON. Reconnect with `Last-Event-ID` to resume. A comment is sent at least every fifteen seconds. ' +
      `Each replica allows ${maxEventStreams.token} streams per token and ${maxEventStreams.organization} per organization.`,
    query: StreamEventsQuery,
    answer: Type.String({ title: 'Event stream', examples: ['id: 1042\nevent: sync.succeeded\ndata: {}\n\n'] }),
    answerType: 'text/event-stream',
    errors: ['events_gone', 'events_ahead', 'too_many_event_streams'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/events/{event_id}',
    summary: 'Get event',
    params: EventPath,
    answer: Event,
    errors: ['event_not_found'],
  },
  redeliver: {
    ...about,
    tag: 'Webhooks',
    route: 'POST /api/v1/events/{event_id}/redeliver',
    summary: 'Redeliver event',
    description:
      'Sends the event again, with its original `webhook-id`, to every enabled webhook endpoint that matches it.',
    params: EventPath,
    body: RedeliverRequest,
    answer: Redelivery,
    errors: ['event_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const embeddedEvents = {
  list: {
    route: 'GET /api/v1/embedded/events',
    paging: 'position',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List own events',
    description:
      "Returns the events of the token's workspace that concern customers. Positions belong to the whole organization, so they have gaps.",
    query: ListOwnEventsQuery,
    answer: EventPage,
    errors: ['events_gone', 'events_ahead'],
  },
} as const satisfies Record<string, Operation>;
