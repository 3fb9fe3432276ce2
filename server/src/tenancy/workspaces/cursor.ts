/**
 * The opaque cursor of the workspace list: the sort key of the last workspace of a page. It gives no access: the
 * organization always comes from the token.
 */

import type { Format } from '@inlay/contract/text/formats';

export interface Position {
  createdAt: number;
  id: string;
}

const plain = /^(\d{1,15})\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export function encodeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url');
}

export function decodeCursor(cursor: string): Position | undefined {
  const text = Buffer.from(cursor, 'base64url');
  const match = plain.exec(text.toString('latin1'));
  if (!match?.[1] || !match[2] || text.toString('base64url') !== cursor) return undefined;
  return { createdAt: Number(match[1]), id: match[2] };
}

export const cursorFormat: Format = {
  type: 'value_error.cursor',
  fault: (text) => (decodeCursor(text) ? undefined : 'use the cursor from the next link of an earlier page'),
};
