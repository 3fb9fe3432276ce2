/** Schemas for events: everything that happens in an organization, in a single order. */
import { type Static, Type } from 'typebox';
import { Timestamp, Uuid } from '../fields.ts';

const exampleId = '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';

export const Position = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1042] });

export const EventTypeName = Type.String({ description: 'Type of the event.', examples: ['sync.succeeded'] });

export const Event = Type.Object(
  {
    id: Uuid('ID of the event. The same in the API, streams and webhooks.', exampleId),
    position: Position("Position in the organization's event log: 1, 2, 3, … without gaps."),
    type: EventTypeName,
    timestamp: Timestamp('When it happened.'),
    workspace_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The workspace concerned. Null if the event concerns the organization.',
      examples: [exampleWorkspaceId],
    }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Details of the event, which depend on its type. If the event concerns a workspace, `workspace` has its ID and its name at the time.',
      examples: [{ workspace: { id: exampleWorkspaceId, name: 'acme-inc' } }],
    }),
  },
  { title: 'Event' },
);
export type Event = Static<typeof Event>;

export const EventPage = Type.Object(
  {
    data: Type.Array(Event, { description: 'Events, oldest first.' }),
    next: Position('Pass as `after` to continue reading. Present even if there are no further events yet.'),
  },
  { title: 'Event page' },
);
export type EventPage = Static<typeof EventPage>;

const TypePatterns = Type.String({
  maxLength: 2_000,
  pattern: '^ *([a-z_]+\\.([a-z_]+|\\*)|\\*)( *, *([a-z_]+\\.([a-z_]+|\\*)|\\*))* *$',
  description: 'Returns only these types, separated by commas. An asterisk matches the rest of a type, as in `sync.*`.',
  examples: ['sync.*,source.needs_attention'],
});

export const filters = {
  types: Type.Optional(TypePatterns),
  since: Type.Optional(Timestamp('Returns only what happened at this time or later.')),
};

const paging = {
  after: Type.Optional(
    Position(
      'Returns only later positions. Defaults to the oldest position available. Positions that are no longer available return 410.',
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Number of events per page.' }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      default: 0,
      description: 'Maximum number of seconds to wait if there are no events yet.',
    }),
  ),
};

const workspace = {
  workspace_id: Type.Optional(Uuid('Returns only events about this workspace.', exampleWorkspaceId)),
};

export const ListEventsQuery = Type.Object({ ...paging, ...filters, ...workspace });
export const ListOwnEventsQuery = Type.Object({ ...paging, ...filters });

export const StreamEventsQuery = Type.Object({
  after: Type.Optional(
    Position(
      'Returns only later positions. The `Last-Event-ID` header takes precedence. Defaults to the oldest position available.',
    ),
  ),
  ...filters,
  ...workspace,
});

export const EventPath = Type.Object({ event_id: Uuid('The event.', exampleId) });

/** Maximum number of event streams per replica, by token and by organization. Also used in the error catalogue. */
export const maxEventStreams = { token: 50, organization: 500 } as const;
