/* How a record becomes a line of a file or object: its data, and what this platform adds to it. */

import { addUnclosedData } from '@inlay/protocol/input';
import type { RecordMessage } from '@inlay/protocol/protocol';
import type { TextBuffer } from '@inlay/protocol/text-buffer';

/** Added to every record: distinguishes copies if a record was sent twice. */
export const addedFields = ['_inlay_emitted_at', '_inlay_sync_id'] as const;
const nothing = Buffer.alloc(0);
const [emittedAtField, syncIdField] = addedFields;

/** The data is unchanged; the added fields come last, where they override fields of the same name. */
export function jsonLines(syncId: number): (record: RecordMessage['record'], lines: TextBuffer) => void {
  const timeOf = timeText();
  let time = '';
  let [end, endOfEmpty] = [nothing, nothing];
  return (record, lines) => {
    const hasFields = addUnclosedData(record, lines);
    const itsTime = timeOf(record.emitted_at);
    if (itsTime !== time) {
      time = itsTime;
      end = Buffer.from(`,"${emittedAtField}":"${time}","${syncIdField}":${syncId}}\n`);
      endOfEmpty = end.subarray(1);
    }
    lines.addBytes(hasFields ? end : endOfEmpty);
  };
}

const latestDateMs = 8.64e15;

/** Many records in a row are sent in the same millisecond. */
export function timeText(): (ms: number) => string {
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
