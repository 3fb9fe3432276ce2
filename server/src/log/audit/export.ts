/** The audit trail as a file. JSON Lines has everything, so the chain can be verified from it. CSV is for tables. */
import type { AuditEvent } from '@inlay/contract/log/audit';

export type ExportFormat = 'jsonl' | 'csv';

export const exportTypes = { jsonl: 'application/jsonl', csv: 'text/csv; charset=utf-8' } as const;

export async function* writeExport(
  pages: AsyncIterable<readonly AuditEvent[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns.map(([name]) => name));
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield format === 'csv'
      ? page.map((entry) => csvLine(columns.map(([, read]) => read(entry)))).join('')
      : page.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }
}

type Cell = string | number | null;

const columns: readonly (readonly [name: string, read: (entry: AuditEvent) => Cell])[] = [
  ['position', ({ position }) => position],
  ['timestamp', ({ timestamp }) => timestamp],
  ['type', ({ type }) => type],
  ['outcome', ({ outcome }) => outcome],
  ['actor_kind', ({ actor }) => actor.kind],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_name', ({ actor }) => actor.name],
  ['workspace_id', ({ workspace_id }) => workspace_id],
  ['workspace_name', ({ workspace_name }) => workspace_name],
  ['address', ({ address }) => address],
  ['user_agent', ({ user_agent }) => user_agent],
  ['request_id', ({ request_id }) => request_id],
  ['trace_id', ({ trace_id }) => trace_id],
  ['data', ({ data }) => JSON.stringify(data)],
  ['patch', ({ patch }) => (patch === null ? null : JSON.stringify(patch))],
  ['id', ({ id }) => id],
  ['event_position', ({ event_position }) => event_position],
  ['hash', ({ hash }) => hash],
];

const csvLine = (cells: readonly Cell[]) => `${cells.map(csvCell).join(',')}\r\n`;

/** Programs for tables take a text that begins like this for a formula, and run it. */
const formulaStart = /^[\s\u00a0\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

export function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = formulaStart.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
