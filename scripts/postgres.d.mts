export interface Postgres {
  /** A superuser's URL of the database "postgres". */
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends open sessions and starts again on the same port with the same data. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export function findPostgres(options?: { install?: boolean }): Promise<string>;
export function startPostgres(options?: PostgresOptions): Promise<Postgres>;

export interface PostgresOptions {
  /** pg_hba.conf; must let "postgres" in from 127.0.0.1. Everyone is let in by default. */
  accessRules?: string;
  /** Both PEM. */
  tls?: { certificate: string; key: string };
  settings?: Record<string, string | number>;
}
