/* How a record becomes a line of a file. */
import { isObject, type JsonSchema } from '@inlay/contract/connector-configuration';
import type { RecordMessage } from '../../src/protocol.ts';
import { dataText } from '../kit/input.ts';

export interface LineFormat {
  extension: string;
  /** What every file begins with. */
  header: string;
  line(record: RecordMessage['record']): string;
}

export type FormatName = 'jsonl' | 'csv';

/** Added to every record: what tells the copies apart when a record was sent twice. */
const addedFields = ['_inlay_emitted_at', '_inlay_sync_id'] as const;
const [emittedAtField, syncIdField] = addedFields;
const wholeDataColumn = '_inlay_data';

export function lineFormat(
  name: FormatName,
  schema: JsonSchema,
  syncId: number,
  onUndeclaredField: (field: string) => void,
): LineFormat {
  return name === 'csv' ? csv(schema, syncId, onUndeclaredField) : jsonLines(syncId);
}

/** The data stays as the source wrote it; the added fields come last, where they win over fields of the same name. */
function jsonLines(syncId: number): LineFormat {
  const timeOf = timeText();
  return {
    extension: 'jsonl',
    header: '',
    line(record) {
      const fields = dataText(record).slice(0, -1).trimEnd();
      const comma = fields.length === 1 ? '' : ',';
      return `${fields}${comma}"${emittedAtField}":"${timeOf(record.emitted_at)}","${syncIdField}":${syncId}}\n`;
    },
  };
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
      line: (record) => row([csvCell(dataText(record)), timeOf(record.emitted_at), String(syncId)]),
    };
  }
  const known = new Set(declared);
  return {
    extension: 'csv',
    header: row([...declared, ...addedFields].map(csvCell)),
    line({ data, emitted_at }) {
      for (const field in data) {
        if (known.has(field)) continue;
        known.add(field);
        onUndeclaredField(field);
      }
      return row([...declared.map((field) => csvCell(data[field])), timeOf(emitted_at), String(syncId)]);
    },
  };
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const latestDateMs = 8.64e15;

/** Many records in a row are sent in the same millisecond. */
function timeText(): (ms: number) => string {
  let lastMs = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== lastMs) {
      lastMs = ms;
      text = new Date(Math.min(Math.max(ms, 0), latestDateMs)).toISOString();
    }
    return text;
  };
}
