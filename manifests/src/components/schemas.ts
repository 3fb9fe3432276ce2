/* Where a stream's JSON schema comes from. */
import { type ComponentDefinition, type Given, optional, schema, template } from '../component.ts';

export type SchemaLoader = () => Promise<Record<string, unknown>>;

export const noSchema: SchemaLoader = async () => ({});

function makeInlineSchema(given: Given): SchemaLoader {
  const value = (given.value('schema') ?? {}) as Record<string, unknown>;
  return async () => value;
}

export const schemaComponents: ComponentDefinition[] = [
  {
    name: 'InlineSchemaLoader',
    step: 'S1',
    words: 'Defines the schema in the manifest.',
    options: { schema: optional(schema, 'The JSON schema of a record.') },
    make: makeInlineSchema,
  },
  {
    name: 'JsonFileSchemaLoader',
    step: 'S3',
    words:
      'Loads the schema from a file next to the manifest. Inlay has no such file and reads the stream without a schema.',
    options: { file_path: optional(template, 'Path of the file.') },
    make: () => noSchema,
  },
];
