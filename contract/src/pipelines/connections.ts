/** What crosses the wire for connections, which carry a source's data to a destination, and for their jobs. */
import { type Static, Type } from 'typebox';
import { RunningVersion } from '../catalog/template-versions.ts';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { Health } from './health.ts';
import { syncModes } from './sync-modes.ts';

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

const StreamNotice = Type.Object(
  {
    code: Type.String({
      description:
        'Read from the start: `key_changed`, `cursor_changed`, `mode_changed`, `place_changed`, `destination_gone`, ' +
        '`destination_emptied`, `refreshed`, `state_shared`. `emptied_not_refilled`: somebody has emptied the place that is appended to. ' +
        '`fields_missing`: rows from earlier syncs have no value in `fields`',
      examples: ['fields_missing'],
    }),
    message: Type.String({
      description: 'In words; to operators with the request that helps, where there is one',
      examples: ['orders: rows from earlier syncs have no value in discount, which was not synced then.'],
    }),
    fields: Type.Optional(
      Type.Array(Type.String(), { description: 'The fields that it is about', examples: [['discount']] }),
    ),
  },
  { title: 'Stream notice' },
);

const JobStream = Type.Object(
  {
    name: Type.String({ description: 'Name of the stream at the source', examples: ['orders'] }),
    namespace: Type.Optional(Type.String({ description: 'Its namespace at the source, if it has one' })),
    records_emitted: Count('Records that left the source', 3100),
    records_written: Type.Optional(Count('Rows that the destination has written, if it reports that', 3100)),
    records_deleted: Type.Optional(
      Count(
        'Rows that records of the source have removed, or that a new generation has not brought again, if the destination reports that',
        2,
      ),
    ),
    not_replaced: Type.Optional(
      Type.Boolean({
        description:
          'True: the earlier rows were kept, because the source did not say whether it had read the stream to its end',
      }),
    ),
    notices: Type.Optional(
      Type.Array(StreamNotice, { description: 'What somebody should know about the stream, and is no failure' }),
    ),
    records_skipped: Type.Optional(
      Type.Object(
        {
          count: Count('How many records', 2),
          keys: Type.Array(Type.String(), {
            description: 'The keys of the first ones, or where they are',
            examples: [['id 7', 'id 12']],
          }),
        },
        { title: 'Skipped records', description: 'Records that are too large to be moved (20 MB), and were skipped' },
      ),
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
    id: Type.String({ description: 'Identifier of the job', examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'] }),
    status: Enumeration(jobStatuses, { description: '`incomplete`: a try failed and another will follow' }),
    started_at: Timestamp('When it was started'),
    ended_at: NullableTime('When it ended; null while it goes on'),
    duration_seconds: NullableNumber('number', 'How long it took', 42),
    rows: NullableNumber('integer', 'Records moved, by the latest try', 3100),
    bytes: NullableNumber('integer', 'Bytes moved, by the latest try', 798_532),
    error: NullableText(
      'Why it failed, and what to do. With a scoped token it names only what the customer gave and can change',
    ),
    waiting_because: Type.Optional(
      Type.String({
        description: 'Why it waits for its turn, where a quota is the reason. It starts by itself',
        examples: [
          'The limit of 2 syncs at the same time is reached. The sync starts by itself when another one has ended.',
        ],
      }),
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

/** What may be chosen for one connection, and otherwise follows the templates. */
export const choosable = ['cron_expression', 'streams'] as const;

export const CustomerMayChange = Type.Object(
  {
    streams: Type.Boolean({ description: 'Which streams are synced' }),
    schedule: Type.Unsafe<{ shortest_minutes: number } | null>({
      type: ['object', 'null'],
      properties: {
        shortest_minutes: Type.Integer({
          minimum: 1,
          maximum: 525_600,
          description: 'Syncs start at least so many minutes apart',
          examples: [60],
        }),
      },
      required: ['shortest_minutes'],
      description: 'How often it is synced, within this limit; null: the customer does not choose that',
      examples: [{ shortest_minutes: 60 }],
    }),
  },
  {
    title: 'Customer may change',
    description: 'What customers may choose themselves, with a scoped token or in the widget',
    examples: [{ streams: true, schedule: { shortest_minutes: 60 } }],
  },
);
export type CustomerMayChange = Static<typeof CustomerMayChange>;

/** What is left out stays closed to customers. */
export const CustomerMayChangeRequest = Type.Partial(CustomerMayChange, {
  title: 'Customer may change request',
  description:
    'What customers may choose for their own connections, with a scoped token or in the widget; nothing, unless it is given',
  examples: [{ streams: true, schedule: { shortest_minutes: 60 } }],
});
export type CustomerMayChangeRequest = Static<typeof CustomerMayChangeRequest>;

export const nothingToChange: CustomerMayChange = { streams: false, schedule: null };

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
    own_choice: Type.Array(Enumeration(choosable), {
      description: 'What was chosen for this connection alone. Changes of its templates do not touch it',
      examples: [['cron_expression']],
    }),
    applied: Type.Boolean({
      description: 'Whether the platform has the connection as it is shown here; false while a change is on its way',
    }),
    customer_may_change: CustomerMayChange,
    slowed_cron_expression: NullableText(
      'What runs in place of `cron_expression`, because the quotas of the workspace allow no shorter interval; null: nothing',
      { examples: ['0 0 * * * ?'] },
    ),
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

export const SyncQuery = Type.Object({
  from_start: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        'A stream to read from the start, with its namespace and a dot in front if it has one. Its earlier rows are replaced when it has been read to its end. Only on the bundled platform',
      examples: ['orders'],
    }),
  ),
});

export const ListJobsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Jobs on a page' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Jobs to pass over' })),
});

export const JobList = Type.Object(
  { data: Type.Array(Job, { description: 'Newest first; an empty list is the end' }) },
  { title: 'Job list' },
);

const streamName = Type.String({ minLength: 1, maxLength: 1000, description: 'Its name', examples: ['orders'] });
const streamNamespace = Type.String({ maxLength: 1000, description: 'Its namespace at the source, if it has one' });
const FieldPath = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    maxItems: 100,
    description,
    examples: [['updated_at']],
  });

const NamedStream = Type.Object(
  { name: streamName, namespace: Type.Optional(streamNamespace) },
  { title: 'Named stream' },
);
const WantedStream = Type.Object(
  {
    ...NamedStream.properties,
    sync_mode: Type.Optional(
      Enumeration(syncModes, { description: 'How it is synced; the best way that both sides know, if not given' }),
    ),
    cursor_field: Type.Optional(FieldPath('The field by which new records are known')),
    primary_key: Type.Optional(
      Type.Array(FieldPath('A field of the key'), { maxItems: 100, examples: [[['id']]], description: 'Its key' }),
    ),
  },
  { title: 'Wanted stream' },
);
export type WantedStream = Static<typeof WantedStream>;

const Schedule = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'quartz',
  maxLength: 200,
  description: 'When it runs: a Quartz expression, in UTC; null: only when asked for',
  examples: ['0 30 2 * * ?'],
});
const streamsOf = <T extends typeof NamedStream | typeof WantedStream>(stream: T) =>
  Type.Array(stream, {
    minItems: 1,
    maxItems: 10_000,
    description: 'The streams that are synced from now on, all others no more',
  });
const FollowTemplate = Type.Array(Enumeration(choosable), {
  uniqueItems: true,
  description: 'What follows the templates again, instead of what was chosen for this connection',
});

export const UpdateConnectionRequest = Type.Object(
  {
    status: Type.Optional(
      Enumeration(['active', 'inactive'], {
        description:
          '`inactive`: it is paused, and stays so when its workspace is activated. `active`: it runs as long as its workspace is active.',
      }),
    ),
    cron_expression: Type.Optional(Schedule),
    streams: Type.Optional(streamsOf(WantedStream)),
    follow_template: Type.Optional(FollowTemplate),
  },
  { title: 'Update connection request', examples: [{ cron_expression: '0 30 2 * * ?' }] },
);
export type UpdateConnectionRequest = Static<typeof UpdateConnectionRequest>;

export const ChooseForConnectionRequest = Type.Object(
  {
    cron_expression: Type.Optional(Schedule),
    streams: Type.Optional(streamsOf(NamedStream)),
    follow_template: Type.Optional(FollowTemplate),
  },
  { title: 'Choose for connection request', examples: [{ cron_expression: '0 30 2 * * ?' }] },
);
export type ChooseForConnectionRequest = Static<typeof ChooseForConnectionRequest>;

export const DeletedConnection = Type.Object(
  { id: Uuid('Identifier of the connection', exampleId), deleted_at: Timestamp('When it was deleted') },
  { title: 'Deleted connection' },
);

export const ListStreamsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000, description: 'Streams on a page' })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Streams to pass over' }),
  ),
});

export const ConnectionStream = Type.Object(
  {
    name: streamName,
    namespace: Type.Optional(streamNamespace),
    selected: Type.Boolean({ description: 'Whether it is synced' }),
    sync_mode: NullableText('How it is synced; null if it is not', { examples: ['incremental_deduped_history'] }),
    sync_modes: Type.Array(Type.String(), {
      description: 'How it can be synced: what the source and the destination both know',
      examples: [['full_refresh_overwrite', 'incremental_append']],
    }),
    cursor_field: FieldPath('The field by which new records are known; empty if there is none, or the source decides'),
    primary_key: Type.Array(FieldPath('A field of the key'), { examples: [[['id']]], description: 'Its key' }),
  },
  { title: 'Connection stream' },
);
export type ConnectionStream = Static<typeof ConnectionStream>;

export const ConnectionStreamList = Type.Object(
  {
    data: Type.Array(ConnectionStream, { description: 'In the order of the source' }),
    total: Count('How many there are', 12),
    read_at: Timestamp('When the source was read'),
  },
  { title: 'Connection stream list' },
);
export type ConnectionStreamList = Static<typeof ConnectionStreamList>;
