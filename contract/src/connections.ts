/** What crosses the wire for connections, which carry a source's data to a destination, and for their jobs. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from './fields.ts';

const exampleId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';

export const connectionStatuses = ['pending', 'active', 'inactive', 'failed'] as const;
export const jobStatuses = ['pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'] as const;

export const ConnectionPath = Type.Object({ connection_id: Uuid('Identifier of the connection', exampleId) });

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const Job = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the job', examples: ['17'] }),
    status: Enumeration(jobStatuses, { description: '`incomplete`: a try failed and another will follow' }),
    started_at: Timestamp('When it was started'),
    ended_at: Nullable(Type.String({ format: 'date-time' }), 'When it ended; null while it goes on'),
    duration_seconds: Nullable(Type.Number(), 'How long it took'),
    rows: Nullable(Type.Integer(), 'Records moved'),
    bytes: Nullable(Type.Integer(), 'Bytes moved'),
    error: Nullable(Type.String(), 'Why it failed, and what to do'),
  },
  { title: 'Job' },
);
export type Job = Static<typeof Job>;

export const Connection = Type.Object(
  {
    id: Uuid('Identifier of the connection', exampleId),
    name: Type.String({ examples: ['Our shop → Warehouse'] }),
    source_id: Uuid('The source it reads', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'),
    destination_name: Type.String({ description: 'Where it writes', examples: ['Warehouse'] }),
    status: Enumeration(connectionStatuses, {
      description: '`pending`: still being set up. `inactive`: disabled, or its workspace is inactive: no sync runs.',
    }),
    status_message: Nullable(
      Type.String(),
      'Why it is pending, inactive or has failed, where there is something to say',
    ),
    cron_expression: Nullable(Type.String(), 'When it runs (Quartz, UTC); null: only when asked'),
    last_run: Nullable(Job, 'The newest job'),
    next_run_at: Nullable(Type.String({ format: 'date-time' }), 'When it runs next by itself'),
    created_at: Timestamp('When it was created'),
  },
  { title: 'Connection' },
);
export type Connection = Static<typeof Connection>;

export const ConnectionList = Type.Object({ data: Type.Array(Connection) }, { title: 'Connections' });

export const ListJobsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Jobs on a page' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Jobs to pass over' })),
});

export const JobList = Type.Object(
  { data: Type.Array(Job, { description: 'Newest first; an empty list is the end' }) },
  { title: 'Jobs' },
);
