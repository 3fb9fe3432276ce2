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
      'Everything that has happened in the organization, oldest first, in one order for every reader. Give `next` as `after` to read on; with `wait` the answer comes as soon as there is something.',
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
      'Events as they happen, as server-sent events (`text/event-stream`): `id` is the position, `event` the type, `data` the event as JSON. A reader that connects again with `Last-Event-ID` goes on where it was. A comment comes every fifteen seconds at the latest. ' +
      `A token may have ${maxEventStreams.token} streams open at a replica, and an organization ${maxEventStreams.organization}.`,
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
      'Sends the event again, under its old `webhook-id`, to every enabled webhook endpoint that it matches.',
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
      'What has happened in the workspace of the token, as far as customers are concerned. Positions are those of the whole organization, so there are gaps between them.',
    query: ListOwnEventsQuery,
    answer: EventPage,
    errors: ['events_gone', 'events_ahead'],
  },
} as const satisfies Record<string, Operation>;
