/*
 * Opens connections to a PostgreSQL that a customer named. The name is resolved once, the address is checked, and that
 * very address is connected to; certificates are verified against the name. No session waits forever: connecting,
 * waiting for locks, statements and pauses within a transaction all end. Whatever fails comes out as a ConnectorError
 * when its reader can do something about it.
 *
 * Settings apply per transaction instead of per session, so that they also work behind a pooler.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { reachableAddress } from '@inlay/guard/addresses';
import { blaming, ConnectorError, type Surroundings } from '@inlay/protocol/connector';
import pg from 'pg';
import { explainFailure, isEncryptionRefused } from './failures.ts';
import { limitMessages } from './message-limit.ts';
import type { Server } from './server.ts';

const connectTimeoutMs = 10_000;
/** A dead peer is noticed by the operating system a few minutes after this much silence. */
const keepAliveDelayMs = 30_000;

/** Connects, does the work and disconnects, explaining every failure on the way. */
export async function withConnection<T>(
  server: Server,
  surroundings: Surroundings,
  work: (client: pg.Client) => Promise<T>,
  timeoutMs = connectTimeoutMs,
): Promise<T> {
  const address = await blaming(['host', 'port'], () => reachableAddress(server, surroundings));
  try {
    const client = await connect(server, address, timeoutMs);
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explainFailure(error, server);
  }
}

async function connect(server: Server, address: string, timeoutMs: number): Promise<pg.Client> {
  if (server.encryption !== 'prefer') return open(server, address, timeoutMs, server.encryption !== 'disable');
  try {
    return await open(server, address, timeoutMs, true);
  } catch (error) {
    if (!isEncryptionRefused(error)) throw error;
    return open(server, address, timeoutMs, false);
  }
}

async function open(server: Server, address: string, timeoutMs: number, isEncrypted: boolean): Promise<pg.Client> {
  const client = new pg.Client({
    host: address,
    port: server.port,
    database: server.database,
    user: server.username,
    password: server.password,
    ssl: isEncrypted && tlsOptions(server),
    application_name: 'inlay',
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
  });
  // A connection that is lost between two statements fails the next one; without a listener it would end the process.
  client.on('error', () => {});
  limitMessages(client);
  await client.connect();
  return client;
}

function tlsOptions({ host, encryption, caCertificate }: Server): ConnectionOptions {
  if (caCertificate !== undefined) assertCertificate(caCertificate);
  return {
    rejectUnauthorized: encryption === 'verify-full',
    ...(caCertificate && { ca: caCertificate }),
    // A server name may not be an address; the certificate is then compared with the address that is connected to.
    ...(!isIP(host) && { servername: host }),
  };
}

/** TLS itself ignores an invalid certificate, and the failure would then be blamed on the server. */
function assertCertificate(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch (cause) {
    const advice = 'Paste it in PEM format, including the BEGIN and END lines.';
    throw new ConnectorError(`The CA certificate is not valid. ${advice}`, {
      cause,
      fields: ['ssl_mode.ca_certificate'],
    });
  }
}

interface TransactionOptions {
  /** What reads see: a single snapshot (`snapshot`), or the time of each statement. */
  view?: 'snapshot' | 'latest';
  statementTimeoutMs: number;
  /** The statements that end the transaction, in one message to the server. `rollback`: the work is only tried. */
  end?: string;
}

/** Values are written the same way whatever the server's own settings are. */
const textFormats = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'iso_8601',
  bytea_output: 'hex',
  extra_float_digits: '1',
};

/**
 * A state is confirmed when its records are committed, so a commit must survive a crash of the server, even if its
 * owner traded that for speed. Stricter settings are kept.
 */
const durableCommit = `set_config('synchronous_commit', case current_setting('synchronous_commit')
  when 'off' then 'on' else current_setting('synchronous_commit') end, true)`;

const lockTimeoutMs = 60_000;
/** The other connector of a sync may be slow. The platform ends a connector that has stopped, and does so before this time. */
const idleTimeoutMs = 7_200_000;

export async function inTransaction<T>(
  client: pg.Client,
  { view = 'latest', statementTimeoutMs, end = 'commit' }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
  await client.query(view === 'snapshot' ? 'begin isolation level repeatable read read only' : 'begin');
  try {
    const settings = Object.entries({
      ...textFormats,
      statement_timeout: String(statementTimeoutMs),
      lock_timeout: String(lockTimeoutMs),
      idle_in_transaction_session_timeout: String(idleTimeoutMs),
    });
    const list = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`);
    list.push(durableCommit);
    await client.query(`select ${list.join(', ')}`);
    const result = await work();
    await client.query(end);
    return result;
  } catch (error) {
    // The first error gives the reason; a rollback fails only if the connection, and so the transaction, is gone.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
