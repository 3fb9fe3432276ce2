export interface Pgbouncer {
  /** The given URL, by way of the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export function findPgbouncer(options?: { install?: boolean }): Promise<string>;
export function startPgbouncer(databaseUrl: string): Promise<Pgbouncer>;
