/** What callers may send about connections. */
import { syncModes } from '@inlay/contract/pipelines/sync-modes';
import Type, { type Static } from 'typebox';
import { Name, Text, Uuid } from '../fields.ts';

export const ScheduleRequest = Type.Object(
  {
    scheduleType: Type.Enum(['manual', 'cron']),
    cronExpression: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);
export type ScheduleRequest = Static<typeof ScheduleRequest>;

export const StreamConfiguration = Type.Object({
  name: Name,
  namespace: Type.Optional(Text),
  syncMode: Type.Optional(Type.Enum([...syncModes])),
  cursorField: Type.Optional(Type.Array(Type.String())),
  primaryKey: Type.Optional(Type.Array(Type.Array(Type.String()))),
  selectedFields: Type.Optional(Type.Array(Type.Object({ fieldPath: Type.Array(Type.String()) }))),
  includeFiles: Type.Optional(Type.Boolean()),
  destinationObjectName: Type.Optional(Type.String()),
  mappers: Type.Optional(Type.Array(Type.Object({ type: Type.String() }))),
});
export type StreamConfiguration = Static<typeof StreamConfiguration>;

const changeable = {
  name: Type.Optional(Name),
  status: Type.Optional(Type.Enum(['active', 'inactive'])),
  schedule: Type.Optional(ScheduleRequest),
  configurations: Type.Optional(
    Type.Object({ streams: Type.Optional(Type.Array(StreamConfiguration)) }, { additionalProperties: false }),
  ),
  namespaceDefinition: Type.Optional(Type.Enum(['source', 'destination', 'custom_format'])),
  namespaceFormat: Type.Optional(Text),
  prefix: Type.Optional(Text),
  nonBreakingSchemaUpdatesBehavior: Type.Optional(
    Type.Enum(['ignore', 'disable_connection', 'propagate_columns', 'propagate_fully']),
  ),
  tags: Type.Optional(
    Type.Array(
      Type.Object(
        { tagId: Uuid, workspaceId: Uuid, name: Type.String(), color: Type.String() },
        { additionalProperties: false },
      ),
    ),
  ),
};

export const ConnectionPatch = Type.Object(changeable);
export type ConnectionPatch = Static<typeof ConnectionPatch>;

export const ConnectionCreate = Type.Object({ sourceId: Uuid, destinationId: Uuid, ...changeable });
export type ConnectionCreate = Static<typeof ConnectionCreate>;
