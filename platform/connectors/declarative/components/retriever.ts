/* Reads the pages of a slice. */
import { isJsonObject, stringifyJson } from '../../kit/json.ts';
import {
  boolean,
  type ComponentDefinition,
  component,
  either,
  type Given,
  list,
  optional,
  required,
} from '../component.ts';
import type { StreamCursor } from '../cursors/stream-cursor.ts';
import { Answer } from '../http/answer.ts';
import { PaginationReset, RunFailure } from '../http/failures.ts';
import { combineParts, emptyParts, type RequestParts } from '../http/request.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import type { Slice } from '../run/slice.ts';
import type { DataRecord } from '../run/stream.ts';
import { noPagination, type Paginator } from './pagination.ts';
import { mergeDeep, type QueryProperties } from './query-properties.ts';
import type { Requester } from './requester.ts';
import type { SchemaLoader } from './schemas.ts';
import { decoderNames, type RecordSelector } from './selection.ts';
import type { Transformation } from './transformations.ts';

export interface Retriever {
  read(slice: Slice): AsyncGenerator<DataRecord[]>;
  /** Replaces the slices of the stream, where reading needs some of its own. */
  slices?(cursor: StreamCursor): AsyncIterable<Slice>;
}

/** What a retriever gets from the stream around it. */
export interface RetrieverSurroundings extends Record<string, unknown> {
  slicerParts?: (slice: Slice) => RequestParts;
  schema?: SchemaLoader;
  transformations?: readonly Transformation[];
  /** Given for a stream whose records come newest first. */
  stoppingCursor?: StreamCursor | undefined;
  filteringCursor?: StreamCursor | undefined;
  mayCache?: boolean;
}

function makeSimpleRetriever(given: Given): Retriever {
  const {
    slicerParts = emptyParts,
    schema,
    transformations,
    stoppingCursor,
    filteringCursor,
    mayCache,
  } = given.around as RetrieverSurroundings;
  const decoder = given.child<Decoder>('decoder') ?? jsonDecoder;
  const selector = given.child<RecordSelector>('record_selector', { transformations, filteringCursor });
  const { properties, queryPropertiesKey } = readProperties(given);
  const requester = given.child<Requester>('requester', {
    mayCache,
    isStreamed: decoder.isStreamed,
    queryPropertiesKey,
  });
  if (!selector || !requester) throw new Error('A SimpleRetriever needs a requester and a record_selector.');
  const paginator = given.child<Paginator>('paginator') ?? noPagination;
  const dropsSlicer = given.flag('ignore_stream_slicer_parameters_on_paginated_requests');

  function ask(slice: Slice, token: unknown): Promise<Answer> {
    const isFurther = token !== undefined;
    const parts = [paginator.parts(token), ...(isFurther && dropsSlicer ? [] : [slicerParts(slice)])];
    return (requester as Requester).send({ slice, token, path: paginator.path(token), parts: combineParts(parts) });
  }

  const resetting = given.has('pagination_reset') ? given.inside(given.value('pagination_reset')) : undefined;
  const limit = resetting?.inside(resetting.value('limits')).number('number_of_records');
  const splits = resetting?.text('action') === 'SPLIT_USING_CURSOR';

  /** Where to go on after the pages of a slice were cut off. Throws an Error if nothing has been read since. */
  function rest(slice: Slice, lastCursor: unknown): Slice {
    const [startField] = Object.keys(slice.cursor);
    if (!splits || startField === undefined) return slice;
    if (lastCursor === undefined || lastCursor === slice.cursor[startField]) {
      throw new RunFailure('The API cuts its pages off, and there is no record to go on from.');
    }
    return { ...slice, cursor: { ...slice.cursor, [startField]: lastCursor } };
  }

  async function* readPages(slice: Slice, recordSchema: Record<string, unknown>): AsyncGenerator<DataRecord[]> {
    const records = selector as RecordSelector;
    let token = paginator.initialToken();
    const { child_response: embedded, ...extraFields } = slice.extraFields;
    let answer = embedded === undefined ? undefined : embeddedAnswer(embedded);
    const own: Slice = embedded === undefined ? slice : { ...slice, extraFields };
    for (;;) {
      let size = 0;
      let lastRecord: DataRecord | undefined;
      const merged = new Map<string, DataRecord>();
      const chunks = (await properties?.chunks(own)) ?? [undefined];
      for (const chunk of chunks) {
        const asked = chunk ? { ...own, extraFields: { ...own.extraFields, query_properties: chunk } } : own;
        answer = (answer?.isFresh ? answer : undefined) ?? (await ask(asked, token));
        answer.isFresh = false;
        if (!answer.isGood) return;
        for await (const values of decoder.decode(answer)) {
          const found = records.extract(values);
          answer.extractedRecords += found.length;
          const { records: page, failure } = records.select(found, own, token, recordSchema);
          const ready = properties?.mergeKey ? mergeInto(merged, page, properties.mergeKey) : page;
          size += ready.length;
          lastRecord = ready.at(-1) ?? lastRecord;
          if (ready.length > 0) yield ready;
          if (failure !== undefined) throw failure;
        }
      }
      if (merged.size > 0) {
        const together = [...merged.values()];
        size += together.length;
        lastRecord = together.at(-1);
        yield together;
      }
      if (!answer) return;
      if (lastRecord && stoppingCursor && !stoppingCursor.isWanted(own, lastRecord)) return;
      const response = decoder.firstValue(answer);
      token = paginator.next({ answer, response, size, lastRecord, token });
      if (token === undefined) return;
    }
  }

  return {
    async *read(slice) {
      const recordSchema = (await schema?.()) ?? {};
      const cursorField = (given.around as { cursor?: StreamCursor }).cursor?.cursorField ?? '';
      let own = slice;
      for (;;) {
        let count = 0;
        let lastCursor: unknown;
        try {
          for await (const page of readPages(own, recordSchema)) {
            yield page;
            count += page.length;
            for (const { [cursorField]: value } of page) {
              if (value !== undefined && (lastCursor === undefined || String(value) > String(lastCursor)))
                lastCursor = value;
            }
            if (limit !== undefined && count >= limit) throw new PaginationReset();
          }
          return;
        } catch (error) {
          if (!(error instanceof PaginationReset) || !resetting) throw error;
          own = rest(own, lastCursor);
        }
      }
    },
  };
}

/** Adds the records with a key to those of other requests, and gives back those without. */
function mergeInto(
  merged: Map<string, DataRecord>,
  page: readonly DataRecord[],
  keyOf: (record: DataRecord) => string | undefined,
): DataRecord[] {
  const others: DataRecord[] = [];
  for (const record of page) {
    const key = keyOf(record);
    if (key === undefined) {
      others.push(record);
      continue;
    }
    const known = merged.get(key);
    if (known) mergeDeep(known, record);
    else merged.set(key, record);
  }
  return others;
}

/** Properties are among the request parameters of the requester, or an option of its own. */
function readProperties(given: Given): { properties?: QueryProperties; queryPropertiesKey?: string } {
  const requester = given.inside(given.value('requester'));
  const parameters = requester.value('request_parameters');
  const entry = isJsonObject(parameters)
    ? Object.entries(parameters).find(([, value]) => isJsonObject(value) && value.type === 'QueryProperties')
    : undefined;
  if (entry) return { properties: given.make<QueryProperties>(entry[1]), queryPropertiesKey: entry[0] };
  const own = requester.value('query_properties');
  if (own !== undefined) return { properties: given.make<QueryProperties>(own) };
  const endpoint = requester.value('fetch_properties_from_endpoint');
  if (endpoint === undefined) return {};
  return { properties: given.make<QueryProperties>({ type: 'QueryProperties', property_list: endpoint }) };
}

/** The first page of a child that came with its parent. */
function embeddedAnswer(value: unknown): Answer {
  const answer = new Answer(
    200,
    [],
    Buffer.from(stringifyJson(isJsonObject(value) || Array.isArray(value) ? value : [])),
  );
  answer.isFresh = true;
  return answer;
}

export const routerNames = [
  'ListPartitionRouter',
  'SubstreamPartitionRouter',
  'GroupingPartitionRouter',
  'CustomPartitionRouter',
];

export const retrieverComponents: ComponentDefinition[] = [
  {
    name: 'SimpleRetriever',
    step: 'S1',
    words: 'Reads a stream with one kind of request, page after page.',
    options: {
      requester: required(component('HttpRequester', 'CustomRequester'), 'Sends the requests.'),
      record_selector: required(component('RecordSelector'), 'Takes records out of the answers.'),
      paginator: optional(component('DefaultPaginator', 'NoPagination'), 'Gets from page to page.'),
      partition_router: optional(
        either(component(...routerNames), list(component(...routerNames))),
        'Cuts the stream into partitions. Several give every combination.',
      ),
      decoder: optional(component(...decoderNames), 'Reads the answers; as JSON by default.'),
      ignore_stream_slicer_parameters_on_paginated_requests: optional(
        boolean,
        'Sends what comes from the slice with the first page only.',
        false,
      ),
      pagination_reset: optional(component('PaginationReset'), 'What to do when an API asks to begin the pages anew.'),
    },
    make: makeSimpleRetriever,
  },
];
