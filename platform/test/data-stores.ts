/*
 * Places that data goes to, for tests that look at what is left: a folder, a bucket, a database. Tests that kill the
 * database server have a server that nobody else uses.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { startS3Server } from '../../connectors/test/s3-server.ts';
import { startPostgres } from '../../scripts/postgres.mjs';
import type { ConfiguredConnector } from '../src/runner/runner.ts';
import { bundled, linesIn, temporaryFolder } from './connectors.ts';

/** A place that data goes to, and a look at it from outside. */
export interface Store {
  connector: ConfiguredConnector;
  /** All records of a stream that a reader sees. */
  records(stream: string): Promise<Record<string, unknown>[]>;
  /** The same as JSON texts, with every digit. */
  texts(stream: string): Promise<string[]>;
  /** How much a reader sees of a stream at a glance: rows, files or objects. */
  size(stream: string): Promise<number>;
}

export interface DataStores {
  openLocalFiles(): Promise<Store>;
  openBucket(): Promise<Store>;
  openDatabase(): Promise<Store>;
  /** Resolves when a connector has a session that began after this. */
  untilConnected(sinceMs: number): Promise<void>;
  /** Ends the sessions of connectors, as an administrator would. */
  endSessions(): Promise<void>;
  /** Kills the database server and starts it again. */
  killDatabase(): Promise<void>;
  stop(): Promise<void>;
}

/** `ownServer`: the test ends sessions of the database server, or the server. */
export async function startDataStores({ ownServer = false } = {}): Promise<DataStores> {
  const [own, s3] = await Promise.all([ownServer ? startPostgres() : undefined, startS3Server()]);
  const serverUrl = own?.url ?? inject('postgresUrl');
  const run = randomBytes(6).toString('hex');
  const databases: string[] = [];
  let opened = 0;

  async function openLocalFiles(): Promise<Store> {
    const workspaceDir = temporaryFolder();
    const files = (stream: string) => {
      const folder = join(workspaceDir, 'data', stream);
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.jsonl') && !/(^|\/)\./.test(file))
        .map((file) => join(folder, file));
    };
    return {
      connector: bundled('destination', 'local-files', { path: 'data' }, workspaceDir),
      records: async (stream) =>
        files(stream)
          .flatMap(linesIn)
          .map((line) => JSON.parse(line)),
      texts: async (stream) => files(stream).flatMap(linesIn),
      size: async (stream) => files(stream).length,
    };
  }

  async function openBucket(): Promise<Store> {
    opened += 1;
    const prefix = `store-${opened}`;
    return {
      connector: bundled('destination', 's3', {
        bucket: s3.bucket,
        region: s3.region,
        endpoint: s3.url,
        prefix,
        access_key_id: s3.accessKeyId,
        secret_access_key: s3.secretAccessKey,
      }),
      records: (stream) => s3.records(`${prefix}/${stream}`),
      texts: (stream) => s3.texts(`${prefix}/${stream}`),
      size: async (stream) => (await s3.keys(`${prefix}/${stream}`)).length,
    };
  }

  async function openDatabase(): Promise<Store> {
    opened += 1;
    const database = `store_${run}_${opened}`;
    await query('postgres', `create database ${database} template template0`);
    databases.push(database);
    const { hostname, port, username, password } = new URL(serverUrl);
    return {
      connector: bundled('destination', 'destination-postgres', {
        host: hostname,
        port: Number(port),
        database,
        username: decodeURIComponent(username),
        password: decodeURIComponent(password),
        ssl_mode: { mode: 'disable' },
      }),
      records: (stream) => query(database, `select * from ${stream}`),
      async texts(stream) {
        const rows = await query(database, `select row_to_json(${stream})::text as text from ${stream}`);
        return rows.map(({ text }) => String(text));
      },
      async size(stream) {
        const [row] = await query(database, `select count(*) as rows from ${stream}`);
        return Number(row?.rows);
      },
    };
  }

  async function query(database: string, text: string): Promise<Record<string, unknown>[]> {
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    // The server may be killed in the meantime; the query then fails too.
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Bytes reach a destination before it has connected. A killed destination may have left a session behind. */
  async function untilConnected(sinceMs: number): Promise<void> {
    const sessions = `select from pg_stat_activity
    where application_name = 'inlay' and backend_start > to_timestamp(${sinceMs / 1000})`;
    while ((await query('postgres', sessions)).length === 0) await delay(10);
  }

  async function endSessions(): Promise<void> {
    await query('postgres', `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlay'`);
  }

  async function killDatabase(): Promise<void> {
    if (own?.pid === undefined) throw new Error('There is no database server of this test that runs.');
    process.kill(own.pid, 'SIGKILL');
    for (let tries = 0; ; tries++) {
      try {
        return await own.restart();
      } catch (error) {
        // The sessions of the dead server keep its memory until they notice.
        if (tries === 20) throw error;
        await delay(100);
      }
    }
  }

  return {
    openLocalFiles,
    openBucket,
    openDatabase,
    untilConnected,
    endSessions,
    killDatabase,
    async stop() {
      if (!own) for (const name of databases) await query('postgres', `drop database ${name} with (force)`);
      await Promise.all([own?.stop(), s3.stop()]);
    },
  };
}
