/**
 * How large a catalog may be. What is done with a catalog (reading, comparing, showing it) is done stream by stream, and
 * others have their turn in between; so the catalog, and each stream, may be only so large.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { Catalog } from '@inlay/protocol/protocol';

/** Limit for the message with the catalog. */
export const maxCatalogBytes = 8_000_000;
const maxStreams = 10_000;
const maxFields = 50_000;
const maxFieldsOfStream = 10_000;

/** What is wrong, as the rest of a sentence about the source; undefined if nothing is. Looks no further than the limit. */
export function catalogExcess({ streams }: Catalog): string | undefined {
  if (streams.length > maxStreams) return `more than ${maxStreams.toLocaleString('en')} streams`;
  let fields = 0;
  for (const { name, json_schema } of streams) {
    const ofStream = countFields(json_schema, maxFieldsOfStream);
    if (ofStream > maxFieldsOfStream) {
      return `more than ${maxFieldsOfStream.toLocaleString('en')} fields in the stream ${name}`;
    }
    fields += ofStream;
    if (fields > maxFields) return `more than ${maxFields.toLocaleString('en')} fields`;
  }
  return undefined;
}

/** Those inside objects and lists included. Stops one beyond the limit. */
function countFields(schema: unknown, limit: number): number {
  let fields = 0;
  const open = [schema];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (!isObject(each)) continue;
    const { properties, items } = each;
    if (items !== undefined) open.push(items);
    if (!isObject(properties)) continue;
    for (const name in properties) {
      if (++fields > limit) return fields;
      open.push(properties[name]);
    }
  }
  return fields;
}
