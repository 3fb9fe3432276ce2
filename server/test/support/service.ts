// The product as a real process, for tests of what only a process shows: start, shutdown, crash, the command line.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { freePort } from '../../../scripts/disposable.mjs';

const product = fileURLToPath(new URL('../../bin/inlay.js', import.meta.url));
/** Generous: a machine may be busy with other tests. */
const readyDeadlineMs = 180_000;
const exitDeadlineMs = 180_000;

type Environment = Readonly<Record<string, string | undefined>>;
type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Everything written to standard output and standard error so far. */
  output(): string;
  /** Signals the process and waits for its end; null if the signal killed it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** SIGKILL, as a crash would be. */
  kill(): Promise<void>;
  readonly exited: Promise<Exit>;
  /**
   * Sends a message to a program that listens to its parent, and waits until the program confirms it. False if the
   * program has ended before.
   */
  tell(message: object): Promise<boolean>;
}

// A test that fails half-way must not leave a process behind.
const running = new Set<Child>();
const killAll = () => {
  for (const child of running) child.kill('SIGKILL');
};
process.once('exit', killAll);
afterAll(killAll);

/** Starts the service, or the bundled platform alone, on a free loopback port and resolves once it can be used. */
export async function startService(options: {
  env?: Environment;
  command?: 'start' | 'platform';
  dataDir: string;
  port?: number;
  /** Another program than the product, which takes messages. */
  program?: string;
}): Promise<Service> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const command = options.command ?? 'start';
  const { child, exited } = launch([command], {
    cwd: options.dataDir,
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      INLAY_DATA_DIR: options.dataDir,
      // No rate limits: how often a test must ask until something is done depends on the machine.
      INLAY_RATE_LIMIT_PER_MINUTE: '0',
      ...options.env,
    },
    ...(options.program === undefined ? {} : { program: options.program }),
  });
  let output = '';
  const collect = (chunk: string) => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  child.stdin.end();

  async function end(signal: NodeJS.Signals): Promise<Exit> {
    child.kill(signal);
    const exit = await Promise.race([exited, delay(exitDeadlineMs, undefined, { ref: false })]);
    if (exit) return exit;
    child.kill('SIGKILL');
    throw new Error(`The service did not end within ${exitDeadlineMs} ms of ${signal}.\n${output}`);
  }

  await waitUntilReady(`${url}${command === 'start' ? '/health/ready' : '/platform/v1/'}`, {
    exited,
    output: () => output,
  }).catch(async (error) => {
    await end('SIGKILL');
    throw error;
  });

  return {
    url,
    port,
    pid: child.pid as number,
    output: () => output,
    exited,
    async tell(message) {
      const understood = once(child, 'message').then(() => true);
      // An error means that the program has ended, which `exited` reports.
      child.send(message, () => {});
      return await Promise.race([understood, exited.then(() => false)]);
    },
    async stop(signal = 'SIGTERM') {
      return (await end(signal)).code;
    },
    async kill() {
      await end('SIGKILL');
    },
  };
}

/** Runs one command to its end. */
export async function runCli(
  args: readonly string[],
  { env = {}, input = '', program }: { env?: Environment; input?: string; program?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  // An empty directory of its own, so that the default data directory never lands in the repository.
  const cwd = await mkdtemp(join(tmpdir(), 'inlay-cli-'));
  const { child, exited } = launch(args, { cwd, env, ...(program !== undefined && { program }) });
  const deadline = setTimeout(() => child.kill('SIGKILL'), exitDeadlineMs);
  // A command that does not read its input may close the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [stdout, stderr, { code }] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(deadline);
    await rm(cwd, { recursive: true, force: true });
  }
}

type Command = [program: string, args: string[]];

/** A command that runs until it is stopped. `place`: what starts it on another machine. */
export function launch(
  args: readonly string[],
  {
    cwd,
    env,
    program,
    place = (...command) => command,
  }: { cwd: string; env: Environment; program?: string; place?: (...command: Command) => Command },
) {
  // Only these two are inherited: a developer's INLAY_* settings must not change what a test sees.
  const base = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(...place(process.execPath, [program ?? product, ...args]), {
    cwd,
    env: { ...base, ...env },
    stdio: ['pipe', 'pipe', 'pipe', ...(program === undefined ? [] : ['ipc' as const])],
  }) as Child;
  running.add(child);
  const closed = once(child, 'close');
  const exited: Promise<Exit> = once(child, 'exit').then(async ([code, signal]) => {
    running.delete(child);
    // The last output arrives with 'close'. A grandchild that outlived a crash may hold the pipes open, so the wait is
    // limited.
    await Promise.race([closed, delay(1_000, undefined, { ref: false })]);
    return { code, signal };
  });
  return { child, exited };
}

async function waitUntilReady(url: string, service: { exited: Promise<Exit>; output(): string }): Promise<void> {
  let exit: Exit | undefined;
  void service.exited.then((value) => {
    exit = value;
  });
  const deadline = performance.now() + readyDeadlineMs;
  for (;;) {
    if (await isReady(url)) return;
    if (exit) {
      throw new Error(`The service ended with ${exit.code ?? exit.signal} before it was ready.\n${service.output()}`);
    }
    if (performance.now() > deadline) {
      throw new Error(`The service was not ready within ${readyDeadlineMs} ms.\n${service.output()}`);
    }
    await delay(100);
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    // A platform that runs alone shows nothing without a token. Its refusal proves that it answers.
    return response.status === 200 || response.status === 401;
  } catch {
    return false;
  }
}

async function text(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream.setEncoding('utf8')) all += chunk;
  return all;
}
