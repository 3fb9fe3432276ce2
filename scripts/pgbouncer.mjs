// A throw-away PgBouncer in transaction pooling mode, as operators run it in front of PostgreSQL: a session's state
// does not survive a transaction, prepared statements are not tracked, unknown startup parameters are refused.
//
//   node scripts/pgbouncer.mjs postgres://…      starts one, prints its URL and ends it on Ctrl-C

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endServer, freePort, guardedDirectory, query, startServer } from './disposable.mjs';
import { isMain } from './is-main.mjs';
import { findOrInstall, findProgram, pathFolders } from './programs.mjs';

/**
 * The path of the program.
 * @param {{ install?: boolean }} [options] install: as root on Debian, install the missing package
 */
export async function findPgbouncer({ install = false } = {}) {
  const find = () => findProgram('pgbouncer', [...pathFolders(), '/usr/sbin', '/opt/homebrew/bin', '/usr/local/bin']);
  const program = await findOrInstall(find, { install, packages: ['pgbouncer'] });
  if (program) return program;
  throw new Error(
    'PgBouncer was not found. Install it: "apt-get install pgbouncer" on Debian and Ubuntu, ' +
      '"brew install pgbouncer" on macOS.',
  );
}

/** A value of a connection string in the configuration. @param {string} value */
function quote(value) {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Every database of the server, reached as the user of the URL. @param {URL} server */
function databaseLine(server) {
  const fields = { host: server.hostname, port: server.port || '5432', user: decodeURIComponent(server.username) };
  const password = decodeURIComponent(server.password);
  const all = password ? { ...fields, password } : fields;
  return `* = ${Object.entries(all)
    .map(([name, value]) => `${name}=${quote(value)}`)
    .join(' ')}`;
}

/**
 * @param {string} databaseUrl a PostgreSQL over TCP; its database is the one of the returned URL
 * @returns {Promise<import('./pgbouncer.d.mts').Pgbouncer>}
 */
export async function startPgbouncer(databaseUrl) {
  const program = await findPgbouncer({ install: true });
  const directory = await guardedDirectory('pgbouncer', { pidFile: 'pgbouncer.pid', stopSignal: 'TERM' });
  const configFile = join(directory.path, 'pgbouncer.ini');
  const port = await freePort();
  const url = new URL(databaseUrl);
  const config = `[databases]
${databaseLine(url)}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 20
pidfile = ${directory.path}/pgbouncer.pid
`;

  url.hostname = '127.0.0.1';
  url.port = String(port);
  url.password = '';

  /** @type {import('node:child_process').ChildProcess} */
  let child;
  try {
    // Readable for the unprivileged user; the directory itself is closed to everyone else.
    await writeFile(configFile, config, { mode: 0o644 });
    child = await startServer(program, [configFile], { directory: directory.path, ask: () => query(url.href) });
  } catch (error) {
    await directory.remove();
    throw error;
  }

  return {
    url: url.href,
    async stop() {
      // SIGTERM shuts down at once; SIGINT would wait for clients to finish.
      await endServer(child, 'SIGTERM');
      await directory.remove();
    },
  };
}

if (isMain(import.meta.url)) {
  const databaseUrl = process.argv[2];
  if (!databaseUrl) {
    console.error('Usage: node scripts/pgbouncer.mjs <PostgreSQL URL>');
    process.exit(2);
  }
  const pgbouncer = await startPgbouncer(databaseUrl);
  console.log(pgbouncer.url);
  const stop = () => pgbouncer.stop().then(() => process.exit(0));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  setInterval(() => {}, 2 ** 30);
}
