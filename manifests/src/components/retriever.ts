/* Reads the pages of a slice. */
import { isJsonObject, stringifyJson } from '@inlay/protocol/json';
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
import { PaginationReset, RunFailure, SmallerPageNeeded } from '../http/failures.ts';
import { combineParts, emptyParts } from '../http/request.ts';
import { pageSizes } from '../requests/page-size.ts';
import { noPagination, type PageRead, type Paginator } from '../requests/pagination.ts';
import type { Requester } from '../requests/requester.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import type { Slice } from '../run/slice.ts';
import type { DataRecord } from '../run/stream.ts';
import { mergeDeep, type QueryProperties } from './query-properties.ts';
import type { Retriever, RetrieverSurroundings } from './retriever-surroundings.ts';
import { decoderNames, type RecordSelector } from './selection.ts';

function makeSimpleRetriever(given: Given): Retriever {
  const {
    slicerParts = emptyParts,
    schema,
    transformations,
    stoppingCursor,
    filteringCursor,
    transformsFirst,
    cursor,
    mayCache,
    takesEmbeddedPages = false,
  } = given.around as RetrieverSurroundings;
  const decoder = given.child<Decoder>('decoder') ?? jsonDecoder;
  const selector = given.child<RecordSelector>('record_selector', {
    transformations,
    filteringCursor,
    transformsFirst,
  });
  const { properties, queryPropertiesKey } = readProperties(given);
  const requester = given.child<Requester>('requester', {
    mayCache,
    isStreamed: decoder.isStreamed,
    queryPropertiesKey,
  });
  if (!selector || !requester) throw new Error('A SimpleRetriever requires a requester and a record_selector.');
  const paginator = given.child<Paginator>('paginator') ?? noPagination;
  const dropsSlicer = given.flag('ignore_stream_slicer_parameters_on_paginated_requests');

  function ask(slice: Slice, token: unknown, size: number | undefined): Promise<Answer> {
    const isFurther = token !== undefined;
    const parts = [paginator.parts(token, size), ...(isFurther && dropsSlicer ? [] : [slicerParts(slice)])];
    return (requester as Requester).send({
      slice,
      token,
      path: paginator.path(token),
      parts: combineParts(parts),
      endStatuses: paginator.endStatuses?.(token),
    });
  }

  const embeds = takesEmbeddedPages && isJsonObject(given.value('partition_router'));
  const track = makePageTracker(given, cursor);

  /** One page of a slice: its records as they come. Undefined for an answer that has none. */
  async function* readPage(
    own: Slice,
    token: unknown,
    size: number | undefined,
    embedded: Answer | undefined,
    recordSchema: Record<string, unknown>,
    allFound: unknown[],
  ): AsyncGenerator<DataRecord[], PageRead | undefined> {
    const records = selector as RecordSelector;
    let answer = embedded;
    let count = 0;
    let lastRecord: DataRecord | undefined;
    const merged = new Map<string, DataRecord>();
    const chunks = embedded ? [undefined] : ((await properties?.chunks(own)) ?? [undefined]);
    for (const chunk of chunks) {
      answer = embedded ?? (await ask(chunk ? { ...own, extraFields: { query_properties: chunk } } : own, token, size));
      if (!answer.isGood) continue;
      for await (const values of decoder.decode(answer)) {
        const extracted = records.extract(values);
        const found = Array.isArray(extracted) ? extracted : await extracted;
        answer.extractedRecords += found.length;
        if (paginator.review) addAll(allFound, found);
        const { records: page, failure } = records.select(found, own, token, recordSchema);
        const ready = properties?.mergeKey ? mergeInto(merged, page, properties.mergeKey) : page;
        count += ready.length;
        lastRecord = ready.at(-1) ?? lastRecord;
        if (ready.length > 0) yield ready;
        if (failure !== undefined) throw failure;
      }
    }
    if (merged.size > 0) {
      const together = [...merged.values()];
      count += together.length;
      lastRecord = together.at(-1);
      yield together;
    }
    // The last response counts, also if properties are requested in several requests.
    if (!answer?.isGood) return undefined;
    return { answer, response: decoder.firstValue(answer), size: count, lastRecord, token };
  }

  return {
    async *read(slice) {
      const recordSchema = (await schema?.()) ?? {};
      const { child_response: child, ...extraFields } = slice.extraFields;
      let embedded = embeds && child !== undefined ? embeddedAnswer(child) : undefined;
      let own: Slice = child === undefined ? slice : { ...slice, extraFields };
      const tracker = track();
      const sizes = pageSizes(given, paginator.sentSize?.());
      for (let token = paginator.initialToken(); ; ) {
        const found: unknown[] = [];
        const held: DataRecord[] = [];
        let page: PageRead | undefined;
        let isCutOff = false;
        try {
          const pages = readPage(own, token, sizes.current, embedded, recordSchema, found);
          let next = await pages.next();
          for (; !next.done; next = await pages.next()) {
            tracker.observe(next.value);
            if (paginator.review) {
              addAll(held, next.value);
              continue;
            }
            const wanted = stoppingCursor
              ? next.value.filter((record) => stoppingCursor.isWanted(own, record))
              : next.value;
            if (wanted.length > 0) yield wanted;
          }
          page = next.value;
        } catch (error) {
          if (error instanceof SmallerPageNeeded) {
            if (error.message !== '') given.run.log('WARN', `${given.making.streamName}: ${error.message}`);
            await sizes.reduce();
            continue;
          }
          if (!(error instanceof PaginationReset)) throw error;
          isCutOff = true;
        }
        embedded = undefined;
        if (paginator.review && !isCutOff) {
          const review = paginator.review({ page, found, records: held, token, slice: own });
          yield* review.take;
          if (review.next === undefined) return;
          token = review.next;
          continue;
        }
        if (isCutOff || (page && tracker.isFull())) {
          own = tracker.rest(own);
          token = paginator.initialToken();
          continue;
        }
        if (!page) return;
        if (page.lastRecord && stoppingCursor && !stoppingCursor.isWanted(own, page.lastRecord)) return;
        token = paginator.next(page, sizes.current);
        if (token === undefined) return;
        sizes.pageRead();
      }
    },
  };
}

/** Too many items for the arguments of one call may come at once. */
function addAll<Item>(list: Item[], items: readonly Item[]): void {
  for (const item of items) list.push(item);
}

/** What is known of the pages of a slice, for an API that cuts them off. */
interface PageTracker {
  observe(records: readonly DataRecord[]): void;
  /** Whether so many records were read that the API would cut off the pages. */
  isFull(): boolean;
  /** Where to continue. Throws a RunFailure if that is the same place as before. */
  rest(slice: Slice): Slice;
}

function makePageTracker(given: Given, cursor: StreamCursor | undefined): () => PageTracker {
  const resetting = given.inside(given.value('pagination_reset'));
  const limit = resetting.inside(resetting.value('limits')).number('number_of_records');
  const splits = resetting.text('action') === 'SPLIT_USING_CURSOR' && cursor?.cursorField !== undefined;
  // If the slice does not get smaller, starting over is a retry and is limited.
  const mostAttempts = splits ? 1 : 2;
  return () => {
    let count = 0;
    let attempts = 0;
    let latest: unknown;
    return {
      observe(records) {
        count += records.length;
        if (splits) for (const record of records) latest = cursor?.later(latest, record) ?? latest;
      },
      isFull: () => limit !== undefined && count >= limit,
      rest(slice) {
        count = 0;
        const [startField] = Object.keys(slice.cursor);
        const start = splits && startField !== undefined ? latest : undefined;
        if (startField !== undefined && start !== undefined && start !== slice.cursor[startField]) {
          attempts = 0;
          return { ...slice, cursor: { ...slice.cursor, [startField]: start } };
        }
        if (++attempts >= mostAttempts) throw new RunFailure('Pagination was reset again without any progress.');
        return slice;
      },
    };
  };
}

/** Merges records with a key into those of other requests, and returns those without. */
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

/** Properties are either request parameters of the requester or their own option. */
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
  const content = isJsonObject(value) || Array.isArray(value) ? value : [];
  return new Answer(200, [], Buffer.from(stringifyJson(content)));
}

export const routerNames = [
  'ListPartitionRouter',
  'SubstreamPartitionRouter',
  'GroupingPartitionRouter',
  'UnionPartitionRouter',
  'CustomPartitionRouter',
];

export const retrieverComponents: ComponentDefinition[] = [
  {
    name: 'SimpleRetriever',
    step: 'S1',
    words: 'Reads a stream page by page with one type of request.',
    options: {
      requester: required(component('HttpRequester', 'CustomRequester'), 'Sends the requests.'),
      record_selector: required(component('RecordSelector'), 'Selects records from the responses.'),
      paginator: optional(component('DefaultPaginator', 'NoPagination', 'CustomPaginator'), 'Requests the next pages.'),
      partition_router: optional(
        either(component(...routerNames), list(component(...routerNames))),
        'Splits the stream into partitions. Several routers produce every combination.',
      ),
      decoder: optional(component(...decoderNames), 'Decodes the responses (default: JSON).'),
      ignore_stream_slicer_parameters_on_paginated_requests: optional(
        boolean,
        'Sends slice parameters only with the first page.',
        false,
      ),
      pagination_reset: optional(
        component('PaginationReset'),
        'What to do when an error handler says RESET_PAGINATION.',
      ),
      page_size_reduction: optional(
        component('PageSizeReduction'),
        'What to do when an error handler says REDUCE_PAGE_SIZE.',
      ),
    },
    rule({ pagination_reset: reset, record_selector: selector, page_size_reduction: reduction, paginator }) {
      const inside = (value: unknown) => (value ?? {}) as Record<string, unknown>;
      if (inside(selector).record_filter && inside(reset).limits)
        return 'The limits of a pagination_reset cannot be combined with a record_filter';
      const { page_size_option: option, pagination_strategy: strategy } = inside(paginator);
      // Pages that are counted would begin somewhere else with another size.
      const isCounted = inside(strategy).type === 'PageIncrement';
      if (reduction && (!option || isCounted))
        return 'A page_size_reduction requires a page_size_option and either CursorPagination or OffsetIncrement';
      return undefined;
    },
    make: makeSimpleRetriever,
  },
];
