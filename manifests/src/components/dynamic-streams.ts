/* Streams and schemas that are found out at run time: by asking the API, or from the configuration. */
import { isJsonObject } from '@inlay/protocol/json';
import {
  anything,
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
import { NoCursor, type PartitionRouter } from '../cursors/stream-cursor.ts';
import type { Names } from '../interpolation.ts';
import { placed } from '../manifest/places.ts';
import { asText } from '../manifest/problems.ts';
import { readScalar } from '../manifest/yaml.ts';
import { matchesOf, setAtPath, valueAtPath } from '../run/paths.ts';
import { sliceView, wholeStream } from '../run/slice.ts';
import type { Retriever } from './retriever-surroundings.ts';
import type { SchemaLoader } from './schemas.ts';
import { overridesOption, overridesRule } from './source.ts';
import { literalTypesOf, type Transformation, valueTypeOption } from './transformations.ts';

type Component = Record<string, unknown>;

/** What fills a template of streams: a stream for each. */
export interface ComponentsResolver {
  resolve(streamTemplate: Component): AsyncIterable<Component>;
}

function makeMapping(given: Given): (stream: Component, names: Names) => void {
  const mappings = (given.value('components_mapping') as unknown[]).map((value) => {
    const mapping = given.inside(value);
    return {
      path: mapping.texts('field_path').map((key) => mapping.asTemplate(key)),
      value: mapping.asTemplate(mapping.text('value') ?? ''),
      types: literalTypesOf(mapping),
      creates: mapping.flag('create_or_update'),
      rule: mapping.condition('condition'),
    };
  });
  return (stream, names) => {
    for (const { path, value, types, creates, rule } of mappings) {
      if (rule && !rule.isMet(names)) continue;
      const rendered = value.value(names, types);
      const isText = types?.length === 1 && types[0] === 'text';
      const found = typeof rendered === 'string' && !isText ? readScalar(rendered) : rendered;
      const keys = path.map((key) => key.text(names));
      const matches = matchesOf(stream, keys);
      for (const { parent, key } of matches) (parent as Component)[key] = found;
      if (matches.length === 0 && creates && found) setAtPath(stream, keys, found);
    }
  };
}

function makeHttpResolver(given: Given): ComponentsResolver {
  const fill = makeMapping(given);
  const values = given.inside(given.value('retriever'));
  const [router] = values.children<PartitionRouter>('partition_router');
  const retriever = given.child<Retriever>('retriever');
  return {
    async *resolve(streamTemplate) {
      for await (const slice of new NoCursor(router).slices()) {
        for await (const records of retriever?.read(slice) ?? []) {
          for (const record of records) {
            const stream = structuredClone(streamTemplate);
            fill(stream, {
              components_values: record,
              stream_slice: sliceView(slice),
              stream_template_config: streamTemplate,
            });
            yield stream;
          }
        }
      }
    },
  };
}

function makeConfigResolver(given: Given): ComponentsResolver {
  const fill = makeMapping(given);
  const configs = given.value('stream_config');
  const lists = (Array.isArray(configs) ? configs : [configs]).map((value) => {
    const one = given.inside(value);
    const pointer = one.texts('configs_pointer').map((key) => one.asTemplate(key).text());
    const found = valueAtPath(given.config, pointer)?.value ?? [];
    const defaults = one.value('default_values');
    return [...(Array.isArray(found) ? found : [found]), ...(Array.isArray(defaults) ? defaults : [])];
  });
  return {
    async *resolve(streamTemplate) {
      for (const combination of combinationsOf(lists)) {
        const values: Component = {};
        for (const [index, [place, item]] of combination.entries()) {
          if (isJsonObject(item)) Object.assign(values, item);
          else values[`source_config_${index}`] ??= [place, item];
        }
        const stream = structuredClone(streamTemplate);
        fill(stream, { components_values: values, stream_template_config: streamTemplate });
        yield stream;
      }
    },
  };
}

function combinationsOf(lists: readonly unknown[][]): [number, unknown][][] {
  let all: [number, unknown][][] = [[]];
  for (const items of lists)
    all = all.flatMap((before) => items.map((item, place) => [...before, [place, item] as [number, unknown]]));
  return all;
}

function makeParametrizedResolver(given: Given): ComponentsResolver {
  const fill = makeMapping(given);
  const parameters = given.inside(given.value('stream_parameters')).value('list_of_parameters_for_stream');
  return {
    async *resolve(streamTemplate) {
      for (const item of Array.isArray(parameters) ? parameters : []) {
        const stream = structuredClone(streamTemplate);
        fill(stream, { components_values: item, stream_parameters: item, stream_template_config: streamTemplate });
        yield stream;
      }
    },
  };
}

const schemaTypes: Record<string, Component> = {
  string: { type: ['null', 'string'] },
  boolean: { type: ['null', 'boolean'] },
  date: { type: ['null', 'string'], format: 'date' },
  timestamp_without_timezone: {
    type: ['null', 'string'],
    format: 'date-time',
    airbyte_type: 'timestamp_without_timezone',
  },
  timestamp_with_timezone: { type: ['null', 'string'], format: 'date-time' },
  time_without_timezone: { type: ['null', 'string'], format: 'time', airbyte_type: 'time_without_timezone' },
  time_with_timezone: { type: ['null', 'string'], format: 'time', airbyte_type: 'time_with_timezone' },
  integer: { type: ['null', 'integer'] },
  number: { type: ['null', 'number'] },
  array: { type: ['null', 'array'] },
  object: { type: ['null', 'object'] },
};

function schemaOfType(type: unknown): Component {
  if (isJsonObject(type)) {
    const base = schemaOfType(type.field_type);
    return type.items === undefined ? base : { ...base, items: schemaOfType(type.items) };
  }
  const known = schemaTypes[String(type)];
  if (!known) throw new Error(`Unknown schema type ${asText(type)}.`);
  return structuredClone(known);
}

function makeDynamicSchema(given: Given): SchemaLoader {
  const retriever = given.child<Retriever>('retriever', { mayCache: true, requestsFor: 'dynamic_properties' });
  const identifier = given.inside(given.value('schema_type_identifier'));
  const pointer = (name: string) => identifier.texts(name).map((key) => identifier.asTemplate(key).text());
  const maps = ((identifier.value('types_mapping') as unknown[] | undefined) ?? []).map((value) =>
    identifier.inside(value),
  );
  const transformations = given.children<Transformation>('schema_transformations');
  const filter = given.inside(given.value('schema_filter')).condition('condition');
  const typeOf = (property: unknown): Component => {
    const found = identifier.has('type_pointer') ? valueAtPath(property, pointer('type_pointer')) : undefined;
    const own = found ? found.value : 'string';
    const map = maps.find((one) => {
      const isSame = JSON.stringify(one.value('current_type')) === JSON.stringify(own);
      return isSame && (one.condition('condition')?.isMet({ raw_schema: property }) ?? true);
    });
    const mapped = map?.value('target_type') ?? own;
    if (!Array.isArray(mapped)) return schemaOfType(mapped);
    if (mapped.length !== 2) throw new Error('A schema type must be one type or a list of two types.');
    return { oneOf: mapped.map(schemaOfType) };
  };
  const load = async () => {
    let first: unknown;
    for await (const records of retriever?.read(wholeStream) ?? []) {
      [first] = records;
      break;
    }
    const definitions = first === undefined ? [] : (valueAtPath(first, pointer('schema_pointer'))?.value ?? []);
    const properties: Component = {};
    for (const definition of Array.isArray(definitions) ? definitions : [definitions]) {
      const key = valueAtPath(definition, pointer('key_pointer'))?.value;
      if (typeof key !== 'string') throw new Error('A schema property has no name.');
      properties[key] = typeOf(definition);
    }
    const kept = Object.fromEntries(
      Object.entries(properties).filter(([name, value]) => filter?.isMet({ record: { [name]: value } }) ?? true),
    );
    for (const change of transformations) change(kept, {});
    return {
      $schema: 'https://json-schema.org/draft-07/schema#',
      type: 'object',
      additionalProperties: true,
      properties: kept,
    };
  };
  return () => placed({ component: given.values }, load);
}

const mappings = required(list(component('ComponentMappingDefinition')), 'The values to fill in.');

export const dynamicStreamComponents: ComponentDefinition[] = [
  {
    name: 'DynamicDeclarativeStream',
    step: 'S4',
    words: 'Generates streams from a template, one for each item that a resolver finds.',
    options: {
      name: optional(text, 'Name of this group of streams.'),
      stream_template: required(component('DeclarativeStream', 'StateDelegatingStream'), 'The stream template.'),
      components_resolver: required(
        component('HttpComponentsResolver', 'ConfigComponentsResolver', 'ParametrizedComponentsResolver'),
        'Finds the items to fill the template with.',
      ),
      use_parent_parameters: optional(boolean, 'Gives outer parameters precedence over those of the template.', true),
    },
  },
  {
    name: 'HttpComponentsResolver',
    step: 'S4',
    words: 'Generates a stream for each record of a request.',
    options: {
      retriever: required(component('SimpleRetriever', 'AsyncRetriever', 'CustomRetriever'), 'Sends the request.'),
      components_mapping: mappings,
    },
    make: makeHttpResolver,
  },
  {
    name: 'ConfigComponentsResolver',
    step: 'S4',
    words: 'Generates a stream for each item of a list in the configuration.',
    options: {
      stream_config: required(
        either(component('StreamConfig'), list(component('StreamConfig'))),
        'Path of the list. Several lists produce every combination.',
      ),
      components_mapping: mappings,
    },
    make: makeConfigResolver,
  },
  {
    name: 'ParametrizedComponentsResolver',
    step: 'S4',
    words: 'Generates a stream for each item of a list in the manifest.',
    options: {
      stream_parameters: required(component('StreamParametersDefinition'), 'The list.'),
      components_mapping: mappings,
    },
    make: makeParametrizedResolver,
  },
  {
    name: 'StreamParametersDefinition',
    step: 'S4',
    words: 'The list for a ParametrizedComponentsResolver.',
    options: { list_of_parameters_for_stream: required(list(anything), 'The items.') },
  },
  {
    name: 'StreamConfig',
    step: 'S4',
    words: 'A list in the configuration.',
    options: {
      configs_pointer: required(list(template), 'Path of the list.'),
      default_values: optional(list(anything), 'Items that are always included.'),
    },
  },
  {
    name: 'ComponentMappingDefinition',
    step: 'S4',
    words: 'A value to insert into the stream template.',
    options: {
      field_path: required(list(template), 'Path to insert the value at.'),
      value: required(template, 'The value. Available: components_values and stream_slice.'),
      value_type: valueTypeOption,
      create_or_update: optional(boolean, 'Creates the path if it is missing.', false),
      condition: optional(condition, 'Applies only if true.'),
    },
  },
  {
    name: 'DynamicSchemaLoader',
    step: 'S4',
    words: 'Requests the schema from the API.',
    options: {
      retriever: required(component('SimpleRetriever', 'AsyncRetriever', 'CustomRetriever'), 'Asks.'),
      schema_type_identifier: required(component('SchemaTypeIdentifier'), 'Where to find names and types.'),
      schema_transformations: optional(list(anything), 'Transformations of the properties.'),
      schema_filter: optional(component('RecordFilter', 'CustomRecordFilter'), 'Which properties to include.'),
    },
    make: makeDynamicSchema,
  },
  {
    name: 'SchemaTypeIdentifier',
    step: 'S4',
    words: 'Where a response contains the names and types of properties.',
    options: {
      key_pointer: required(list(template), 'Path of the name.'),
      schema_pointer: optional(list(template), 'Path of the list of properties.'),
      type_pointer: optional(list(template), 'Path of the type.'),
      types_mapping: optional(list(component('TypesMap')), 'Maps API types to JSON schema types.'),
    },
  },
  {
    name: 'TypesMap',
    step: 'S4',
    words: 'Maps an API type to a JSON schema type.',
    options: {
      target_type: required(anything, 'The JSON schema type.'),
      current_type: required(anything, 'The API type.'),
      condition: optional(condition, 'Applies only if true. Available: raw_schema.'),
    },
  },
  {
    name: 'ComplexFieldType',
    step: 'S4',
    words: 'A type that contains another type.',
    options: { field_type: required(text, 'The outer type.'), items: optional(anything, 'The type of the items.') },
  },
  {
    name: 'CheckDynamicStream',
    step: 'S4',
    words: 'Checks a configuration by reading the first record of any streams.',
    options: {
      stream_count: required(integer, 'The number of streams to check.'),
      use_check_availability: optional(boolean, 'Reads records instead of only discovering the streams.', true),
      config_overrides: overridesOption,
    },
    rule: overridesRule,
  },
  {
    name: 'DynamicStreamCheckConfig',
    step: 'S4',
    words: 'The number of streams of a group to check.',
    options: {
      dynamic_stream_name: required(text, 'The name of the group.'),
      stream_count: optional(integer, 'The number of its streams (default: all).'),
    },
  },
];
