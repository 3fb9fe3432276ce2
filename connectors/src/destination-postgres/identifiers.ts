/*
 * Names of streams and properties as names of tables and columns. A name is unchanged if PostgreSQL can store it; a
 * name that is too long, empty, reserved or invalid becomes its beginning and a digest of the whole, so that different
 * names stay different and a name is the same in every sync.
 */
import { createHash } from 'node:crypto';

const maxBytes = 63;
const digestLength = 12;

/** PostgreSQL has these columns in every table. */
const systemColumns = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];
export const ownColumns = {
  emittedAt: '_inlay_emitted_at',
  syncId: '_inlay_sync_id',
  generation: '_inlay_generation',
  meta: '_inlay_meta',
} as const;
/** Fields beyond the column limit of a row, as one JSON object. Only tables that need it have this column. */
export const moreColumn = '_inlay_more';
/** With this field, a source reports that a row was deleted, and when. */
export const deletedAtField = '_ab_cdc_deleted_at';
/** Helper columns of statements that compare cursors. */
export const cursorColumns = [
  '_inlay_cursor_number',
  '_inlay_cursor_instant',
  '_inlay_cursor_word',
  '_inlay_cursor_kind',
  '_inlay_cursor_last_kind',
  '_inlay_cursor_other_kind_at',
] as const;
const reservedColumns = new Set<string>([
  ...systemColumns,
  ...Object.values(ownColumns),
  moreColumn,
  '_inlay_position',
  ...cursorColumns,
]);

export function tableName(name: string): string {
  return identifier(name, false);
}

export function columnName(name: string): string {
  return identifier(name, reservedColumns.has(name));
}

/** For our own names: an index, a lock. */
export function digestOf(...parts: string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts))
    .digest('hex')
    .slice(0, 2 * digestLength);
}

function identifier(name: string, isReserved: boolean): string {
  const writable = name.toWellFormed().replaceAll('\0', '');
  if (writable === name && name !== '' && !isReserved && Buffer.byteLength(name) <= maxBytes) return name;
  return `${startOf(writable, maxBytes - digestLength - 1)}_${digestOf(name).slice(0, digestLength)}`;
}

/** As many whole characters as fit. */
function startOf(text: string, bytes: number): string {
  let start = '';
  let left = bytes;
  for (const character of text) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    start += character;
  }
  return start;
}
