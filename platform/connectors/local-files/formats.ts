/* How a record becomes a line of a file. */
import { isObject, type JsonSchema } from '@inlay/contract/connector-configuration';
import type { RecordMessage } from '../../src/protocol.ts';
import { dataText } from '../kit/input.ts';
import { stringifyJson } from '../kit/json.ts';
import { addedFields, jsonLines, timeText } from '../kit/json-lines.ts';
import type { TextBuffer } from '../kit/text-buffer.ts';

export interface LineFormat {
  extension: string;
  /** What every file begins with. */
  header: string;
  add(record: RecordMessage['record'], lines: TextBuffer): void;
}

export type FormatName = 'jsonl' | 'csv';

const wholeDataColumn = '_inlay_data';

export function lineFormat(
  name: FormatName,
  schema: JsonSchema,
  syncId: number,
  onUndeclaredField: (field: string) => void,
): LineFormat {
  return name === 'csv'
    ? csv(schema, syncId, onUndeclaredField)
    : { extension: 'jsonl', header: '', add: jsonLines(syncId) };
}

/**
 * RFC 4180. The empty string is quoted, which tells it from a value that is missing. A stream that declares no fields
 * has its whole data in one column.
 */
function csv(schema: JsonSchema, syncId: number, onUndeclaredField: (field: string) => void): LineFormat {
  const timeOf = timeText();
  const row = (cells: string[]) => `${cells.join(',')}\r\n`;
  const declared = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  if (declared.length === 0) {
    return {
      extension: 'csv',
      header: row([wholeDataColumn, ...addedFields]),
      add: (record, lines) => lines.add(row([csvCell(dataText(record)), timeOf(record.emitted_at), String(syncId)])),
    };
  }
  const known = new Set(declared);
  return {
    extension: 'csv',
    header: row([...declared, ...addedFields].map(csvCell)),
    add({ data, emitted_at }, lines) {
      for (const field in data) {
        if (known.has(field)) continue;
        known.add(field);
        onUndeclaredField(field);
      }
      lines.add(row([...declared.map((field) => csvCell(data[field])), timeOf(emitted_at), String(syncId)]));
    },
  };
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? stringifyJson(value) : String(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
