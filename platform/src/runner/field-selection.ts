/** Syncs only the fields of a stream that were chosen: the others are missing in its schema and in its records. */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { type ConfiguredCatalog, streamKey } from '@inlay/protocol/protocol';
import { membersOf, objectText } from './json-members.ts';

/** Keyed by `streamKey`. */
export type SelectedFields = ReadonlyMap<string, readonly string[]>;

export function selectSchemas({ streams }: ConfiguredCatalog, selected: SelectedFields): ConfiguredCatalog {
  return {
    streams: streams.map((configured) => {
      const fields = selected.get(streamKey(configured.stream));
      const { properties, required, ...schema } = configured.stream.json_schema;
      if (!fields || !isObject(properties)) return configured;
      const chosen = Object.fromEntries(Object.entries(properties).filter(([field]) => fields.includes(field)));
      const stillRequired = Array.isArray(required) && { required: required.filter((field) => fields.includes(field)) };
      return {
        ...configured,
        stream: { ...configured.stream, json_schema: { ...schema, properties: chosen, ...stillRequired } },
      };
    }),
  };
}

export function selectFields(data: string, fields: ReadonlySet<string>): string {
  return objectText([...membersOf(data)].filter(([field]) => fields.has(field)));
}
