/** What crosses the wire for connections, which carry a source's data to a destination, and for their jobs. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from './fields.ts';
import { Health } from './health.ts';
import { RunningVersion } from './template-versions.ts';

const exampleId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';

export const connectionStatuses = ['pending', 'active', 'inactive', 'failed'] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];
export const jobStatuses = ['pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'] as const;

export const ConnectionPath = Type.Object({ connection_id: Uuid('Identifier of the connection', exampleId) });

const NullableText = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });
const NullableTime = (description: string) =>
  NullableText(description, { format: 'date-time', examples: ['2026-01-31T09:30:42.000Z'] });
const NullableNumber = (type: 'number' | 'integer', description: string, example: number) =>
  Type.Unsafe<number | null>({ type: [type, 'null'], description, examples: [example] });

/** What happened to values that did not arrive unchanged. */
export const changeKinds = ['nulled', 'shortened', 'not_a_number', 'left_out'] as const;

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

const ValueChange = Type.Object(
  {
    field: Type.String({ description: 'Name of the field', examples: ['price'] }),
    kind: Enumeration(changeKinds, {
      description:
        '`nulled`: nothing stands in their place. `shortened`: a part was cut off. `not_a_number`: the source wrote NaN or ' +
        'an infinity, which is read as null. `left_out`: the destination has no place for the field.',
    }),
    count: Count('How many values', 3),
    example: Type.String({
      description: 'Where the first one is; empty if that is not known',
      examples: ['record 17'],
    }),
  },
  { title: 'Value change' },
);

const JobStream = Type.Object(
  {
    name: Type.String({ description: 'Name of the stream at the source', examples: ['orders'] }),
    namespace: Type.Optional(Type.String({ description: 'Its namespace at the source, if it has one' })),
    records_emitted: Count('Records that left the source', 3100),
    records_written: Type.Optional(Count('Rows that the destination has written, if it reports that', 3100)),
    records_deleted: Type.Optional(
      Count('Rows that records of the source have removed, if the destination reports that', 2),
    ),
    not_replaced: Type.Optional(
      Type.Boolean({
        description:
          'True: the earlier rows were kept, because the source did not say whether it had read the stream to its end',
      }),
    ),
    values_changed: Type.Array(ValueChange, {
      description: 'Values that did not arrive unchanged, by field; fields with most values first',
    }),
    more_values_changed: Type.Optional(
      Type.Object(
        { fields: Count('At least so many fields', 4), values: Count('So many values', 17) },
        { description: 'Fields beyond those in `values_changed`' },
      ),
    ),
  },
  { title: 'Job stream' },
);
export type JobStream = Static<typeof JobStream>;

export const Job = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the job', examples: ['17'] }),
    status: Enumeration(jobStatuses, { description: '`incomplete`: a try failed and another will follow' }),
    started_at: Timestamp('When it was started'),
    ended_at: NullableTime('When it ended; null while it goes on'),
    duration_seconds: NullableNumber('number', 'How long it took', 42),
    rows: NullableNumber('integer', 'Records moved, by the latest try', 3100),
    bytes: NullableNumber('integer', 'Bytes moved, by the latest try', 798_532),
    error: NullableText(
      'Why it failed, and what to do. With a scoped token it names only what the customer gave and can change',
    ),
    streams: Type.Optional(
      Type.Array(JobStream, {
        description:
          'What happened to the records, by stream, when a job has succeeded; hosted platforms do not report it',
      }),
    ),
    more_streams: Type.Optional(
      Count('Number of streams that are not in `streams`; streams with changed values are named first', 12),
    ),
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
    status_message: NullableText('Why it is pending, inactive or has failed, if there is a reason to show'),
    cron_expression: NullableText('When it runs (Quartz, UTC); null: only when asked', { examples: ['0 0 * * * ?'] }),
    health: Health,
    last_run: Type.Union([Job, Type.Null()], { description: 'The newest job' }),
    next_run_at: NullableTime('When it runs next by itself'),
    created_at: Timestamp('When it was created'),
    template_version: Type.Optional(RunningVersion),
    destination_template_version: Type.Optional(RunningVersion),
  },
  { title: 'Connection' },
);
export type Connection = Static<typeof Connection>;

export const ConnectionList = Type.Object({ data: Type.Array(Connection) }, { title: 'Connection list' });

export const ListJobsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Jobs on a page' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Jobs to pass over' })),
});

export const JobList = Type.Object(
  { data: Type.Array(Job, { description: 'Newest first; an empty list is the end' }) },
  { title: 'Job list' },
);
