// A throw-away PostgreSQL cluster for tests and development. It is fast rather than durable: nothing in it outlives
// the process that started it.
//
//   node scripts/postgres.mjs      starts one, prints its URL and ends it on Ctrl-C

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { chown, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { endServer, freePort, guardedDirectory, query, startServer, unprivilegedUser } from './disposable.mjs';
import { isMain } from './is-main.mjs';
import { findOrInstall, findProgram, pathFolders, withLinkedFolders } from './programs.mjs';

const oldestMajor = 14;

/** Debian keeps the server programs of each major version outside $PATH. */
function debianDirectories() {
  const base = '/usr/lib/postgresql';
  if (!existsSync(base)) return [];
  return readdirSync(base)
    .map(Number)
    .filter((major) => major >= oldestMajor)
    .sort((a, b) => b - a)
    .map((major) => join(base, String(major), 'bin'));
}

function candidates() {
  const homebrew = ['/opt/homebrew/opt', '/usr/local/opt'].flatMap((base) =>
    [18, 17, 16, 15, 14].map((major) => `${base}/postgresql@${major}/bin`),
  );
  return [...pathFolders(), ...debianDirectories(), ...homebrew];
}

/** @type {import('./postgres.d.mts').PostgresProgram[]} */
const serverPrograms = ['initdb', 'postgres'];
/** @type {import('./postgres.d.mts').PostgresProgram[]} */
export const postgresPrograms = [...serverPrograms, 'psql'];

/**
 * Both server programs come from the same folder, so that they have the same version; the others may be anywhere.
 * @param {string[]} directories
 * @returns {import('./postgres.d.mts').PostgresPrograms}
 */
function lookFor(directories) {
  const all = withLinkedFolders(directories, postgresPrograms);
  const server = all.find(
    (folder) =>
      serverPrograms.every((program) => findProgram(program, [folder])) &&
      majorOf(join(folder, 'postgres')) >= oldestMajor,
  );
  const folders = server === undefined ? all : [...withLinkedFolders([server], serverPrograms), ...all];
  const clients = postgresPrograms.filter((program) => !serverPrograms.includes(program));
  /** @type {import('./postgres.d.mts').PostgresPrograms} */
  const found = {};
  for (const program of [...(server === undefined ? [] : serverPrograms), ...clients]) {
    const file = findProgram(program, folders);
    if (file !== undefined) found[program] = file;
  }
  return found;
}

/** @param {string} postgres @returns {number} 0 if it does not say */
function majorOf(postgres) {
  try {
    const text = execFileSync(postgres, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return Number(/(\d+)/.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** @type {typeof import('./postgres.d.mts').findPostgres} */
export async function findPostgres({ install = false, needed = [], directories = candidates, installPackages } = {}) {
  /** @type {import('./postgres.d.mts').PostgresProgram[]} */
  let missing = [];
  const find = () => {
    const found = lookFor(directories());
    missing = [...new Set([...serverPrograms, ...needed])].filter((program) => found[program] === undefined);
    return missing.length === 0 ? found : undefined;
  };
  const found = await findOrInstall(find, {
    install,
    packages: ['postgresql'],
    ...(installPackages && { installPackages }),
  });
  if (found) return found;
  throw new Error(
    `PostgreSQL programs not found (version ${oldestMajor} or newer): ${missing.join(', ')}. ` +
      'Install them: "apt-get install postgresql" on Debian and Ubuntu, "brew install postgresql@17" on macOS.',
  );
}

/**
 * @param {import('./postgres.d.mts').PostgresOptions} [options]
 * @returns {Promise<import('./postgres.d.mts').Postgres>}
 */
export async function startPostgres({ accessRules, tls, settings: more, standbyOf } = {}) {
  const programs = await findPostgres({ install: true });
  const directory = await guardedDirectory('postgres', { pidFile: 'data/postmaster.pid', stopSignal: 'INT' });
  const data = join(directory.path, 'data');
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: directory.path,
    max_connections: 200,
    shared_buffers: '32MB',
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    ...(tls && { ssl: 'on' }),
    ...more,
  };

  /** @param {string} name of another program beside the server @param {string[]} args */
  async function run(name, args) {
    // A folder of links may have the server's program and not the others.
    const program = join(dirname(realpathSync(programs.postgres)), name);
    await promisify(execFile)(program, args, { ...unprivilegedUser(), cwd: directory.path });
  }

  async function initialize() {
    if (standbyOf) return run('pg_basebackup', ['-D', data, '-R', '-X', 'stream', '-c', 'fast', '-d', standbyOf]);
    const locale = process.platform === 'linux' ? 'C.UTF-8' : 'C';
    const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', `--locale=${locale}`, '--no-sync'];
    const context = { ...unprivilegedUser(), cwd: directory.path };
    await promisify(execFile)(programs.initdb, ['-D', data, ...options], context);
    if (accessRules) await write('pg_hba.conf', accessRules);
    if (tls) await Promise.all([write('server.crt', tls.certificate), write('server.key', tls.key)]);
  }

  /** @param {string} name @param {string} content */
  async function write(name, content) {
    const file = join(data, name);
    await writeFile(file, content, { mode: 0o600 });
    const { uid, gid } = unprivilegedUser();
    if (uid !== undefined) await chown(file, uid, gid);
  }

  function start() {
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return startServer(programs.postgres, ['-D', data, ...options], {
      directory: directory.path,
      ask: () => query(url),
    });
  }

  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child;
  try {
    await initialize();
    child = await start();
  } catch (error) {
    await directory.remove();
    throw error;
  }

  return {
    url,
    get pid() {
      return child?.pid;
    },
    async restart(whileDown) {
      if (child) await endServer(child, 'SIGINT');
      await whileDown?.({ data, run });
      child = await start();
    },
    async stop() {
      // SIGINT is PostgreSQL's fast shutdown: it ends open sessions instead of waiting for them.
      if (child) await endServer(child, 'SIGINT');
      child = undefined;
      await directory.remove();
    },
  };
}

if (isMain(import.meta.url)) {
  const postgres = await startPostgres();
  console.log(postgres.url);
  const stop = () => postgres.stop().then(() => process.exit(0));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  // Nothing else keeps the process alive: the server is detached.
  setInterval(() => {}, 2 ** 30);
}
