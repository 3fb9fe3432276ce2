/*
 * The connectors that come with the platform: what each is called and which configuration it takes. The ids are part
 * of stored data and of callers' code, so they never change. A specification is JSON Schema (draft 07) with the
 * annotations forms are drawn from: `order`, `airbyte_secret`, `pattern_descriptor`. Running connectors is not done here.
 */
import { resourceNotFound } from './problems.ts';

export type ConnectorKind = 'source' | 'destination';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export interface Definition {
  readonly definitionId: string;
  readonly kind: ConnectorKind;
  /** What `configuration.sourceType` or `configuration.destinationType` says. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly documentation: string;
  readonly connectionSpecification: JsonSchema;
}

const sampleData: Definition = {
  definitionId: '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
  kind: 'source',
  slug: 'sample-data',
  name: 'Sample Data',
  version: '0.1.0',
  documentation:
    'Makes up users, products and purchases, so that a pipeline can be tried without an account anywhere. ' +
    'The same seed and count always give the same records.',
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sample Data',
    type: 'object',
    required: ['count'],
    additionalProperties: true,
    properties: {
      count: {
        type: 'integer',
        title: 'Users',
        description: 'How many users to make up. Products and purchases follow from it.',
        minimum: 1,
        maximum: 1_000_000,
        default: 1000,
        order: 0,
      },
      seed: {
        type: 'integer',
        title: 'Seed',
        description: 'Choose another number to get other records.',
        minimum: 0,
        maximum: 2_147_483_647,
        default: 1,
        order: 1,
      },
      records_per_second: {
        type: 'integer',
        title: 'Records per second',
        description: 'Slows the source down to at most this many records a second. Leave empty for full speed.',
        minimum: 1,
        maximum: 100_000,
        order: 2,
      },
    },
  },
};

const localFiles: Definition = {
  definitionId: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
  kind: 'destination',
  slug: 'local-files',
  name: 'Local Files',
  version: '0.1.0',
  documentation:
    "Writes one file per stream into a folder below the platform's own data folder, as JSON lines or as CSV.",
  connectionSpecification: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Local Files',
    type: 'object',
    required: ['path'],
    additionalProperties: true,
    properties: {
      path: {
        type: 'string',
        title: 'Folder',
        description: 'Where the files go, relative to the data folder.',
        // Every segment starts with a letter or digit, which leaves no way to write '..', an absolute path or a hidden file.
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$',
        pattern_descriptor: 'folder/subfolder',
        maxLength: 200,
        examples: ['exports'],
        order: 0,
      },
      format: {
        type: 'string',
        title: 'Format',
        enum: ['jsonl', 'csv'],
        default: 'jsonl',
        order: 1,
      },
    },
  },
};

export const bundledDefinitions: readonly Definition[] = [sampleData, localFiles];

export function findDefinition(definitions: readonly Definition[], kind: ConnectorKind, id: string) {
  return definitions.find((known) => known.kind === kind && known.definitionId === id.toLowerCase());
}

export function getDefinition(definitions: readonly Definition[], kind: ConnectorKind, id: string): Definition {
  const definition = findDefinition(definitions, kind, id);
  if (!definition) throw resourceNotFound(`${kind}_definition`, id);
  return definition;
}
