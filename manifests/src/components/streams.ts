/* A stream: what it is called, how it is read, and how far it has been read. */
import {
  anything,
  type ComponentDefinition,
  component,
  either,
  Given,
  list,
  optional,
  required,
  schema,
  text,
  withoutEffect,
} from '../component.ts';
import { NoCursor, type PartitionRouter } from '../cursors/stream-cursor.ts';
import { emptyParts, type RequestParts, type Values } from '../http/request.ts';
import type { Slice } from '../run/slice.ts';
import type { SourceStream } from '../run/stream.ts';
import type { IncrementalSync } from './date-cursors.ts';
import { combineRouters } from './partitions.ts';
import type { Retriever } from './retriever-surroundings.ts';
import { noSchema, type SchemaLoader } from './schemas.ts';
import type { Transformation } from './transformations.ts';

/** What a stream gets from the source, or from the child whose parent it is. */
export interface StreamSurroundings extends Record<string, unknown> {
  state?: Record<string, unknown>;
  mayCache?: boolean;
}

export type StateMigration = (state: Record<string, unknown>) => Record<string, unknown>;

function makeStream(outer: Given): SourceStream {
  const name = outer.text('name') ?? '';
  const { state: givenState = {}, mayCache = false } = outer.around as StreamSurroundings;
  const given = new Given(outer.values, { ...outer.making, streamName: name });
  const migrations = given.children<StateMigration>('state_migrations', { stream: given.values });
  const state = migrations.reduce((before, migrate) => migrate(before), withoutMark(givenState));
  const retrieverValues = given.inside(given.value('retriever'));
  const routers = retrieverValues.children<PartitionRouter>('partition_router', { streamState: state });
  const [onlyRouter] = routers;
  const isCombined = Array.isArray(retrieverValues.value('partition_router')) && routers.length > 0;
  const router = isCombined ? combineRouters(routers) : onlyRouter;
  const incremental = given.child<IncrementalSync>('incremental_sync', {
    router,
    state,
    isGrouped: isGrouping(retrieverValues.value('partition_router')),
  });
  const cursor = incremental?.cursor ?? new NoCursor(router);
  const loadSchema = makeSchema(given);
  const retriever = given.child<Retriever>('retriever', {
    slicerParts: slicerParts(router, incremental),
    schema: loadSchema,
    transformations: given.children<Transformation>('transformations'),
    stoppingCursor: incremental?.isDataFeed ? cursor : undefined,
    // A feed drops old records behind the pages, which end with them.
    filteringCursor: incremental?.isClientSide && !incremental.isDataFeed ? cursor : undefined,
    transformsFirst: incremental?.isClientSide ?? false,
    cursor,
    mayCache,
    // The first page of a child comes with its parent only in a first sync.
    takesEmbeddedPages: Object.keys(state).length === 0,
  });
  if (!retriever) throw new Error(`The stream ${name} has no retriever.`);
  return {
    name,
    primaryKey: readKey(given.value('primary_key')),
    cursor,
    isCursorOpen: incremental?.isCursorOpen ?? false,
    schema: loadSchema,
    read: (slice) => retriever.read(slice),
  };
}

function isGrouping(router: unknown): boolean {
  return (router as { type?: string } | undefined)?.type === 'GroupingPartitionRouter';
}

/** The state of a stream without a cursor says so, and nothing else. */
function withoutMark({
  __ab_no_cursor_state_message: _mark,
  ...state
}: Record<string, unknown>): Record<string, unknown> {
  return state;
}

/** The time of a slice and its partition; where they set the same thing, the time does. */
function slicerParts(
  router: PartitionRouter | undefined,
  incremental: IncrementalSync | undefined,
): (slice: Slice) => RequestParts {
  if (!incremental) return (slice) => router?.parts(slice) ?? emptyParts();
  if (!router) return (slice) => incremental.parts(slice);
  return (slice) => {
    const [partition, time] = [router.parts(slice), incremental.parts(slice)];
    const parts = emptyParts();
    for (const name of ['query', 'headers', 'form', 'json'] as const) {
      parts[name] = { ...(partition[name] as Values), ...(time[name] as Values) };
    }
    return parts;
  };
}

/** Several loaders provide the union of their properties. */
function makeSchema(given: Given): SchemaLoader {
  const loaders = given.children<SchemaLoader>('schema_loader');
  const [only] = loaders;
  if (!Array.isArray(given.value('schema_loader'))) return once(only ?? noSchema);
  return once(async () => {
    const properties: Values = {};
    for (const load of loaders) {
      const { properties: own } = await load();
      for (const [key, value] of Object.entries((own ?? {}) as Values)) properties[key] ??= value;
    }
    return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties };
  });
}

function once(load: SchemaLoader): SchemaLoader {
  let loaded: Promise<Record<string, unknown>> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

function readKey(value: unknown): string[][] {
  if (value === undefined || value === '' || value === null) return [];
  if (!Array.isArray(value)) return [[String(value)]];
  return value.map((field) => (Array.isArray(field) ? field.map(String) : [String(field)]));
}

export const transformationNames = [
  'AddFields',
  'RemoveFields',
  'KeysToLower',
  'KeysToSnakeCase',
  'FlattenFields',
  'DpathFlattenFields',
  'KeysReplace',
  'CustomTransformation',
];

const schemaLoader = component(
  'InlineSchemaLoader',
  'DynamicSchemaLoader',
  'JsonFileSchemaLoader',
  'CustomSchemaLoader',
);

export const streamComponents: ComponentDefinition[] = [
  {
    name: 'DeclarativeStream',
    step: 'S1',
    words: 'A stream of records.',
    options: {
      name: optional(text, 'Name of the stream.', ''),
      retriever: required(component('SimpleRetriever', 'AsyncRetriever', 'CustomRetriever'), 'Reads the records.'),
      primary_key: optional(anything, 'The field, or list of fields, that uniquely identifies a record.'),
      schema_loader: optional(either(schemaLoader, list(schemaLoader)), 'Provides the schema.'),
      incremental_sync: optional(
        component('DatetimeBasedCursor', 'IncrementingCountCursor', 'CustomIncrementalSync'),
        'Reads only new and changed records.',
      ),
      transformations: optional(list(component(...transformationNames)), 'Transformations of records, in order.'),
      state_migrations: optional(
        list(component('LegacyToPerPartitionStateMigration', 'CustomStateMigration')),
        'Migrations of states from older versions.',
      ),
      file_uploader: withoutEffect(anything, 'Not supported. Records are read without their files.'),
      schema: optional(schema, 'Not used.'),
    },
    make: makeStream,
  },
];
