/* Finds the records within a JSON document, and looks whether they are what the configuration says. */
import { ConnectorError } from '@inlay/protocol/connector';
import { isJsonObject, valueAt } from '@inlay/protocol/json';

/** The list at a dot path; a single object counts as a list of one, and null as an empty one. */
export function recordsAt(document: unknown, path: string, mayLackList: boolean): Record<string, unknown>[] {
  const found = valueAt(document, path);
  if (found === null || (found === undefined && mayLackList)) return [];
  const records = Array.isArray(found) ? found : [found];
  if (found !== undefined && records.every(isJsonObject)) return records;
  if (found !== undefined) {
    throw new ConnectorError(`The records are not JSON objects. Check the records path.`);
  }
  const fields = isJsonObject(document) ? ` Available fields: ${Object.keys(document).slice(0, 20).join(', ')}.` : '';
  throw new ConnectorError(`There is no field ${path}.${fields} Check the records path.`);
}

/** Throws unless each of the fields is in at least one of the records, where there are any. */
export function requireFields(records: readonly Record<string, unknown>[], fields: readonly string[]): void {
  const [first] = records;
  if (!first) return;
  const missing = fields.find((field) => !records.some((record) => Object.hasOwn(record, field)));
  if (missing === undefined) return;
  const known = Object.keys(first).slice(0, 20).join(', ');
  throw new ConnectorError(`The records have no field ${missing}. Available fields: ${known}.`);
}
