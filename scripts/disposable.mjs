// What throw-away servers for tests have in common: a private directory, an unprivileged user, a free port, and a guard
// that cleans up when this process dies.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { chown, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const isRoot = process.getuid?.() === 0;
/** The same for all programs of this machine, whatever their $TMPDIR is. */
const commonFolder = existsSync('/tmp') ? '/tmp' : tmpdir();

/** Database servers refuse to run as root; everyone else runs them under their own name. */
export function unprivilegedUser() {
  if (!isRoot) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].map((name) => accounts.find(([login]) => login === name)).find(Boolean);
  if (!account) throw new Error('Neither a user "postgres" nor a user "nobody" exists to run a test server under.');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

/** Long enough for a server to start on a busy machine. */
const claimMs = 120_000;

/**
 * Ports below the ephemeral range: the system does not hand them to outgoing connections, so a port that is free now
 * is still free when the server binds it a moment later. Tests that run side by side, in this run or in another, do not
 * get the same port: a file claims it until its server has had the time to bind it.
 */
export async function freePort() {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (claim(port) && (await canListen(port))) return port;
  }
  throw new Error('No free port was found between 10000 and 32000.');
}

/** @param {number} port @returns {boolean} whether nobody else has claimed it lately */
function claim(port) {
  const folder = join(commonFolder, `inlay-ports-${process.getuid?.() ?? ''}`);
  const file = join(folder, String(port));
  mkdirSync(folder, { recursive: true });
  const claimedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (claimedAt !== undefined && Date.now() - claimedAt < claimMs) return false;
  rmSync(file, { force: true });
  try {
    closeSync(openSync(file, 'wx'));
    return true;
  } catch {
    return false;
  }
}

/** @param {number} port @returns {Promise<boolean>} */
function canListen(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

// `read` fails only at the end of the pipe, when the parent is gone; a line means that the parent has cleaned up
// itself. The command line is compared because the number in an old pid file may belong to another process by now.
const guardScript = `
read -r _ && exit 0
pid=$(head -n 1 "$2" 2>/dev/null)
ours() {
  { tr '\\0' ' ' < "/proc/$pid/cmdline" || ps -p "$pid" -o args=; } 2>/dev/null | grep -qF "$1/"
}
if [ -n "$pid" ] && ours "$1"; then
  kill -s "$3" "$pid"
  for _ in $(seq 100); do ours "$1" || break; sleep 0.1; done
  ours "$1" && kill -s KILL "$pid"
fi
rm -rf "$1"
`;

/**
 * A new private directory, owned by the unprivileged user. If this process dies without `remove()`, even by SIGKILL,
 * the server named in the pid file is ended and the directory removed.
 *
 * @param {string} name
 * @param {{ pidFile: string, stopSignal: 'INT' | 'TERM' }} server pid file, relative to the directory
 */
export async function guardedDirectory(name, { pidFile, stopSignal }) {
  // Not $TMPDIR: it may be closed to the unprivileged user, and a socket's path must stay under about 100 characters.
  // `npm run check` names a folder that is open to that user.
  const base = process.env.INLAY_TEST_SERVERS_DIR ?? commonFolder;
  const path = await mkdtemp(join(base, `inlay-${name}-`));
  const user = unprivilegedUser();
  if (user.uid !== undefined) await chown(path, user.uid, user.gid);

  // Detached: Ctrl-C reaches the whole foreground group and must not take the guard with it.
  const guard = spawn('sh', ['-c', guardScript, 'guard', path, join(path, pidFile), stopSignal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  guard.unref();
  // @ts-expect-error: a child's stdin is a socket, which can be unreferenced; its declared type does not say so.
  guard.stdin.unref();

  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      if (guard.exitCode === null) {
        const exited = once(guard, 'exit');
        guard.ref();
        guard.stdin.end('removed\n');
        await exited;
      }
    },
  };
}

/**
 * Starts a server in its guarded directory and resolves once it answers.
 * @param {string} program
 * @param {string[]} args
 * @param {{ directory: string, ask: () => Promise<void> }} how `ask` throws if there is no answer
 */
export async function startServer(program, args, { directory, ask }) {
  const logFile = join(directory, 'server.log');
  const log = await open(logFile, 'a');
  // Detached: Ctrl-C in a terminal ends the tests first; the server follows when they are done or gone.
  const child = spawn(program, args, {
    ...unprivilegedUser(),
    cwd: directory,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  await once(child, 'spawn').finally(() => log.close());
  child.unref();
  try {
    await waitUntilAnswering(ask, child);
    return child;
  } catch (error) {
    await endServer(child, 'SIGINT');
    const output = await readFile(logFile, 'utf8');
    throw new Error(`${program} did not start.\n${output.slice(-4_000)}`, { cause: error });
  }
}

/**
 * Signals a server and waits for its end, by SIGKILL if it takes too long.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
export async function endServer(child, signal) {
  if (hasExited(child)) return;
  const exited = once(child, 'exit');
  child.ref();
  child.kill(signal);
  const lastResort = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(lastResort);
}

/** @param {import('node:child_process').ChildProcess} child */
function hasExited(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/** @param {() => Promise<void>} ask @param {import('node:child_process').ChildProcess} child */
async function waitUntilAnswering(ask, child) {
  const deadline = performance.now() + 120_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (hasExited(child) || performance.now() > deadline) throw error;
    }
    await delay(25);
  }
}

/** One query at the URL of a database. @param {string} url */
export async function query(url) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A server that is still starting may drop the connection after the attempt has already failed.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end().catch(() => {});
  }
}
