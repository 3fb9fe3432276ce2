/* How records are extracted from responses and filtered. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  choice,
  component,
  condition,
  either,
  type Given,
  list,
  optional,
  required,
  template,
} from '../component.ts';
import type { StreamCursor } from '../cursors/stream-cursor.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import { normalizeBySchema } from '../run/normalization.ts';
import { matchesOf, valueAtPath } from '../run/paths.ts';
import { type Slice, sliceView } from '../run/slice.ts';
import { pythonText } from '../values/printing.ts';
import type { Transformation } from './transformations.ts';

export type Extractor = (values: readonly unknown[]) => unknown[];
/** One that may have to ask the API for more. */
export type RecordExtractor = (values: readonly unknown[]) => unknown[] | Promise<unknown[]>;
type RecordFilter = (record: Record<string, unknown>, slice: Slice, token: unknown) => boolean;

export interface Selection {
  records: Record<string, unknown>[];
  /** What went wrong behind the last of the records. */
  failure?: unknown;
}

export interface RecordSelector {
  extract: RecordExtractor;
  select(found: readonly unknown[], slice: Slice, token: unknown, schema: Record<string, unknown>): Selection;
}

/** What a record selector gets from the stream around it. */
export interface SelectorSurroundings extends Record<string, unknown> {
  transformations?: readonly Transformation[];
  /** Given for a stream that is filtered by its cursor here, because the API cannot. */
  filteringCursor?: StreamCursor | undefined;
  /** The default of `transform_before_filtering`. */
  transformsFirst?: boolean;
}

function makeDpathExtractor(given: Given): RecordExtractor {
  const path = given.texts('field_path').map((key) => given.asTemplate(key));
  const expand = given.child<RecordExtractor>('record_expander');
  const extract = (value: unknown): unknown[] => {
    const found =
      path.length === 0
        ? value
        : valueAt(
            value,
            path.map((key) => key.text()),
          );
    if (Array.isArray(found)) return found;
    return isEmpty(found) ? [] : [found];
  };
  return (values) => {
    const found = values.length === 1 ? extract(values[0]) : values.flatMap(extract);
    return expand ? expand(found) : found;
  };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  if (path.includes('*')) return matchesOf(value, path).map((match) => match.value);
  return valueAtPath(value, path)?.value ?? [];
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) ? Object.keys(value).length === 0 : !value;
}

function makeRecordFilter(given: Given): RecordFilter {
  const rule = given.condition('condition');
  if (!rule) return () => false;
  return (record, slice, token) =>
    rule.isMet({
      record,
      stream_slice: sliceView(slice),
      next_page_token: token === undefined ? null : { next_page_token: token },
    });
}

function makeRecordSelector(given: Given): RecordSelector {
  const {
    transformations = [],
    filteringCursor,
    transformsFirst: transformsByDefault = filteringCursor !== undefined,
  } = given.around as SelectorSurroundings;
  const extract = given.child<RecordExtractor>('extractor') ?? ((values) => [...values]);
  const filter = given.child<RecordFilter>('record_filter');
  const normalize = makeNormalization(given);
  const transformsFirst = given.flag('transform_before_filtering', transformsByDefault);
  const isWanted: RecordFilter = (record, slice, token) =>
    (filteringCursor?.isWanted(slice, record) ?? true) && (filter?.(record, slice, token) ?? true);
  return {
    extract,
    select(found, slice, token, schema) {
      const records: Record<string, unknown>[] = [];
      const names = { stream_slice: sliceView(slice) };
      const transform = (record: Record<string, unknown>) => {
        for (const change of transformations) change(record, names);
      };
      try {
        for (const value of found) {
          const record = recordOf(value);
          if (transformsFirst) transform(record);
          if (!isWanted(record, slice, token)) continue;
          if (!transformsFirst) transform(record);
          normalize?.(record, schema);
          records.push(record);
        }
      } catch (failure) {
        return { records, failure };
      }
      return { records };
    },
  };
}

type Normalization = (record: Record<string, unknown>, schema: Record<string, unknown>) => void;

function makeNormalization(given: Given): Normalization | undefined {
  const value = given.value('schema_normalization');
  if (isJsonObject(value)) return given.make<Normalization>(value);
  return value === 'Default' ? normalizeBySchema : undefined;
}

/** Only objects are records. An empty list counts as an empty one, as it does in the reference runtime. */
function recordOf(value: unknown): Record<string, unknown> {
  if (isJsonObject(value)) return value;
  if (Array.isArray(value) && value.length === 0) return {};
  throw new Error(
    `A record is ${Array.isArray(value) ? 'a list' : `"${pythonText(value).slice(0, 50)}"`} instead of an object.`,
  );
}

export const decoderNames = [
  'JsonDecoder',
  'JsonlDecoder',
  'CsvDecoder',
  'IterableDecoder',
  'XmlDecoder',
  'GzipDecoder',
  'ZipfileDecoder',
  'JsonItemsDecoder',
  'CustomDecoder',
];

export const selectionComponents: ComponentDefinition[] = [
  {
    name: 'RecordSelector',
    step: 'S1',
    words: 'Extracts, filters and transforms the records of a response, in this order.',
    options: {
      extractor: required(component('DpathExtractor', 'CustomRecordExtractor'), 'Extracts the records.'),
      record_filter: optional(component('RecordFilter', 'CustomRecordFilter'), 'Filters the records.'),
      schema_normalization: optional(
        either(choice('Default', 'None'), component('CustomSchemaNormalization')),
        '`Default` casts values to the types of the schema.',
        'None',
      ),
      transform_before_filtering: optional(boolean, 'Transforms records before filtering.', false),
    },
    make: makeRecordSelector,
  },
  {
    name: 'DpathExtractor',
    step: 'S1',
    words: 'Extracts records at a path: the items of a list, or one object.',
    options: {
      field_path: required(list(template), 'The path. An empty path is the whole response; `*` matches any key.'),
      decoder: optional(component(...decoderNames), 'Not used. The decoder of the retriever applies.'),
      record_expander: optional(component('RecordExpander'), 'Expands one record into several.'),
    },
    make: makeDpathExtractor,
  },
  {
    name: 'RecordFilter',
    step: 'S1',
    words: 'Keeps only records for which a condition is true.',
    options: {
      condition: optional(condition, 'The condition. Available: record, stream_slice and next_page_token.', ''),
    },
    make: makeRecordFilter,
  },
  {
    name: 'JsonDecoder',
    step: 'S1',
    words: 'Decodes a response as JSON. A response that is not JSON has no records.',
    options: {},
    make: (): Decoder => jsonDecoder,
  },
];
