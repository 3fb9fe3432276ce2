/**
 * How large a catalog may be. Everything that is done with a catalog (reading, comparing, showing it) is done at once, so a
 * catalog without end would hold up everybody who uses this process.
 */
import { isObject } from '@inlay/contract/connector-configuration';
import type { Catalog } from '../protocol.ts';

/** Of the message with the catalog. */
export const maxCatalogBytes = 8_000_000;
const maxStreams = 10_000;
const maxFields = 50_000;

/** What is wrong, as the rest of a sentence about the source; undefined if nothing is. Looks no further than the limit. */
export function catalogExcess({ streams }: Catalog): string | undefined {
  if (streams.length > maxStreams) return `more than ${maxStreams.toLocaleString('en')} streams`;
  let fields = 0;
  const open: unknown[] = streams.map(({ json_schema }) => json_schema);
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (!isObject(schema)) continue;
    const { properties, items } = schema;
    if (items !== undefined) open.push(items);
    if (!isObject(properties)) continue;
    for (const name in properties) {
      if (++fields > maxFields) return `more than ${maxFields.toLocaleString('en')} fields`;
      open.push(properties[name]);
    }
  }
  return undefined;
}
