/** Schemas for connections, which move a source's data to a destination, and for their jobs. */
import { type Static, Type } from 'typebox';
import { RunningVersion } from '../catalog/template-versions.ts';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { NullableReason, Reason, reasonFields } from '../reasons.ts';
import { Health } from './health.ts';
import { syncModes } from './sync-modes.ts';

const exampleId = '5f0c8f7e-3e3b-4b43-9d3c-9a1f4c0e2d55';

export const connectionStatuses = ['pending', 'active', 'inactive', 'failed'] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];
export const jobStatuses = ['pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'] as const;

export const ConnectionPath = Type.Object({ connection_id: Uuid('Identifier of the connection.', exampleId) });

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
    field: Type.String({ description: 'Name of the field.', examples: ['price'] }),
    kind: Enumeration(changeKinds, {
      description:
        'What happened to the values. `nulled`: replaced by null. `shortened`: truncated. `not_a_number`: NaN or infinity at the source, read as null. `left_out`: the destination has no column for the field.',
    }),
    count: Count('Number of values.', 3),
    example: Type.String({
      description: 'Location of the first such value. Empty if unknown.',
      examples: ['record 17'],
    }),
  },
  { title: 'Value change' },
);

const StreamNotice = Type.Object(
  {
    code: Type.String({
      description:
        'Code of the notice. Stream was read from the start: `key_changed`, `cursor_changed`, `mode_changed`, `place_changed`, `destination_gone`, `destination_emptied`, `refreshed`, `state_shared`. `emptied_not_refilled`: the table or file that is appended to was emptied. `fields_missing`: rows from earlier syncs have no value in `fields`.',
      examples: ['fields_missing'],
    }),
    message: Type.String({
      description: 'The notice in words. For operators, includes the request that helps, if there is one.',
      examples: ['orders: rows from earlier syncs have no value in discount, which was not synced then.'],
    }),
    parameters: reasonFields.parameters,
    fields: Type.Optional(Type.Array(Type.String(), { description: 'Fields concerned.', examples: [['discount']] })),
  },
  { title: 'Stream notice' },
);

const JobStream = Type.Object(
  {
    name: Type.String({ description: 'Name of the stream at the source.', examples: ['orders'] }),
    namespace: Type.Optional(Type.String({ description: 'Namespace of the stream at the source, if any.' })),
    records_emitted: Count('Records read from the source.', 3100),
    records_written: Type.Optional(Count('Rows written by the destination, if it reports them.', 3100)),
    records_deleted: Type.Optional(
      Count(
        'Rows deleted because the source deleted them or a new generation no longer contains them, if the destination reports them.',
        2,
      ),
    ),
    not_replaced: Type.Optional(
      Type.Boolean({
        description:
          'True if earlier rows were kept because the source did not confirm that it had read the whole stream.',
      }),
    ),
    notices: Type.Optional(
      Type.Array(StreamNotice, { description: 'Notices about the stream that are not failures.' }),
    ),
    records_skipped: Type.Optional(
      Type.Object(
        {
          count: Count('Number of records.', 2),
          keys: Type.Array(Type.String(), {
            description: 'Keys or locations of the first records.',
            examples: [['id 7', 'id 12']],
          }),
        },
        { title: 'Skipped records', description: 'Records that were skipped because they are too large (over 20 MB).' },
      ),
    ),
    values_changed: Type.Array(ValueChange, {
      description: 'Values that did not arrive unchanged, by field, with the most affected fields first.',
    }),
    more_values_changed: Type.Optional(
      Type.Object(
        { fields: Count('Minimum number of further fields.', 4), values: Count('Number of values.', 17) },
        { description: 'Fields beyond those in `values_changed`.' },
      ),
    ),
  },
  { title: 'Job stream' },
);
export type JobStream = Static<typeof JobStream>;

export const Job = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the job.', examples: ['1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'] }),
    status: Enumeration(jobStatuses, {
      description: 'Status of the job. `incomplete`: an attempt failed and another will follow.',
    }),
    started_at: Timestamp('When the job started.'),
    ended_at: NullableTime('When the job ended. Null while it is running.'),
    duration_seconds: NullableNumber('number', 'Duration in seconds.', 42),
    rows: NullableNumber('integer', 'Records moved by the latest attempt.', 3100),
    bytes: NullableNumber('integer', 'Bytes moved by the latest attempt.', 798_532),
    error: NullableText(
      'Why the job failed and what to do. With a scoped token, only mentions what the customer entered and can change.',
    ),
    error_reason: NullableReason('The error as a code and parameters.'),
    waiting_because: Type.Optional(
      Type.String({
        description: 'The quota that the job is waiting for. The job starts automatically.',
        examples: ["You've reached the limit of 2 syncs at the same time. The sync starts when another one ends."],
      }),
    ),
    waiting_reason: Type.Optional(Reason),
    streams: Type.Optional(
      Type.Array(JobStream, {
        description: 'Results per stream after success. Not reported by hosted platforms.',
      }),
    ),
    more_streams: Type.Optional(
      Count('Number of streams that are not in `streams`. Streams with changed values are listed first.', 12),
    ),
  },
  { title: 'Job' },
);
export type Job = Static<typeof Job>;

/** Settings that can be chosen for a single connection and otherwise follow the templates. */
export const choosable = ['cron_expression', 'streams'] as const;

export const CustomerMayChange = Type.Object(
  {
    streams: Type.Boolean({ description: 'Whether customers may choose the streams.' }),
    schedule: Type.Unsafe<{ shortest_minutes: number } | null>({
      type: ['object', 'null'],
      properties: {
        shortest_minutes: Type.Integer({
          minimum: 1,
          maximum: 525_600,
          description: 'Minimum number of minutes between two syncs.',
          examples: [60],
        }),
      },
      required: ['shortest_minutes'],
      description: 'Limit within which customers may choose the schedule. Null if they may not.',
      examples: [{ shortest_minutes: 60 }],
    }),
  },
  {
    title: 'Customer may change',
    description: 'What customers may change with a scoped token or in the widget.',
    examples: [{ streams: true, schedule: { shortest_minutes: 60 } }],
  },
);
export type CustomerMayChange = Static<typeof CustomerMayChange>;

/** Omitted settings stay closed to customers. */
export const CustomerMayChangeRequest = Type.Partial(CustomerMayChange, {
  title: 'Customer may change request',
  description:
    'What customers may change for their own connections, with a scoped token or in the widget. Nothing by default.',
  examples: [{ streams: true, schedule: { shortest_minutes: 60 } }],
});
export type CustomerMayChangeRequest = Static<typeof CustomerMayChangeRequest>;

export const nothingToChange: CustomerMayChange = { streams: false, schedule: null };

export const Connection = Type.Object(
  {
    id: Uuid('Identifier of the connection.', exampleId),
    name: Type.String({ examples: ['Our shop → Warehouse'] }),
    source_id: Uuid('Source of the connection.', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'),
    destination_name: Type.String({ description: 'Name of the destination.', examples: ['Warehouse'] }),
    status: Enumeration(connectionStatuses, {
      description:
        'Status of the connection. `pending`: still being set up. `inactive`: disabled, or in an inactive workspace. No sync runs.',
    }),
    status_message: NullableText('Why the connection is pending, inactive or failed, if known.'),
    status_reason: NullableReason('The status message as a code and parameters.'),
    cron_expression: NullableText('Schedule as a Quartz cron expression in UTC. Null means manual syncs only.', {
      examples: ['0 0 * * * ?'],
    }),
    own_choice: Type.Array(Enumeration(choosable), {
      description: 'Settings chosen for this connection only. Changes to its templates do not affect them.',
      examples: [['cron_expression']],
    }),
    applied: Type.Boolean({
      description: 'Whether the platform has the latest settings. False while a change is being applied.',
    }),
    customer_may_change: CustomerMayChange,
    slowed_cron_expression: NullableText(
      "Schedule that replaces `cron_expression` because the workspace's quotas do not allow shorter intervals. Null if none does.",
      { examples: ['0 0 * * * ?'] },
    ),
    health: Health,
    last_run: Type.Union([Job, Type.Null()], { description: 'The latest job.' }),
    next_run_at: NullableTime('Next scheduled run.'),
    created_at: Timestamp('When the connection was created.'),
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
        'Stream to read from the start, prefixed with its namespace and a dot if it has one. Earlier rows are replaced once the stream has been read completely. Bundled platform only.',
      examples: ['orders'],
    }),
  ),
});

export const ListJobsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of jobs per page.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Number of jobs to skip.' }),
  ),
});

export const JobList = Type.Object(
  { data: Type.Array(Job, { description: 'Jobs, newest first. An empty list marks the end.' }) },
  { title: 'Job list' },
);

const streamName = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'Name of the stream.',
  examples: ['orders'],
});
const streamNamespace = Type.String({ maxLength: 1000, description: 'Namespace of the stream at the source, if any.' });
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
      Enumeration(syncModes, {
        description: 'Sync mode. Defaults to the best mode that source and destination support.',
      }),
    ),
    cursor_field: Type.Optional(FieldPath('Cursor field for incremental syncs.')),
    primary_key: Type.Optional(
      Type.Array(FieldPath('Field of the primary key.'), {
        maxItems: 100,
        examples: [[['id']]],
        description: 'Primary key.',
      }),
    ),
  },
  { title: 'Wanted stream' },
);
export type WantedStream = Static<typeof WantedStream>;

const Schedule = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'quartz',
  maxLength: 200,
  description: 'Schedule as a Quartz cron expression in UTC. Null means manual syncs only.',
  examples: ['0 30 2 * * ?'],
});
const streamsOf = <T extends typeof NamedStream | typeof WantedStream>(stream: T) =>
  Type.Array(stream, {
    minItems: 1,
    maxItems: 10_000,
    description: 'Complete list of streams to sync. All other streams stop.',
  });
const FollowTemplate = Type.Array(Enumeration(choosable), {
  uniqueItems: true,
  description: 'Settings to reset to those of the templates.',
});

export const UpdateConnectionRequest = Type.Object(
  {
    status: Type.Optional(
      Enumeration(['active', 'inactive'], {
        description:
          'Status of the connection. `inactive`: paused, even if its workspace is activated. `active`: runs while its workspace is active.',
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
  { id: Uuid('Identifier of the connection.', exampleId), deleted_at: Timestamp('When the connection was deleted.') },
  { title: 'Deleted connection' },
);

export const ListStreamsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 1000, description: 'Number of streams per page.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Number of streams to skip.' }),
  ),
});

export const ConnectionStream = Type.Object(
  {
    name: streamName,
    namespace: Type.Optional(streamNamespace),
    selected: Type.Boolean({ description: 'Whether the stream is synced.' }),
    sync_mode: NullableText('Sync mode. Null if the stream is not synced.', {
      examples: ['incremental_deduped_history'],
    }),
    sync_modes: Type.Array(Type.String(), {
      description: 'Sync modes that both source and destination support.',
      examples: [['full_refresh_overwrite', 'incremental_append']],
    }),
    cursor_field: FieldPath('Cursor field for incremental syncs. Empty if there is none or the source defines it.'),
    primary_key: Type.Array(FieldPath('Field of the primary key.'), {
      examples: [[['id']]],
      description: 'Primary key.',
    }),
  },
  { title: 'Connection stream' },
);
export type ConnectionStream = Static<typeof ConnectionStream>;

export const ConnectionStreamList = Type.Object(
  {
    data: Type.Array(ConnectionStream, { description: 'Streams, in the order of the source.' }),
    total: Count('Total number of streams.', 12),
    read_at: Timestamp('When the source was last read.'),
  },
  { title: 'Connection stream list' },
);
export type ConnectionStreamList = Static<typeof ConnectionStreamList>;
