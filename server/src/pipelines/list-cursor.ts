/**
 * The opaque cursor of the lists over all workspaces: the sort key of the last item of a page. It grants nothing: the
 * organization always comes from the token.
 */
import type { Format } from '@inlay/contract/formats';

export interface Position {
  time: number;
  id: string;
}

const plain = /^(\d{1,15})\.([0-9A-Za-z-]{1,64})$/;

export function encodePosition({ time, id }: Position): string {
  return Buffer.from(`${time}.${id}`).toString('base64url');
}

export function decodePosition(cursor: string): Position | undefined {
  const text = Buffer.from(cursor, 'base64url');
  const [, time, id] = plain.exec(text.toString('latin1')) ?? [];
  if (time === undefined || id === undefined || text.toString('base64url') !== cursor) return undefined;
  return { time: Number(time), id };
}

export const listCursorFormat: Format = {
  type: 'value_error.cursor',
  fault: (text) =>
    decodePosition(text) ? undefined : 'the cursor must be taken from the next link of an earlier page',
};
