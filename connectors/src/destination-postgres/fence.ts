/*
 * Keeps an attempt that lost its lease from writing. Each schema has a table `_inlay_epochs` with the highest epoch that
 * each connection has written under. An attempt raises its epoch before anything else; afterwards no transaction of an
 * earlier one can commit.
 *
 * A connection has one row and not one for each of its tables: a stream that the later attempt no longer syncs is fenced too,
 * and a transaction locks one row however many streams it stores.
 *
 * An earlier attempt that nobody can reach may hold locks on tables, in a transaction that the server keeps open for
 * hours. So a row also names its attempt's session, which the next attempt ends, as far as its user is allowed to. What
 * fences is the row.
 */
import pg from 'pg';
import { type Attempt, overtaken } from '../kit/attempts.ts';
import { inTransaction } from '../postgres/connection.ts';
import { ensureOwnTable } from './own-tables.ts';
import { ensureSchema } from './table.ts';

/** Widening a column or replacing all records of a large table takes its time. */
const options = { statementTimeoutMs: 3_600_000 };
const divisionByZero = '22012';

export class Fence {
  readonly #client: pg.Client;
  readonly #ending: string;

  private constructor(client: pg.Client, ending: string) {
    this.#client = client;
    this.#ending = ending;
  }

  /** Creates the schemas that are missing. Throws if a later attempt has been here. */
  static async raise(client: pg.Client, attempt: Attempt | undefined, schemas: Iterable<string>): Promise<Fence> {
    // In order: two attempts that lock the same rows never wait for each other.
    const ordered = [...new Set(schemas)].sort();
    const tables: string[] = [];
    await inTransaction(client, options, async () => {
      for (const schema of ordered) {
        await ensureSchema(client, schema);
        if (attempt) tables.push(await ensureOwnTable(client, schema, '_inlay_epochs', columns));
      }
    });
    if (!attempt) return new Fence(client, 'commit');
    const writer = pg.escapeLiteral(attempt.writer);
    const epoch = pg.escapeLiteral(String(attempt.epoch));
    const raising = new Fence(client, endingAfter(tables.map((table) => raisingSql(table, writer, epoch))));
    await raising.inTransaction(async () => {
      for (const table of tables) await endEarlierSessions(client, table, attempt);
    });
    return new Fence(client, endingAfter(tables.map((table) => lockingSql(table, writer, epoch))));
  }

  async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await inTransaction(this.#client, { ...options, end: this.#ending }, work);
    } catch (reason) {
      throw isOvertaken(reason) ? overtaken(reason) : reason;
    }
  }
}

const columns =
  'writer text primary key, epoch bigint not null, pid integer not null, session_start timestamptz not null';

function raisingSql(table: string, writer: string, epoch: string): string {
  return `insert into ${table} as known (writer, epoch, pid, session_start)
    select ${writer}, ${epoch}, pid, backend_start from pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())
    on conflict (writer) do update
    set epoch = excluded.epoch, pid = excluded.pid, session_start = excluded.session_start
    where known.epoch <= excluded.epoch
    returning 1`;
}

/** Waits for a later attempt that is raising its epoch, and makes one that comes wait for the commit. */
const lockingSql = (table: string, writer: string, epoch: string) =>
  `select from ${table} where writer = ${writer} and epoch = ${epoch} for share`;

/**
 * Commits if each statement finds its row; otherwise divides by zero, which is how plain SQL fails on a condition. One message
 * to the server: its locks are never held while the network is waited for.
 */
function endingAfter(statements: readonly string[]): string {
  const conditions = statements.map(
    (statement) => `with current_row as (${statement}) select 1 / count(*) from current_row`,
  );
  return [...conditions, 'commit'].join('; ');
}

function isOvertaken(reason: unknown): boolean {
  return reason instanceof pg.DatabaseError && reason.code === divisionByZero;
}

async function endEarlierSessions(client: pg.Client, table: string, { writer, epoch }: Attempt): Promise<void> {
  await client.query(
    `select pg_catalog.pg_terminate_backend(session.pid)
     from ${table} as known
     join lateral pg_catalog.pg_stat_get_activity(known.pid) as session on session.backend_start = known.session_start
     where writer = $1 and epoch < $2 and pg_catalog.pg_has_role(session.usesysid, 'usage')`,
    [writer, epoch],
  );
}
