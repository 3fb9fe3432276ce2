/*
 * Detects that a table was dropped or emptied since the last sync. A table gets an id when it is first written to,
 * stored in the comment on one of our own columns: a comment belongs to the table, survives VACUUM FULL, CLUSTER and a
 * restored dump, and is invisible to queries. The platform stores the id, and whether there were rows, with the state
 * of the stream. Deleted single rows are not detected.
 */
import { randomUUID } from 'node:crypto';
import type { ConfiguredStream, StreamHolding } from '@inlay/protocol/protocol';
import type pg from 'pg';
import { heldBefore } from '../kit/holdings.ts';
import { ownColumns } from './identifiers.ts';

/** What `StreamHolding.held` says, as JSON. */
export interface Held {
  /** Absent where the user of the connector may not comment on the table. */
  table?: string | undefined;
  rows: boolean;
}

/** The table is not what the state of its stream relies on. */
export class LostTable extends Error {
  override readonly name = 'LostTable';

  constructor(readonly how: NonNullable<StreamHolding['lost']>) {
    super(`The table is ${how}.`);
  }
}

export const commentedColumn = ownColumns.generation;
const idInComment = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/;

export function idIn(comment: string | null): string | undefined {
  return comment?.match(idInComment)?.[0];
}

/** Needs an open transaction; the table is there, and is the user's own. */
export async function giveId(client: pg.Client, table: string): Promise<string> {
  const id = randomUUID();
  await client.query(`comment on column ${table}.${commentedColumn} is 'Inlay recognizes this table by the id ${id}.'`);
  return id;
}

/**
 * Compares a table with what the last sync left. Throws if the stream must be read from its start. True: the table was
 * emptied and must not be refilled.
 */
export function isEmptiedByHand(
  configured: ConfiguredStream,
  { isThere, id, isEmpty }: { isThere: boolean; id: string | undefined; isEmpty: boolean },
): boolean {
  const held = heldBefore<Held>(configured);
  if (!held) return false;
  if (!isThere || (held.table !== undefined && held.table !== id)) throw new LostTable('gone');
  if (!held.rows || !isEmpty) return false;
  // Emptying an append-only table means that the rows were moved elsewhere.
  if (configured.destination_sync_mode !== 'append') throw new LostTable('emptied');
  return true;
}
