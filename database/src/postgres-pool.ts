/**
 * The connections to PostgreSQL. A connection that dies, idle or at work, never ends the process. A connection that
 * does not answer in time is closed.
 */
import type { PostgresPool } from 'kysely';
import pg from 'pg';

interface PoolOptions {
  url: string;
  maxConnections: number;
  queryTimeoutMs: number;
  onIdleError: (error: Error) => void;
  /** Called for every query that fails, and for every connection that cannot be made. */
  onFailure?: ((error: unknown) => void) | undefined;
}

export function openPool({ url, maxConnections, queryTimeoutMs, onIdleError, onFailure }: PoolOptions): PostgresPool {
  const pool = new pg.Pool({
    Client: ClosingClient,
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    application_name: 'inlay',
    types: { getTypeParser: parserFor },
  });
  // Without this listener, a connection that dies would end the process, whether idle or busy. Users of the connection
  // notice because their query fails.
  pool.on('error', onIdleError);
  pool.on('connect', (client) => {
    client.on('error', onIdleError);
    if (client instanceof ClosingClient) client.onFailure = onFailure;
  });
  return {
    connect: () =>
      pool.connect().catch((error: unknown) => {
        onFailure?.(error);
        throw error;
      }),
    end: () => pool.end(),
  };
}

/** A connection whose query was not answered in time is closed: the late answer could reach its next user. */
class ClosingClient extends pg.Client {
  onFailure: PoolOptions['onFailure'];

  // biome-ignore lint/suspicious/noExplicitAny: the many overloads of query() end in one implementation
  override query(...given: any[]): any {
    const result: unknown = Reflect.apply(super.query, this, given);
    if (result instanceof Promise) {
      result.catch((error: Error) => {
        this.onFailure?.(error);
        if (error.message === 'Query read timeout') void this.end();
      });
    }
    return result;
  }
}

const int8 = 20;

/** Our 64-bit integers are times and counts, far below 2^53: plain numbers, as on SQLite. */
const parserFor: typeof pg.types.getTypeParser = ((oid: number, format?: 'text') =>
  oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;
