/** What a job says about a stream that is not read as it was the last time. */

import type { StreamDescriptor } from '@inlay/protocol/protocol';
import type { ReadAnewCause } from '../db/tables.ts';
import { fieldsMissingCode, type StreamNotice } from '../runner/runner.ts';
import { shownName } from './stream-selection.ts';

const reasons: Record<ReadAnewCause, string> = {
  key_changed: 'its primary key has changed',
  cursor_changed: 'its cursor has changed',
  mode_changed: 'its rows are deduplicated from now on',
  place_changed: 'it has another name at the destination',
  destination_gone: 'what was stored of it is no longer at the destination',
  destination_emptied: 'somebody has emptied it at the destination',
  refreshed: 'a refresh was requested',
  state_shared: 'another stream is, and the source keeps one state for both',
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
      `${shownName(stream)}: rows from earlier syncs have no value in ${list}${more}, which was not synced then. ` +
      `To read the stream from the start: POST /jobs ${request}`,
  };
}

const maxFields = 20;
