import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Configuration } from '@inlay/protocol/connector';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Postgres } from '../../../scripts/postgres.d.mts';
import { startPostgres } from '../../../scripts/postgres.mjs';
import { createDatabase, surroundings } from '../../test/postgres.ts';
import { connector as destination } from '../destination-postgres/destination-postgres.ts';
import { connector as source } from '../source-postgres/source-postgres.ts';
import { withConnection } from './connection.ts';
import { readServer } from './server.ts';

const password = 'the-password-of-the-test';
let server: Postgres;
let certificate: string;
let config: Configuration;

/** For the name localhost; without other files, the authority that signed it. */
async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-certificate-'));
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', keyFile, '-out', certificateFile];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    ...files,
  ]);
  const [key, certificate] = await Promise.all([readFile(keyFile, 'utf8'), readFile(certificateFile, 'utf8')]);
  await rm(folder, { recursive: true });
  return { key, certificate };
}

beforeAll(async () => {
  const tls = await makeCertificate();
  certificate = tls.certificate;
  const accessRules = ['127.0.0.1/32', '::1/128']
    .flatMap((address) => [
      `host all postgres ${address} trust`,
      `hostssl all tls_only ${address} scram-sha-256`,
      `hostnossl all plain_only ${address} scram-sha-256`,
      `host all reader,stranger,limited ${address} scram-sha-256`,
    ])
    .join('\n');
  server = await startPostgres({ tls, accessRules, settings: { listen_addresses: 'localhost' } });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const roles = ['reader', 'tls_only', 'plain_only', 'stranger', 'limited'];
  await client.query(roles.map((role) => `create role ${role} login password '${password}'`).join('; '));
  await client.query(`
    create table t (id int); grant select on t to reader, tls_only, plain_only;
    grant create on schema public to reader;
    create schema closed; create table closed.t (id int);
    create schema bare; grant usage on schema bare to reader;
    alter role limited connection limit 0;
    revoke temporary on database postgres from public; grant temporary on database postgres to reader;
    grant create on schema public to stranger;
  `);
  await client.end();
  const { hostname, port } = new URL(server.url);
  config = { host: hostname, port: Number(port), database: 'postgres', username: 'reader', password };
});

afterAll(() => server.stop());

const sourceCheck = (more: Configuration = {}) => source.check({ ...config, ...more }, surroundings);
const destinationCheck = (more: Configuration = {}) => destination.check({ ...config, ...more }, surroundings);

async function messageOf(check: Promise<unknown>): Promise<string> {
  const error = await check.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ name: 'ConnectorError' });
  expect(`${error.message} ${error.stack}`).not.toContain(password);
  return error.message;
}

async function listen(answer: (server: NetServer) => NetServer): Promise<number> {
  const listener = answer(createServer());
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  onTestFinished(() => void listener.close());
  const address = listener.address();
  return typeof address === 'object' && address ? address.port : 0;
}

describe('a check that succeeds', () => {
  it.each([
    ['disable', 'reader', '127.0.0.1'],
    ['prefer', 'reader', '127.0.0.1'],
    ['prefer', 'tls_only', '127.0.0.1'],
    ['prefer', 'plain_only', '127.0.0.1'],
    ['require', 'tls_only', 'localhost'],
    ['require', 'tls_only', '127.0.0.1'],
  ])('needs no more than "%s" for the user %s at %s', async (mode, username, host) => {
    await sourceCheck({ host, username, ssl_mode: { mode } });
  });

  it('verifies the server by its name', async () => {
    await sourceCheck({ host: 'localhost', ssl_mode: { mode: 'verify-full', ca_certificate: certificate } });
    await destinationCheck({ host: 'localhost', ssl_mode: { mode: 'verify-full', ca_certificate: certificate } });
  });

  it('leaves nothing behind', async () => {
    const database = await createDatabase();
    await destination.check({ ...database.config, schema: 'not there yet' }, surroundings);
    expect(await database.query(`select from pg_namespace where nspname = 'not there yet'`)).toEqual([]);
    expect(await database.query(`select from pg_class where relname like '\\_inlay%'`)).toEqual([]);
  });

  it('works without encryption where the server has none to offer', async () => {
    const database = await createDatabase();
    await database.client.query('create table t (id int)');
    await source.check({ ...database.config, ssl_mode: { mode: 'prefer' } }, surroundings);
    const { ssl_mode: _, ...defaults } = database.config;
    await source.check(defaults, surroundings);
  });
});

describe('a check that fails says what to fix:', () => {
  it.each<[string, Configuration, string]>([
    ['the host', { host: 'no-such-host.invalid' }, 'Unknown host no-such-host.invalid. Check its spelling.'],
    ['the port', { port: 1 }, '127.0.0.1:1 refused the connection. Check the port'],
    ['the password', { password: 'another' }, 'Wrong password for the user reader'],
    ['a missing password', { password: '' }, 'The server requires a password for the user reader. Enter one.'],
    ['the user', { username: 'nobody' }, 'The server rejected the user nobody'],
    ['the database', { database: 'missing' }, 'The database missing does not exist on this server.'],
    ['too many sessions', { username: 'limited' }, 'The server has reached its connection limit'],
    [
      'encryption that the server wants',
      { username: 'tls_only', ssl_mode: { mode: 'disable' } },
      'The server accepts the user tls_only only over an encrypted connection. Choose "require".',
    ],
    [
      'encryption that the server does not want',
      { username: 'plain_only', ssl_mode: { mode: 'require' } },
      'The server accepts the user plain_only only without encryption.',
    ],
    [
      'a certificate of an unknown authority',
      { host: 'localhost', ssl_mode: { mode: 'verify-full' } },
      'The certificate of localhost is not signed by a trusted certificate authority. Enter the CA certificate',
    ],
    [
      'a CA certificate that is none',
      { host: 'localhost', ssl_mode: { mode: 'verify-full', ca_certificate: 'hello' } },
      'The CA certificate is not valid.',
    ],
    ['a schema that is not there', { schemas: ['public', 'missing'] }, 'The schema missing does not exist'],
    ['a schema that may not be used', { schemas: ['closed'] }, 'Run: grant usage on schema "closed" to "reader"'],
    ['a schema without a table', { schemas: ['bare'] }, 'run: grant select on all tables in schema "bare" to "reader"'],
    [
      'tables that may not be read',
      { username: 'stranger' },
      'The schema public has no table that the user stranger can read.',
    ],
  ])('%s', async (_, more, message) => {
    expect(await messageOf(sourceCheck(more))).toContain(message);
  });

  it('a certificate for another name', async () => {
    const ssl_mode = { mode: 'verify-full', ca_certificate: certificate };
    expect(await messageOf(sourceCheck({ ssl_mode }))).toContain('not valid for 127.0.0.1');
  });

  it('encryption that the server does not offer', async () => {
    const database = await createDatabase();
    const check = source.check({ ...database.config, ssl_mode: { mode: 'require' } }, surroundings);
    expect(await messageOf(check)).toContain('Enable TLS');
  });

  it('something that is not PostgreSQL', async () => {
    const port = await listen((listener) => listener.on('connection', (socket) => socket.end('HTTP/1.1 400\r\n\r\n')));
    expect(await messageOf(sourceCheck({ port }))).toContain(`127.0.0.1:${port} is not PostgreSQL`);
  });

  it.each(['disable', 'require'])('a server that does not respond (%s)', async (mode) => {
    const port = await listen((listener) =>
      listener.on('connection', (socket) => onTestFinished(() => void socket.destroy())),
    );
    const silent = readServer({ ...config, port, ssl_mode: { mode } });
    const attempt = withConnection(silent, surroundings, async () => {}, 300);
    expect(await messageOf(attempt)).toContain(`127.0.0.1:${port} timed out`);
  });

  it('an address that may not be reached', async () => {
    const check = source.check(config, { ...surroundings, allowPrivateNetworks: false });
    expect(await messageOf(check)).toContain('127.0.0.1 is not on');
  });

  it('the service itself, even where private networks are allowed', async () => {
    let connections = 0;
    const port = await listen((listener) => listener.on('connection', () => connections++));
    const serviceEndpoints = [{ host: 'localhost', port }];
    const check = source.check({ ...config, port }, { ...surroundings, serviceEndpoints });
    expect(await messageOf(check)).toContain(`port ${port} is Inlay`);
    expect(connections).toBe(0);
  });

  it.each<[string, Configuration, string]>([
    ['a schema that may not be created', { schema: 'mine' }, 'Run: create schema "mine" authorization "reader"'],
    ['a schema without room for tables', { schema: 'bare' }, 'Run: grant usage, create on schema "bare" to "reader"'],
    ['temporary tables', { username: 'stranger' }, 'Run: grant temporary on database "postgres" to "stranger"'],
  ])('%s', async (_, more, message) => {
    expect(await messageOf(destinationCheck(more))).toContain(message);
  });

  it('a database that is read-only', async () => {
    const database = await createDatabase();
    await database.client.query(`alter database ${database.config.database} set default_transaction_read_only = on`);
    expect(await messageOf(destination.check(database.config, surroundings))).toContain('is read-only.');
  });
});
