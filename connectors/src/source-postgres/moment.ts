/*
 * What the open transaction sees of the server, in terms of transaction ids, which increase. A row has the id of the
 * transaction that wrote it (`xmin`), which distinguishes rows that an earlier snapshot did not see from those it did.
 *
 * Ids have 64 bits here. A row stores the lower 32 of them permanently; `age()` returns how many transactions ago that
 * was, counted from the latest id, which is constant within a transaction.
 */
import type pg from 'pg';

export interface Moment {
  /** Every transaction with a lower id has ended. */
  openFrom: bigint;
  /** What `age()` counts from. Above every id of a row that is seen. */
  latest: bigint;
  /**
   * Identifies the history: ids of a different history mean nothing here. Undefined if the server does not report it.
   */
  history: string | undefined;
  /** A standby may be behind another server of the same history. */
  isStandby: boolean;
}

/** After so many transactions, the lower 32 bits of an id may be those of a newer one. */
export const idsKnownApart = 2n ** 31n - 10_000_000n;

export async function currentMoment(client: pg.Client): Promise<Moment> {
  const version = await client.query<{ number: number; isTold: boolean }>(`
    select current_setting('server_version_num')::int as number,
      has_function_privilege('pg_catalog.pg_control_system()', 'execute')
      and has_function_privilege('pg_catalog.pg_control_checkpoint()', 'execute') as "isTold"`);
  const { number = 0, isTold = false } = version.rows[0] ?? {};
  const kind = number >= 130_000 ? 'pg' : 'txid';
  const { rows } = await client.query<{ openFrom: string; end: string; age: number; isStandby: boolean }>(`
    select "openFrom", "end", age(("end"::numeric % 4294967296)::text::xid) as age, pg_is_in_recovery() as "isStandby"
    from (
      select ${kind}_snapshot_xmin(snapshot)::text as "openFrom", ${kind}_snapshot_xmax(snapshot)::text as "end"
      from ${kind}_current_snapshot() snapshot
    ) ids`);
  if (!rows[0]) throw new Error('The server returned no snapshot.');
  const { openFrom, end, age, isStandby } = rows[0];
  return {
    openFrom: BigInt(openFrom),
    latest: BigInt(end) + BigInt(age),
    history: isTold ? await historyOf(client) : undefined,
    isStandby,
  };
}

/**
 * A restored backup, a promoted standby and an upgraded server are separate histories: they may lack transactions that
 * were seen before and reuse their ids.
 */
async function historyOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ history: string }>(`
    select system_identifier || '/' || timeline_id as history
    from pg_catalog.pg_control_system(), pg_catalog.pg_control_checkpoint()`);
  return rows[0]?.history;
}
