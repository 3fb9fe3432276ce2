/* Asks for the properties of records in several requests, where one would be too long, and puts the records together. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
  type ComponentDefinition,
  choice,
  component,
  either,
  type Given,
  integer,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { valueAtPath } from '../run/paths.ts';
import { type Slice, wholeStream } from '../run/slice.ts';
import type { DataRecord } from '../run/stream.ts';
import { pythonText } from '../values/printing.ts';
import { apart, type Retriever } from './retriever-surroundings.ts';
import type { Transformation } from './transformations.ts';

export interface QueryProperties {
  chunks(slice: Slice): Promise<string[][]>;
  /** Undefined: the records of the requests are not merged. */
  mergeKey: ((record: DataRecord) => string | undefined) | undefined;
}

type PropertyList = (slice: Slice) => Promise<string[]>;

function makeQueryProperties(given: Given): QueryProperties {
  const value = given.value('property_list');
  const properties: PropertyList = isJsonObject(value)
    ? given.make<PropertyList>(value)
    : async () => given.texts('property_list');
  const always = given.texts('always_include_properties');
  const chunking = given.has('property_chunking') ? given.inside(given.value('property_chunking')) : undefined;
  const limit = chunking?.number('property_limit');
  const countsCharacters = chunking?.text('property_limit_type') === 'characters';
  const keys = chunking && mergeKeys(chunking);
  const selected = given.has('property_selector')
    ? given.make<() => Set<string> | undefined>(given.value('property_selector'))
    : () => undefined;
  return {
    async chunks(slice) {
      const wanted = selected();
      const all = (await properties(slice)).filter((name) => wanted?.has(name) ?? true);
      // Only chunks have the properties of every request, as in the reference runtime.
      if (!chunking) return [all];
      if (!limit) return [[...all, ...always]];
      const chunks: string[][] = [];
      let chunk = [...always];
      let size = 0;
      for (const name of all) {
        // Three characters for the URL-encoded comma between two names.
        const length = countsCharacters ? name.length + 3 : 1;
        if (size + length > limit) {
          chunks.push(chunk);
          chunk = [...always];
          size = 0;
        }
        chunk.push(name);
        size += length;
      }
      return [...chunks, chunk];
    },
    mergeKey: keys && ((record) => keyOf(record, keys)),
  };
}

function mergeKeys(chunking: Given): string[] {
  if (!chunking.has('record_merge_strategy')) return ['id'];
  const strategy = chunking.inside(chunking.value('record_merge_strategy'));
  const key = strategy.value('key');
  return Array.isArray(key) ? key.map(String) : [String(key)];
}

function keyOf(record: DataRecord, keys: readonly string[]): string | undefined {
  const parts = keys.map((key) => record[key]);
  if (parts.some((part) => part === undefined || part === null || part === '')) return undefined;
  if (parts.some((part) => typeof part !== 'string')) throw new Error('The key for merging records is not a string.');
  return parts.join(',');
}

/** The properties of the stream in the catalog; undefined without a catalog. */
function makePropertySelector(given: Given): () => Set<string> | undefined {
  const transformations = given.children<Transformation>('transformations');
  return () => {
    const schema = given.making.configured.get(given.making.streamName)?.stream.json_schema;
    if (!schema) return undefined;
    const properties = structuredClone((schema.properties ?? {}) as DataRecord);
    for (const change of transformations) change(properties, {});
    return new Set(Object.keys(properties));
  };
}

function makePropertiesFromEndpoint(given: Given): PropertyList {
  const path = given.texts('property_field_path').map((key) => given.asTemplate(key).text());
  const retriever = given.child<Retriever>('retriever', { ...apart, mayCache: true });
  return async (slice) => {
    const names: string[] = [];
    for await (const records of retriever?.read(slice ?? wholeStream) ?? []) {
      for (const record of records) {
        const found = valueAtPath(record, path);
        if (found) names.push(pythonText(found.value));
      }
    }
    return names;
  };
}

/** Puts one object into another, at every depth. */
export function mergeDeep(target: DataRecord, source: DataRecord): void {
  for (const [key, value] of Object.entries(source)) {
    const before = target[key];
    if (isJsonObject(before) && isJsonObject(value)) mergeDeep(before, value);
    else target[key] = value;
  }
}

export const queryPropertyComponents: ComponentDefinition[] = [
  {
    name: 'QueryProperties',
    step: 'S4',
    words: 'Requests properties of records, in several requests if necessary.',
    options: {
      property_list: required(either(list(text), component('PropertiesFromEndpoint')), 'The properties to request.'),
      always_include_properties: optional(list(text), 'Properties to include in every chunk.'),
      property_chunking: optional(component('PropertyChunking'), 'Limits the number of properties per request.'),
      property_selector: optional(
        component('JsonSchemaPropertySelector'),
        'Omits properties that the catalog does not select.',
      ),
    },
    make: makeQueryProperties,
  },
  {
    name: 'PropertiesFromEndpoint',
    step: 'S4',
    words: 'Requests the properties from the API.',
    options: {
      property_field_path: required(list(template), 'Path of the name in a record.'),
      retriever: required(component('SimpleRetriever', 'CustomRetriever'), 'Asks.'),
    },
    make: makePropertiesFromEndpoint,
  },
  {
    name: 'PropertyChunking',
    step: 'S4',
    words: 'Limits the number of properties per request.',
    options: {
      property_limit_type: required(choice('characters', 'property_count'), 'The unit of the limit.'),
      property_limit: optional(integer, 'The limit.'),
      record_merge_strategy: optional(component('GroupByKeyMergeStrategy'), 'How to merge records (default: by id).'),
    },
  },
  {
    name: 'GroupByKeyMergeStrategy',
    step: 'S4',
    words: 'Merges records with the same key.',
    options: { key: required(anything, 'The field, or a list of fields.') },
  },
  {
    name: 'JsonSchemaPropertySelector',
    step: 'S4',
    words: 'Requests only the properties that the catalog selects for the stream.',
    options: {
      transformations: optional(list(anything), 'Maps property names of the catalog to those of the API.'),
    },
    make: makePropertySelector,
  },
  {
    name: 'PaginationReset',
    step: 'S4',
    words: 'What to do when pagination is reset, by an error handler or after a number of records.',
    options: {
      action: required(
        choice('SPLIT_USING_CURSOR', 'RESET'),
        'Whether to continue from the last cursor or start over.',
      ),
      limits: optional(component('PaginationResetLimits'), 'The number of records after which to reset.'),
    },
  },
  {
    name: 'PaginationResetLimits',
    step: 'S4',
    words: 'The number of records after which pagination is reset.',
    options: { number_of_records: optional(integer, 'The number of records.') },
  },
];
