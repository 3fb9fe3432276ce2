/* Partitions in groups, cursors that count, states of older versions, and streams that depend on state or configuration. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  component,
  condition,
  either,
  type Given,
  integer,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { RangeCursor } from '../cursors/range-cursor.ts';
import { type PartitionRouter, WholeStreamCursor } from '../cursors/stream-cursor.ts';
import { parseDuration } from '../dates/durations.ts';
import { parseDateBy } from '../dates/formats.ts';
import { emptyParts } from '../http/request.ts';
import type { RequestOption } from '../requests/request-options.ts';
import { partitionKey, type Slice, sliceView } from '../run/slice.ts';
import type { SourceStream } from '../run/stream.ts';
import { pythonText } from '../values/printing.ts';
import { type CursorSurroundings, chosenCursorField, type IncrementalSync } from './date-cursors.ts';
import type { StateMigration } from './streams.ts';

function makeGrouping(given: Given): PartitionRouter {
  const inner = given.child<PartitionRouter>('underlying_partition_router');
  const size = given.number('group_size') ?? 0;
  if (!inner || size < 1)
    throw new Error('A GroupingPartitionRouter requires a router and a group_size of at least 1.');
  const isDistinct = given.flag('deduplicate', true);
  const group = (slices: readonly Slice[]): Slice => {
    const [first] = slices as [Slice];
    const lists = (part: 'partition' | 'extraFields', keys: Iterable<string>) =>
      Object.fromEntries([...keys].map((key) => [key, slices.map((slice) => slice[part][key] ?? null)]));
    return {
      partition: lists('partition', Object.keys(first.partition)),
      cursor: {},
      extraFields: lists('extraFields', new Set(slices.flatMap(({ extraFields }) => Object.keys(extraFields)))),
    };
  };
  return {
    async *slices() {
      const seen = new Set<string>();
      let batch: Slice[] = [];
      for await (const slice of inner.slices()) {
        const names = Object.keys(slice.partition).filter((name) => name !== 'parent_slice');
        if (names.length !== 1) throw new Error('A GroupingPartitionRouter requires partitions with one value each.');
        // Two parents with the same value are one partition.
        const key = partitionKey(slice.partition[names[0] as string]);
        if (isDistinct && seen.has(key)) continue;
        seen.add(key);
        batch.push(slice);
        if (batch.length < size) continue;
        yield group(batch);
        batch = [];
      }
      if (batch.length > 0) yield group(batch);
    },
    parts: emptyParts,
    ...(inner.parentState && {
      parentState: () => inner.parentState?.() ?? {},
      parentVersion: () => inner.parentVersion?.() ?? 0,
    }),
  };
}

function makeCountCursor(given: Given): IncrementalSync {
  const { router, state = {} } = given.around as CursorSurroundings;
  if (router) throw new Error('An IncrementingCountCursor cannot be used with partitions.');
  const option = given.child<RequestOption>('start_value_option');
  const start = Number(given.rendered('start_value', '0'));
  const ranges = new RangeCursor<number>(
    {
      cursorField: chosenCursorField(given),
      scale: {
        parse(value) {
          const number = Math.trunc(Number(value));
          if (Number.isNaN(number)) throw new Error(`"${pythonText(value)}" is not a number.`);
          return number;
        },
        format: (value) => value,
        compare: (one, other) => (one === other ? 0 : one < other ? -1 : 1),
        next: (value) => value + 1,
      },
      start,
      end: () => Number.POSITIVE_INFINITY,
      boundaryFields: undefined,
      step: undefined,
      lookBack: undefined,
      beforeNext: undefined,
    },
    state,
  );
  return {
    cursor: new WholeStreamCursor(ranges),
    isDataFeed: given.flag('is_data_feed'),
    isClientSide: given.flag('is_client_side_incremental'),
    isCursorOpen: given.flag('allow_catalog_defined_cursor_field'),
    parts(slice) {
      const parts = emptyParts();
      option?.put(parts, sliceView(slice).start ?? null);
      return parts;
    },
  };
}

/** `{parent: {cursor: value}}` becomes a list of states. */
function makeLegacyMigration(given: Given): StateMigration {
  const stream = given.inside(given.around.stream);
  const retriever = stream.inside(stream.value('retriever'));
  const router = retriever.inside(retriever.value('partition_router'));
  const parents = (router.value('parent_stream_configs') as unknown[] | undefined) ?? [];
  const field =
    router.type === 'UnionPartitionRouter' ? router : parents.length === 1 ? stream.inside(parents[0]) : undefined;
  const cursor = stream.inside(stream.value('incremental_sync'));
  return (state) => {
    const entries = Object.entries(state);
    const cursorField = pythonText(cursor.rendered('cursor_field'));
    const isLegacy = (value: unknown) =>
      isJsonObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, cursorField);
    if (!field || entries.length === 0 || 'states' in state || !entries.every(([, value]) => isLegacy(value)))
      return state;
    const name = pythonText(field.rendered('partition_field'));
    return { states: entries.map(([key, value]) => ({ partition: { [name]: key }, cursor: value })) };
  };
}

/** Any state counts, even one that says only that a stream without a cursor was read. */
function makeStateDelegating(given: Given): SourceStream {
  const { state = {}, hasParentState } = given.around as { state?: Record<string, unknown>; hasParentState?: boolean };
  const whole = given.value('full_refresh_stream');
  const further = given.value('incremental_stream');
  const hasState = Object.keys(state).length > 0;
  if (!hasState && !hasParentState) return given.make<SourceStream>(whole);
  const retention = pythonText(given.rendered('api_retention_period', '') ?? '');
  if (!hasState || retention === '' || !isOlder(given, further, state, retention))
    return given.make<SourceStream>(further);
  const name = given.text('name') ?? '';
  given.run.log(
    'WARN',
    `${name}: The state is older than the API's retention period of ${retention}. Reading everything from the start.`,
  );
  return { ...given.make<SourceStream>(whole, { state: {} }), forgetsState: true };
}

/** Whether the API has dropped changes since the state. A state without a time counts as missing. */
function isOlder(given: Given, definition: unknown, state: Record<string, unknown>, retention: string): boolean {
  const stream = given.inside(definition);
  const cursor = stream.inside(stream.value('incremental_sync'));
  if (cursor.type === 'IncrementingCountCursor') {
    throw new Error('An api_retention_period requires a date cursor, not an IncrementingCountCursor.');
  }
  const isPartitioned = stream.inside(stream.value('retriever')).has('partition_router');
  const { state: ofAll } = state;
  const known = isPartitioned && isJsonObject(ofAll) ? ofAll : state;
  const value = cursor.has('cursor_field') ? known[pythonText(cursor.rendered('cursor_field'))] : undefined;
  if (value === undefined || value === null) return true;
  const formats = [...cursor.texts('cursor_datetime_formats'), cursor.text('datetime_format') ?? ''];
  const oldest = given.run.clock.now().minus(parseDuration(retention));
  return parseDateBy(value, formats).compare(oldest) < 0;
}

export const morePartitionComponents: ComponentDefinition[] = [
  {
    name: 'GroupingPartitionRouter',
    step: 'S3',
    words: 'Groups several partitions into one, in which every value is a list. The stream uses one cursor for all.',
    options: {
      group_size: required(integer, 'The number of partitions in a group.'),
      underlying_partition_router: required(
        component('ListPartitionRouter', 'SubstreamPartitionRouter', 'UnionPartitionRouter', 'CustomPartitionRouter'),
        'Provides the partitions.',
      ),
      deduplicate: optional(boolean, 'Removes duplicate partitions.', true),
    },
    rule: ({ underlying_partition_router: router }) => {
      const { request_option: own, parent_stream_configs: parents } = (router ?? {}) as Record<string, unknown>;
      const hasOption =
        Array.isArray(parents) && parents.some((parent) => isJsonObject(parent) && parent.request_option);
      return own || hasOption ? 'Partitions of a group cannot have a request_option; use the requester' : undefined;
    },
    make: makeGrouping,
  },
  {
    name: 'IncrementingCountCursor',
    step: 'S3',
    words: 'Reads new records incrementally by an increasing number.',
    options: {
      cursor_field: required(template, 'The field of the number.'),
      start_value: optional(either(integer, template), 'Start value of the first sync.', 0),
      start_value_option: optional(component('RequestOption'), 'Where to send the start value in the request.'),
      allow_catalog_defined_cursor_field: optional(boolean, 'Allows the catalog to set the cursor field.', false),
    },
    make: makeCountCursor,
  },
  {
    name: 'LegacyToPerPartitionStateMigration',
    step: 'S3',
    words: 'Migrates states of older versions, which had one object per parent.',
    options: {},
    make: makeLegacyMigration,
  },
  {
    name: 'StateDelegatingStream',
    step: 'S3',
    words: 'Uses one stream for the first sync and another for syncs with a state.',
    options: {
      name: required(text, 'Name of the stream.'),
      full_refresh_stream: required(component('DeclarativeStream'), 'The stream for the first sync.'),
      incremental_stream: required(component('DeclarativeStream'), 'The stream for later syncs.'),
      api_retention_period: optional(
        template,
        'How long the API retains changes, such as P30D. With an older state, everything is read from the start.',
      ),
    },
    make: makeStateDelegating,
  },
  {
    name: 'ConditionalStreams',
    step: 'S3',
    words: 'Streams that exist only in some configurations.',
    options: {
      condition: required(condition, 'Includes the streams if true. Available: config.'),
      streams: required(list(component('DeclarativeStream')), 'The streams.'),
    },
  },
];
