/* The manifest itself and its parts other than streams. */
import {
  anything,
  type ComponentDefinition,
  component,
  either,
  integer,
  list,
  mapping,
  optional,
  required,
  schema,
  template,
  text,
} from '../component.ts';

/** Shared by both kinds of checks. */
export const overridesOption = optional(
  mapping(anything),
  'Values that override the configuration during the check only. They cannot be templates.',
);

export function overridesRule({ config_overrides: overrides }: Record<string, unknown>): string | undefined {
  const isReserved = Object.keys(overrides ?? {}).some((name) => name.startsWith('__airbyte'));
  return isReserved ? 'Names in config_overrides cannot start with __airbyte' : undefined;
}

export const sourceComponents: ComponentDefinition[] = [
  {
    name: 'DeclarativeSource',
    step: 'S1',
    words: 'A manifest, which defines a source and its streams.',
    options: {
      version: required(text, 'The language version that the manifest was written for.'),
      check: required(component('CheckStream', 'CheckDynamicStream'), 'How to check a configuration.'),
      streams: optional(
        list(component('DeclarativeStream', 'ConditionalStreams', 'StateDelegatingStream')),
        'The streams.',
      ),
      dynamic_streams: optional(list(component('DynamicDeclarativeStream')), 'Streams that are generated at run time.'),
      stream_groups: optional(mapping(component('StreamGroup')), 'Groups of streams that are not read concurrently.'),
      spec: optional(component('Spec'), 'The specification of the configuration.'),
      concurrency_level: optional(component('ConcurrencyLevel'), 'How many slices are read concurrently.'),
      api_budget: optional(component('HTTPAPIBudget'), 'Request limits of the API.'),
      max_concurrent_async_job_count: optional(
        either(integer, template),
        'How many asynchronous jobs the API runs concurrently.',
      ),
      schemas: optional(anything, 'Shared schemas to reference.'),
      definitions: optional(anything, 'Shared definitions to reference.'),
      metadata: optional(anything, 'Not used.'),
      description: optional(text, 'Description of the source.'),
    },
  },
  {
    name: 'StreamGroup',
    step: 'S4',
    words: 'Streams that are not read concurrently with each other or with their child streams.',
    options: {
      streams: required(list(anything), 'References to the streams.'),
      action: required(component('BlockSimultaneousSyncsAction'), 'What to do with the streams.'),
    },
  },
  {
    name: 'BlockSimultaneousSyncsAction',
    step: 'S4',
    words: 'Reads the streams of a group one at a time.',
    options: {},
  },
  {
    name: 'CheckStream',
    step: 'S1',
    words: 'Checks a configuration by reading the first record of some streams.',
    options: {
      stream_names: optional(list(text), 'The streams.'),
      dynamic_streams_check_configs: optional(
        list(component('DynamicStreamCheckConfig')),
        'How many dynamic streams to check.',
      ),
      config_overrides: overridesOption,
    },
    rule: overridesRule,
  },
  {
    name: 'Spec',
    step: 'S1',
    words: 'The specification of the configuration.',
    options: {
      connection_specification: required(
        schema,
        'The JSON schema of the configuration, with annotations for the form.',
      ),
      documentation_url: optional(text, 'URL of the documentation.'),
      advanced_auth: optional(anything, "How users give consent on the API's website."),
      config_normalization_rules: optional(
        component('ConfigNormalizationRules'),
        'Transformations and validations of the configuration.',
      ),
    },
  },
  {
    name: 'ConcurrencyLevel',
    step: 'S2',
    words: 'How many slices are read concurrently.',
    options: {
      default_concurrency: required(either(integer, template), 'The number.'),
      max_concurrency: optional(integer, 'The maximum that a configuration can set.'),
    },
  },
];
