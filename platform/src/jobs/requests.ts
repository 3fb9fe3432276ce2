/** What callers may send about jobs. */
import Type, { type Static } from 'typebox';
import { pageParameters, Uuid, workspaceIdsParameter } from '../fields.ts';

export const JobCreate = Type.Object({
  connectionId: Uuid,
  jobType: Type.Enum(['sync', 'reset', 'clear', 'refresh']),
  /** An addition of this platform: which streams to clear or refresh. By default all. Read in clear-requests.ts. */
  streams: Type.Optional(Type.Unknown()),
});
export type JobCreate = Static<typeof JobCreate>;

const Time = Type.Optional(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$' }),
);

export const JobLogQuery = Type.Object({
  attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  tail: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  search: Type.Optional(Type.String({ maxLength: 200 })),
  firstError: Type.Optional(Type.Boolean()),
});
export type JobLogQuery = Static<typeof JobLogQuery>;

export const JobListQuery = Type.Object({
  connectionId: Type.Optional(Uuid),
  ...workspaceIdsParameter,
  jobType: Type.Optional(Type.Enum(['sync', 'reset', 'clear', 'refresh'])),
  status: Type.Optional(Type.Enum(['pending', 'queued', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'])),
  createdAtStart: Time,
  createdAtEnd: Time,
  updatedAtStart: Time,
  updatedAtEnd: Time,
  orderBy: Type.Optional(Type.String()),
  ...pageParameters,
});
export type JobListQuery = Static<typeof JobListQuery>;
