/**
 * The opaque cursor of the lists over all workspaces: the sort key of the last item of a page. It grants nothing: the
 * organization always comes from the token.
 */
import type { Format } from '@inlay/contract/text/formats';
import { storableText } from '@inlay/contract/text/storable-text';

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

/** Where a page of workspaces ends, in the order in which they were requested. */
export interface PlaceInOrder {
  order: string;
  key: number | string;
  id: string;
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const plainPlace = new RegExp(`^([a-z_]{1,20})\\.(\\d{1,16}|".*")\\.(${uuid})$`, 's');

export function encodePlace({ order, key, id }: PlaceInOrder): string {
  return Buffer.from(`${order}.${JSON.stringify(key)}.${id}`).toString('base64url');
}

export function decodePlace(cursor: string): PlaceInOrder | undefined {
  const text = Buffer.from(cursor, 'base64url');
  const [, order, key, id] = plainPlace.exec(text.toString()) ?? [];
  if (order === undefined || key === undefined || id === undefined) return undefined;
  if (text.toString('base64url') !== cursor) return undefined;
  try {
    const given = JSON.parse(key);
    // No name holds what a database cannot store.
    return typeof given === 'string' && storableText(given) !== given ? undefined : { order, key: given, id };
  } catch {
    return undefined;
  }
}

export const placeCursorFormat: Format = {
  type: 'value_error.cursor',
  fault: (text) => (decodePlace(text) ? undefined : 'use the cursor from the next link of an earlier page'),
};

export const listCursorFormat: Format = {
  type: 'value_error.cursor',
  fault: (text) => (decodePosition(text) ? undefined : 'use the cursor from the next link of an earlier page'),
};
