/* How a stream is partitioned, other than by time: by the items of a list, or the records of other streams. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  component,
  either,
  type Given,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import type { PartitionRouter } from '../cursors/stream-cursor.ts';
import { emptyParts, type RequestParts } from '../http/request.ts';
import { isNothing } from '../requests/pagination.ts';
import type { RequestOption } from '../requests/request-options.ts';
import { valueAtPath } from '../run/paths.ts';
import { partitionKey, type Slice } from '../run/slice.ts';
import type { DataRecord, SourceStream } from '../run/stream.ts';
import { pythonText } from '../values/printing.ts';

/** What a router gets from the stream around it. */
export interface RouterSurroundings extends Record<string, unknown> {
  /** The state of the stream that is cut. */
  streamState?: Record<string, unknown>;
}

function putOption(parts: RequestParts, option: RequestOption | undefined, slice: Slice, field: string): void {
  const value = slice.cursor[field] ?? slice.partition[field];
  if (option && !isNothing(value)) option.put(parts, value);
}

function makeListRouter(given: Given): PartitionRouter {
  const value = given.value('values');
  const values = itemsOf(typeof value === 'string' ? given.rendered('values') : value);
  const field = pythonText(given.rendered('cursor_field'));
  const option = given.child<RequestOption>('request_option');
  return {
    async *slices() {
      for (const item of values) yield { partition: { [field]: item }, cursor: {}, extraFields: {} };
    },
    parts(slice) {
      const parts = emptyParts();
      putOption(parts, option, slice, field);
      return parts;
    },
  };
}

/** What Python goes through: the items of a list, the characters of a text, the keys of an object. */
function itemsOf(values: unknown): unknown[] {
  if (Array.isArray(values)) return values;
  if (typeof values === 'string') return [...values];
  if (isJsonObject(values)) return Object.keys(values);
  throw new Error('The values of a ListPartitionRouter are not a list.');
}

interface Parent {
  stream: SourceStream;
  key: readonly string[];
  field: string;
  extraFields: readonly (readonly string[])[];
  option: RequestOption | undefined;
  isIncremental: boolean;
  childPointer: readonly string[] | undefined;
}

function makeParent(given: Given): Parent {
  const { streamState = {} } = given.around as RouterSurroundings;
  const isIncremental = given.flag('incremental_dependency');
  const definition = given.value('stream') as Record<string, unknown>;
  const stream = given.make<SourceStream>(definition, {
    state: isIncremental ? parentStateOf(given, definition, streamState) : {},
    hasParentState: isIncremental && Object.keys(streamState).length > 0,
    mayCache: true,
  });
  const pointer = given.texts('lazy_read_pointer').map((key) => given.asTemplate(key).text());
  if (pointer.includes('*')) throw new Error('A lazy_read_pointer cannot have wildcards.');
  const keyText = pythonText(given.rendered('parent_key'));
  const extra = (given.value('extra_fields') as string[][] | undefined) ?? [];
  return {
    stream,
    key: keyText.replace(/^\/+/, '').split('/'),
    field: pythonText(given.rendered('partition_field')),
    extraFields: extra.map((path) => path.map((key) => given.asTemplate(String(key)).text())),
    option: given.child<RequestOption>('request_option'),
    isIncremental,
    childPointer: pointer.length > 0 ? pointer : undefined,
  };
}

/** The state of a parent is part of its child's. A child from before that has only a cursor, which applies to both. */
function parentStateOf(
  given: Given,
  definition: Record<string, unknown>,
  childState: Record<string, unknown>,
): Record<string, unknown> {
  const name = String(definition.name);
  const { parent_state: parents, state } = childState;
  if (isJsonObject(parents)) {
    const own = parents[name];
    if (isJsonObject(own)) return own;
  }
  const value = isJsonObject(state) ? Object.values(state)[0] : Object.values(childState)[0];
  const isSimple = typeof value === 'string' || typeof value === 'number';
  if (!isSimple || (!isJsonObject(state) && Object.keys(childState).length !== 1)) return {};
  const cursor = given.inside(definition.incremental_sync);
  return cursor.has('cursor_field') ? { [pythonText(cursor.rendered('cursor_field'))]: value } : {};
}

function makeSubstreamRouter(given: Given): PartitionRouter {
  const parents = (given.value('parent_stream_configs') as unknown[]).map((value) => given.make<Parent>(value));
  if (parents.length === 0) throw new Error('A SubstreamPartitionRouter requires at least one parent stream.');
  return {
    async *slices() {
      for (const parent of parents) yield* slicesOf(parent);
    },
    parts(slice) {
      const parts = emptyParts();
      for (const { option, field } of parents) putOption(parts, option, slice, field);
      return parts;
    },
    parentState() {
      const incremental = parents.filter(({ isIncremental }) => isIncremental);
      return Object.fromEntries(incremental.map(({ stream }) => [stream.name, stream.cursor.state()]));
    },
    parentVersion: () => parents.reduce((sum, { stream }) => sum + stream.cursor.version, 0),
  };
}

/**
 * The cursor of the parent learns of a record before its slice is handed out: with the slice goes the state of the parent
 * after that record.
 */
async function* slicesOf(parent: Parent): AsyncGenerator<Slice> {
  const { cursor } = parent.stream;
  for await (const { item: slice, isLast: isLastSlice } of withLast(cursor.slices())) {
    if (slice === undefined) {
      cursor.finish();
      return;
    }
    for await (const { item: record, isLast } of withLast(recordsOf(parent.stream, slice))) {
      if (record !== undefined) cursor.observe(slice, record);
      if (isLast) {
        cursor.close(slice);
        if (isLastSlice) cursor.finish();
      }
      const child = record && childSlice(parent, slice, record);
      if (child) yield child;
    }
  }
}

function childSlice(
  { key, field, extraFields, childPointer }: Parent,
  slice: Slice,
  record: DataRecord,
): Slice | undefined {
  const found = valueAtPath(record, key);
  if (!found) return undefined;
  const extra = extraFields.map((path) => [path.join('.'), valueAtPath(record, path)?.value ?? null]);
  return {
    partition: { [field]: found.value, parent_slice: slice.partition },
    cursor: {},
    extraFields: {
      ...(childPointer && { child_response: valueAtPath(record, childPointer)?.value ?? [] }),
      ...Object.fromEntries(extra),
    },
  };
}

async function* recordsOf(stream: SourceStream, slice: Slice): AsyncGenerator<DataRecord> {
  for await (const records of stream.read(slice)) yield* records;
}

/** Marks the last item. Nothing at all is one item without a value. */
async function* withLast<Item>(
  items: AsyncIterable<Item>,
): AsyncGenerator<{ item: Item | undefined; isLast: boolean }> {
  let ahead: { item: Item } | undefined;
  for await (const item of items) {
    if (ahead) yield { item: ahead.item, isLast: false };
    ahead = { item };
  }
  yield { item: ahead?.item, isLast: true };
}

/** The partitions of several routers in sequence, each value once. Additional values stay next to the partition. */
function makeUnionRouter(given: Given): PartitionRouter {
  const routers = given.children<PartitionRouter>('partition_routers');
  const field = pythonText(given.rendered('partition_field'));
  return {
    async *slices() {
      const seen = new Set<string>();
      for (const router of routers) {
        for await (const { partition, extraFields } of router.slices()) {
          const { [field]: value, ...besides } = partition;
          if (value === undefined) throw new Error(`A partition of the UnionPartitionRouter has no ${field}.`);
          if (isJsonObject(value) || Array.isArray(value))
            throw new Error(`A partition of the UnionPartitionRouter has an object or a list as ${field}.`);
          const key = partitionKey(value);
          if (seen.has(key)) continue;
          seen.add(key);
          yield { partition: { [field]: value }, cursor: {}, extraFields: { ...extraFields, ...besides } };
        }
      }
    },
    parts: emptyParts,
    parentState: () => Object.assign({}, ...routers.map((router) => router.parentState?.() ?? {})),
    parentVersion: () => routers.reduce((sum, router) => sum + (router.parentVersion?.() ?? 0), 0),
  };
}

/** Every combination of the slices of several routers. Where they set the same thing, the first one does. */
export function combineRouters(routers: readonly PartitionRouter[]): PartitionRouter {
  async function* combinations(index: number): AsyncGenerator<Slice[]> {
    const router = routers[index];
    if (!router) {
      yield [];
      return;
    }
    const rest: Slice[][] = [];
    for await (const slices of combinations(index + 1)) rest.push(slices);
    for await (const slice of router.slices()) for (const others of rest) yield [slice, ...others];
  }
  return {
    async *slices() {
      for await (const slices of combinations(0)) {
        const reversed = [...slices].reverse();
        yield {
          partition: Object.assign({}, ...reversed.map(({ partition }) => partition)),
          cursor: {},
          extraFields: Object.assign({}, ...reversed.map(({ extraFields }) => extraFields)),
        };
      }
    },
    parts(slice) {
      const all = routers.map((router) => router.parts(slice)).reverse();
      const merged = emptyParts();
      for (const name of ['query', 'headers', 'form', 'json'] as const) {
        merged[name] = Object.assign({}, ...all.map((parts) => parts[name]));
      }
      return merged;
    },
  };
}

export const partitionComponents: ComponentDefinition[] = [
  {
    name: 'ListPartitionRouter',
    step: 'S1',
    words: 'Creates one partition for each item of a list.',
    options: {
      values: required(
        either(template, list(text)),
        'The items, or a template that evaluates to a list. Items cannot be templates.',
      ),
      cursor_field: required(template, 'The name of the item in stream_partition.'),
      request_option: optional(component('RequestOption'), 'Where to send the item in the request.'),
    },
    make: makeListRouter,
  },
  {
    name: 'SubstreamPartitionRouter',
    step: 'S1',
    words: 'Creates one partition for each record of one or more parent streams.',
    options: { parent_stream_configs: required(list(component('ParentStreamConfig')), 'The parent streams.') },
    make: makeSubstreamRouter,
  },
  {
    name: 'UnionPartitionRouter',
    step: 'S4',
    words: 'Combines the partitions of several routers without duplicates.',
    options: {
      partition_field: required(template, 'The name of the value in stream_partition, common to all routers.'),
      partition_routers: required(
        list(
          component('ListPartitionRouter', 'SubstreamPartitionRouter', 'UnionPartitionRouter', 'CustomPartitionRouter'),
        ),
        'The routers. Their request_option has no effect; use the requester.',
      ),
    },
    make: makeUnionRouter,
  },
  {
    name: 'ParentStreamConfig',
    step: 'S1',
    words: 'A parent stream and the values that its records provide to the child stream.',
    options: {
      stream: required(component('DeclarativeStream', 'StateDelegatingStream'), 'The parent stream.'),
      parent_key: required(template, 'The parent field that identifies a partition. Use `/` for nested fields.'),
      partition_field: required(template, 'The name of this value in stream_partition.'),
      request_option: optional(component('RequestOption'), 'Where to send the value in the request.'),
      extra_fields: optional(list(list(template)), 'Additional parent fields for stream_slice.extra_fields.'),
      incremental_dependency: optional(
        boolean,
        'Reads only changed parents and stores their state with the child.',
        false,
      ),
      lazy_read_pointer: optional(
        list(template),
        'Path in the parent record that already contains the first page of the child.',
      ),
    },
    make: makeParent,
  },
];
