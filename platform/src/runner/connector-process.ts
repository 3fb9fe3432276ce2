/**
 * One run of a connector command as a child process in its own process group. Configuration, catalog and state are
 * passed on standard input or, for connectors that expect files, as files that only this user can read, in a folder
 * used only by this run.
 *
 * Invariants: once `ended` resolves, the process and everything it started are gone (run-watch.ts), and so is the
 * folder. The same holds shortly after this process has ended, in whatever way (leash.ts). The output is not
 * interpreted here, except for standard error, which is log.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TraceContext } from '@inlay/contract/text/trace-context';
import { makeRunCgroup, removeCgroup } from '../processes/cgroups.ts';
import { findProgram, isFolder } from '../processes/find-program.ts';
import { leashDescriptor, leashed } from '../processes/leash.ts';
import type { ConnectorLimits } from '../processes/limits.ts';
import { connectorMark, markVariable } from '../processes/marked-processes.ts';
import type { RunWatch } from '../processes/run-watch.ts';
import type { Runtime } from '../runtime.ts';
import { JsonText } from './json-members.ts';
import type { ConnectorProgram, ProcessWatch } from './runner.ts';

export interface ProcessSettings {
  /** Parent folder of the folders with connector files. */
  folder: string;
  /** Id of this run of the service: every process carries it, so that a later run of the service can find leftovers. */
  mark: string;
  /** Parent control group of the connectors' own groups; undefined if cgroups are not available. */
  cgroup: string | undefined;
  limits: ConnectorLimits;
  runs: RunWatch;
  /** How long a process that is asked to end now may take before it is killed. */
  graceMs: () => number;
  runtime: Runtime;
  watchProcess?: ProcessWatch | undefined;
}

/** The options of a command and what the file behind each one contains; `credential` only goes by standard input. */
export type CommandFiles = Partial<Record<'config' | 'catalog' | 'state' | 'credential', unknown>>;

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The process could not be started at all. */
  error?: Error;
  /** It was killed because it used too much memory. */
  hasExceededMemory: boolean;
  limits: ConnectorLimits;
}

export interface ConnectorProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. Someone must read or destroy `stdout`. */
  readonly ended: Promise<Ending>;
  /** Asks the whole group to end, and kills it if it does not. */
  stop(): void;
}

/** Longer lines of standard error are cut: a log is for reading. */
const maxErrorLineLength = 8 * 1024;

let started = 0;

export async function startConnector(
  connector: ConnectorProgram,
  command: string,
  files: CommandFiles,
  onErrorLine: (line: string) => void,
  settings: ProcessSettings,
  trace?: TraceContext,
): Promise<ConnectorProcess> {
  const filesDir = connector.handover === 'input' ? undefined : await mkdtemp(join(settings.folder, 'run-'));
  try {
    const options = filesDir ? await writeFiles(filesDir, files) : ['--input'];
    await ownTurn();
    const watched = settings.watchProcess?.({ kind: connector.kind, command, trace });
    const env = { ...connector.env, ...(watched && { TRACEPARENT: watched.traceparent }) };
    const { child, leash, removeRest, mark, cgroup } = launch(
      { ...connector, env },
      [command, ...options],
      filesDir,
      settings,
    );
    // A reader that went away shows in how it ended; without a listener the error would end this process instead.
    child.stdin.on('error', () => {});
    readErrorLines(child.stderr, onErrorLine);
    if (connector.preamble !== undefined) child.stdin.write(`${connector.preamble}\n`);
    if (!filesDir) child.stdin.write(inputLine(files));

    const over = new AbortController();
    let isStopping = false;
    let wasKilled = false;
    function kill(): void {
      wasKilled = true;
      signalGroup(child, 'SIGKILL');
      // A descendant that left the group could keep the pipes open forever.
      for (const stream of [child.stdin, child.stdout, child.stderr, leash]) stream.destroy();
    }
    function stop(): void {
      if (isStopping || over.signal.aborted) return;
      isStopping = true;
      signalGroup(child, 'SIGTERM');
      void settings.runtime.sleep(settings.graceMs(), over.signal).then(() => {
        if (!over.signal.aborted) kill();
      });
    }

    let hasExceededMemory = false;
    const { limits, runs } = settings;
    const onExceeded = () => {
      hasExceededMemory = true;
      kill();
    };
    const endAll =
      child.pid === undefined
        ? async () => cgroup && removeCgroup(cgroup)
        : runs.watch({ pid: child.pid, mark, cgroup, limitBytes: limits.memoryBytes, onExceeded });
    // Nothing waits for descendants of a process that has exited. They may keep its pipes open.
    child.once('exit', () => {
      signalGroup(child, 'SIGKILL');
      leash.destroy();
      void endAll();
    });

    async function ended(): Promise<Ending> {
      const ending = await endingOf(child);
      // For containers, the engine enforces the limit and kills them; the client reports that like a shell would.
      hasExceededMemory ||= connector.removalArgs !== undefined && ending.code === 128 + 9 && !wasKilled;
      over.abort();
      watched?.end(ending);
      await endAll();
      if (wasKilled) await removeRest();
      if (filesDir) await removeFolder(filesDir);
      return { ...ending, hasExceededMemory, limits };
    }
    return { stdin: child.stdin, stdout: child.stdout, ended: ended(), stop };
  } catch (error) {
    if (filesDir) await removeFolder(filesDir);
    throw error;
  }
}

let lastTurn = Promise.resolve();

/**
 * Starting a process blocks the event loop until the process runs, so each start gets its own turn of the loop and
 * other work runs between two starts.
 */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];

function launch(
  connector: ConnectorProgram,
  commandArgs: readonly string[],
  filesDir: string | undefined,
  { folder, mark: serviceMark, limits, runs, cgroup: serviceCgroup }: ProcessSettings,
) {
  const { program, args, removalArgs, workingDir } = connector;
  const ownDir = filesDir ?? folder;
  const cwd = workingDir ?? ownDir;
  const mark = connectorMark(serviceMark, ++started);
  const cgroup = serviceCgroup === undefined ? undefined : makeRunCgroup(serviceCgroup, mark);
  const env: Record<string, string> = { ...connector.env, [markVariable]: mark };
  const programArgs = [...(typeof args === 'function' ? args(ownDir) : args), ...commandArgs];
  const removal = removalArgs && [program, ...removalArgs(ownDir)];
  const found = isFolder(cwd) ? findProgram(program, env.PATH) : undefined;
  // A program or a folder that is not there fails in the usual way, which names what is missing.
  const start = found
    ? leashed(found, programArgs, { mark, folder: filesDir, removal, cgroup, limits })
    : { program: isFolder(cwd) ? program : `${program} in ${cwd}`, args: programArgs };
  const options = { env, detached: true, cwd, stdio };
  runs.prepare();
  const child = spawn(start.program, start.args, options) as ChildProcessWithoutNullStreams;
  // Nothing is sent through this pipe; only whether it is open matters.
  const leash = child.stdio[leashDescriptor] as Duplex;
  leash.on('error', () => {});

  async function removeRest(): Promise<void> {
    if (removalArgs) await endingOf(spawn(program, removalArgs(ownDir), { env, stdio: 'ignore' }));
  }
  return { child, leash, removeRest, mark, cgroup };
}

async function writeFiles(filesDir: string, files: CommandFiles): Promise<string[]> {
  const options: string[] = [];
  for (const [option, content] of Object.entries(files)) {
    const file = join(filesDir, `${option}.json`);
    await writeFile(file, textOf(content), { mode: 0o600 });
    options.push(`--${option}`, file);
  }
  return options;
}

function inputLine(files: CommandFiles): string {
  const members = Object.entries(files).map(([option, content]) => `"${option}":${textOf(content)}`);
  // Between the parts of JSON a space means the same as the end of a line.
  return `{${members.join(',').replaceAll('\n', ' ')}}\n`;
}

function textOf(content: unknown): string {
  return content instanceof JsonText ? content.text : JSON.stringify(content);
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody of the group is left, or nobody whom this user may signal.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** After the process has ended and its pipes are closed. */
function endingOf(child: ChildProcess): Promise<Pick<Ending, 'code' | 'signal' | 'error'>> {
  return new Promise((resolve) => {
    let failed: Error | undefined;
    child.once('error', (error) => {
      failed = error;
    });
    child.once('close', (code, signal) => {
      resolve(failed ? { code: null, signal: null, error: failed } : { code, signal });
    });
  });
}

function readErrorLines(stderr: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stderr.setEncoding('utf8');
  stderr.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxErrorLineLength);
    for (const line of lines) if (line.trim() !== '') onLine(line.slice(0, maxErrorLineLength));
  });
  stderr.on('close', () => {
    if (rest.trim() !== '') onLine(rest);
  });
}
