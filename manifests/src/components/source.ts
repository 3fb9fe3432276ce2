/* The manifest itself, and what is in it besides streams. */
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

/** Of both kinds of checks. */
export const overridesOption = optional(
  mapping(anything),
  'Values that take the place of those of the configuration for the check alone. They are no templates.',
);

export function overridesRule({ config_overrides: overrides }: Record<string, unknown>): string | undefined {
  const isReserved = Object.keys(overrides ?? {}).some((name) => name.startsWith('__airbyte'));
  return isReserved ? 'Names of config_overrides do not begin with __airbyte' : undefined;
}

export const sourceComponents: ComponentDefinition[] = [
  {
    name: 'DeclarativeSource',
    step: 'S1',
    words: 'A manifest: a source with its streams.',
    options: {
      version: required(text, 'The version of the language that the manifest was written for.'),
      check: required(component('CheckStream', 'CheckDynamicStream'), 'How to find out whether a configuration works.'),
      streams: optional(
        list(component('DeclarativeStream', 'ConditionalStreams', 'StateDelegatingStream')),
        'The streams.',
      ),
      dynamic_streams: optional(list(component('DynamicDeclarativeStream')), 'Streams that are found out at run time.'),
      stream_groups: optional(mapping(component('StreamGroup')), 'Streams that are not read at the same time.'),
      spec: optional(component('Spec'), 'What a configuration looks like.'),
      concurrency_level: optional(component('ConcurrencyLevel'), 'How many slices are read at the same time.'),
      api_budget: optional(component('HTTPAPIBudget'), 'How often the API may be asked.'),
      max_concurrent_async_job_count: optional(
        either(integer, template),
        'How many jobs the API runs at the same time.',
      ),
      schemas: optional(anything, 'Schemas to refer to.'),
      definitions: optional(anything, 'Parts to refer to.'),
      metadata: optional(anything, 'Not used.'),
      description: optional(text, 'What the source is.'),
    },
  },
  {
    name: 'StreamGroup',
    step: 'S4',
    words: 'Streams that are not read at the same time as each other, or as streams that are made of their records.',
    options: {
      streams: required(list(anything), 'References to the streams.'),
      action: required(component('BlockSimultaneousSyncsAction'), 'What to do about the streams.'),
    },
  },
  {
    name: 'BlockSimultaneousSyncsAction',
    step: 'S4',
    words: 'Reads the streams of a group one after the other.',
    options: {},
  },
  {
    name: 'CheckStream',
    step: 'S1',
    words: 'A configuration works if the first record of some streams can be read.',
    options: {
      stream_names: optional(list(text), 'The streams.'),
      dynamic_streams_check_configs: optional(
        list(component('DynamicStreamCheckConfig')),
        'How many of the streams that are found out.',
      ),
      config_overrides: overridesOption,
    },
    rule: overridesRule,
  },
  {
    name: 'Spec',
    step: 'S1',
    words: 'What a configuration looks like.',
    options: {
      connection_specification: required(schema, 'The JSON schema of a configuration, with notes for the form.'),
      documentation_url: optional(text, 'Where to read more.'),
      advanced_auth: optional(anything, 'How people give consent at the site of the API.'),
      config_normalization_rules: optional(
        component('ConfigNormalizationRules'),
        'Changes and checks of configurations.',
      ),
    },
  },
  {
    name: 'ConcurrencyLevel',
    step: 'S2',
    words: 'How many slices are read at the same time.',
    options: {
      default_concurrency: required(either(integer, template), 'The number.'),
      max_concurrency: optional(integer, 'The largest number that a configuration may ask for.'),
    },
  },
];
