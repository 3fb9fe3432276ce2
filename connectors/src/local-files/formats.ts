/* How a record becomes a line of a file. */
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { dataText } from '@inlay/protocol/input';
import { stringifyJson } from '@inlay/protocol/json';
import type { RecordMessage } from '@inlay/protocol/protocol';
import type { TextBuffer } from '@inlay/protocol/text-buffer';
import { addedFields, jsonLines, timeText } from '../kit/json-lines.ts';

export interface LineFormat {
  extension: string;
  /** What every file begins with from now on. */
  header(): string;
  /** Whether the record has fields that only a file with another header has room for; from now on the header is that one. */
  needsOtherHeader?(record: RecordMessage['record']): boolean;
  add(record: RecordMessage['record'], lines: TextBuffer): void;
}

export type FormatName = 'jsonl' | 'csv';

const wholeDataColumn = '_inlay_data';
const otherFieldsColumn = '_inlay_other_fields';

export function lineFormat(name: FormatName, schema: JsonSchema, syncId: number): LineFormat {
  return name === 'csv' ? csv(schema, syncId) : { extension: 'jsonl', header: () => '', add: jsonLines(syncId) };
}

/**
 * RFC 4180. The empty string is quoted, which distinguishes it from a missing or null value. A stream that declares no
 * fields has all its data in one column. If a record has undeclared fields, a new file is started that has them
 * together in one more column, as JSON: a column for each could mean a new file for each record.
 */
function csv(schema: JsonSchema, syncId: number): LineFormat {
  const timeOf = timeText();
  const row = (cells: string[]) => `${cells.join(',')}\r\n`;
  const declared = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  if (declared.length === 0) {
    return {
      extension: 'csv',
      header: () => row([wholeDataColumn, ...addedFields]),
      add: (record, lines) => lines.add(row([csvCell(dataText(record)), timeOf(record.emitted_at), String(syncId)])),
    };
  }
  const known = new Set(declared);
  let hasOthers = false;
  const othersIn = (data: Record<string, unknown>) => Object.entries(data).filter(([field]) => !known.has(field));
  const otherCell = (data: Record<string, unknown>) => {
    const others = othersIn(data);
    return others.length === 0 ? '' : csvCell(Object.fromEntries(others));
  };
  return {
    extension: 'csv',
    header: () => row([...declared, ...(hasOthers ? [otherFieldsColumn] : []), ...addedFields].map(csvCell)),
    needsOtherHeader({ data }) {
      if (hasOthers || othersIn(data).length === 0) return false;
      hasOthers = true;
      return true;
    },
    add({ data, emitted_at }, lines) {
      // A field may be called as something that every object has.
      const cells = declared.map((field) => (Object.hasOwn(data, field) ? csvCell(data[field]) : ''));
      if (hasOthers) cells.push(otherCell(data));
      lines.add(row([...cells, timeOf(emitted_at), String(syncId)]));
    },
  };
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? stringifyJson(value) : String(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
