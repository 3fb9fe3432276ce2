export interface Postgres {
  /** A superuser's URL of the database "postgres". */
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends open sessions and starts again on the same port with the same data. */
  restart(whileDown?: (server: StoppedServer) => Promise<void>): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export interface StoppedServer {
  /** The folder of its data. */
  data: string;
  /** Runs a program that comes with the server, as the server's user. */
  run(program: string, args: string[]): Promise<void>;
}

export type PostgresProgram = 'initdb' | 'postgres' | 'psql';
export type PostgresPrograms = Partial<Record<PostgresProgram, string>>;
export const postgresPrograms: PostgresProgram[];

/** Where the programs are; it throws where one that is needed is missing. The server programs are always needed. */
export function findPostgres(options?: {
  /** As root on Debian, installs the package if a program that is needed is missing. */
  install?: boolean;
  needed?: PostgresProgram[];
  /** Where it looks. */
  directories?: () => string[];
  /** Gives false where nothing may be installed. */
  installPackages?: (packages: string[]) => Promise<boolean>;
}): Promise<PostgresPrograms & { initdb: string; postgres: string }>;
export function startPostgres(options?: PostgresOptions): Promise<Postgres>;

export interface PostgresOptions {
  /** pg_hba.conf; must let "postgres" in from 127.0.0.1. Everyone is let in by default. */
  accessRules?: string;
  /** Both PEM. */
  tls?: { certificate: string; key: string };
  settings?: Record<string, string | number>;
  /** The URL of another server, which this one is to follow. */
  standbyOf?: string;
}
