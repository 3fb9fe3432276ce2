/** What crosses the wire for events: everything that happens in an organization, in one order. */
import { type Static, Type } from 'typebox';
import { Timestamp, Uuid } from '../fields.ts';

const exampleId = '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';

export const Position = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1042] });

export const EventTypeName = Type.String({ description: 'What has happened', examples: ['sync.succeeded'] });

export const Event = Type.Object(
  {
    id: Uuid('Id of the event, the same wherever it is told', exampleId),
    position: Position('Its place in the order of all events of the organization: 1, 2, 3, … without a gap'),
    type: EventTypeName,
    timestamp: Timestamp('When it happened'),
    workspace_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The workspace that it is about; null where it is about the whole organization',
      examples: [exampleWorkspaceId],
    }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'What is to be known of it, as its type says. Where it is about a workspace, `workspace` has the id and the name that the workspace had then',
      examples: [{ workspace: { id: exampleWorkspaceId, name: 'acme-inc' } }],
    }),
  },
  { title: 'Event' },
);
export type Event = Static<typeof Event>;

export const EventPage = Type.Object(
  {
    data: Type.Array(Event, { description: 'Oldest first' }),
    next: Position('Give it as `after` to read on. It is there even when there is nothing more yet'),
  },
  { title: 'Event page' },
);
export type EventPage = Static<typeof EventPage>;

const TypePatterns = Type.String({
  maxLength: 2_000,
  pattern: '^ *([a-z_]+\\.([a-z_]+|\\*)|\\*)( *, *([a-z_]+\\.([a-z_]+|\\*)|\\*))* *$',
  description: 'Only these types, separated by commas. A star stands for the rest of a name: `sync.*`',
  examples: ['sync.*,source.needs_attention'],
});

export const filters = {
  types: Type.Optional(TypePatterns),
  since: Type.Optional(Timestamp('Only what happened at this time or later')),
};

const paging = {
  after: Type.Optional(
    Position(
      'Only later positions. Left out: from the oldest that is kept. A position that is no longer kept gives 410',
    ),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Events on a page' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      default: 0,
      description: 'How many seconds to wait for an event if there is none yet',
    }),
  ),
};

const workspace = { workspace_id: Type.Optional(Uuid('Only events about this workspace', exampleWorkspaceId)) };

export const ListEventsQuery = Type.Object({ ...paging, ...filters, ...workspace });
export const ListOwnEventsQuery = Type.Object({ ...paging, ...filters });

export const StreamEventsQuery = Type.Object({
  after: Type.Optional(
    Position(
      'Only later positions, unless the header `Last-Event-ID` names one. Left out: from the oldest that is kept',
    ),
  ),
  ...filters,
  ...workspace,
});

export const EventPath = Type.Object({ event_id: Uuid('The event', exampleId) });

/** How many streams a token and an organization may have open at a replica. Also in the words of the error catalogue. */
export const maxEventStreams = { token: 50, organization: 500 } as const;
