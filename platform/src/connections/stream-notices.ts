/** What a job reports about a stream that is not read like the last time. */

import type { StreamDescriptor } from '@inlay/protocol/protocol';
import type { ReadAnewCause } from '../db/tables.ts';
import { fieldsMissingCode, type StreamNotice } from '../runner/runner.ts';
import { shownName } from './stream-selection.ts';

const reasons: Record<ReadAnewCause, string> = {
  key_changed: 'its primary key changed',
  cursor_changed: 'its cursor changed',
  mode_changed: 'its rows are now deduplicated',
  place_changed: 'its name at the destination changed',
  destination_gone: 'its table or files at the destination are gone',
  destination_emptied: 'it was emptied at the destination',
  refreshed: 'a refresh was requested',
  state_shared: 'it shares its state with a stream that is read from the start',
};

export function readAnew(stream: StreamDescriptor, cause: ReadAnewCause): StreamNotice {
  return { code: cause, message: `${shownName(stream)} is read from the start: ${reasons[cause]}.` };
}

/** Names the request that fills the fields. */
export function fieldsMissing(connectionId: string, stream: StreamDescriptor, fields: readonly string[]): StreamNotice {
  const { name, namespace } = stream;
  const streams = [namespace ? { name, namespace } : { name }];
  const request = JSON.stringify({ connectionId, jobType: 'refresh', streams });
  const list = fields.slice(0, maxFields).join(', ');
  const more = fields.length > maxFields ? ` and ${fields.length - maxFields} more` : '';
  return {
    code: fieldsMissingCode,
    fields: fields.slice(0, maxFields),
    message:
      `${shownName(stream)}: rows from earlier syncs have no values for ${list}${more}, because these fields were not synced then. ` +
      `To fill them, read the stream from the start: POST /jobs ${request}`,
  };
}

const maxFields = 20;
