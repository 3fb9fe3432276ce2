/**
 * Reads and describes a manifest in a separate process: manifests are untrusted text, and a large or hostile one would
 * block everyone else. The process has time and memory limits, no environment and no network use. Tenants take turns,
 * so each can keep it busy only for itself.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import type { ManifestDescription, Place } from '@inlay/protocol/protocol';
import { FairQueue } from '@inlay/schedule/fair-queue';
import { defaultLimits } from '../processes/limits.ts';
import { heapOption } from '../runner/programs.ts';

/** For text that is not a manifest, or one that is too large. The message says what to change. */
export class UnreadableManifest extends Error {
  override readonly name = 'UnreadableManifest';
}

/** Limit for one manifest. */
const usualTimeoutMs = 30_000;
/** A manifest of the largest size twice over: as JSON within JSON, its quotes are escaped. */
const maxAnswerBytes = 64 * 1024 ** 2;
const turns = new FairQueue({ total: 2, perTenant: 2, maxWaiting: 10, elapsed: () => 0 });

interface Program {
  /** The built program of the bundled connectors. */
  connectorsProgram: string;
  /** A file with code for the manifest's own classes. */
  componentsFile?: string;
  /** Limit for one manifest, if different. */
  timeoutMs?: number;
}

/** Throws an UnreadableManifest, or QueueFull if too many manifests of the tenant wait. */
export async function describeManifest(program: Program, tenant: string, text: string): Promise<ManifestDescription> {
  return await turns.run(tenant, async () => {
    const reader = new ManifestReader(program);
    try {
      return await reader.describe(text);
    } finally {
      reader.close();
    }
  });
}

/** Reads one manifest after the other in one process. A manifest that the process does not survive costs only itself. */
export class ManifestReader {
  readonly #program: Program;
  #process: ReadingProcess | undefined;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Throws an UnreadableManifest, also after the time limit. */
  async describe(text: string): Promise<ManifestDescription> {
    this.#process ??= start(this.#program);
    const { child, output, closed } = this.#process;
    child.stdin.write(`${JSON.stringify(text)}\n`);
    const late = setTimeout(() => child.kill('SIGKILL'), this.#program.timeoutMs ?? usualTimeoutMs);
    try {
      const line = await readLine(output, maxAnswerBytes);
      if (line === undefined) {
        this.close();
        throw await closed;
      }
      const answer: ManifestDescription | { refusal: string } = JSON.parse(line);
      if ('refusal' in answer) throw new UnreadableManifest(answer.refusal);
      return answer;
    } finally {
      clearTimeout(late);
    }
  }

  close(): void {
    this.#process?.child.kill('SIGKILL');
    this.#process = undefined;
  }
}

interface ReadingProcess {
  child: ChildProcessWithoutNullStreams;
  output: AsyncIterator<Buffer>;
  /** Why it has ended. */
  closed: Promise<Error>;
}

function start({ connectorsProgram, componentsFile }: Program): ReadingProcess {
  const code = componentsFile === undefined ? [] : ['--components', componentsFile];
  // As connectors have by default: V8 takes the kept code of the program only with the options it was compiled with.
  const args = [heapOption(defaultLimits), connectorsProgram, 'describe-manifests', ...code];
  const child = spawn(process.execPath, args, { stdio: 'pipe', env: {} });
  // Its exit shows why it did not read everything.
  child.stdin.on('error', () => {});
  const closed = Promise.all([once(child, 'close') as Promise<[number | null]>, readAll(child.stderr)]).then(
    ([[exitCode], said]) =>
      exitCode === null || /heap out of memory/.test(said)
        ? new UnreadableManifest('Reading the manifest takes too long or needs too much memory.')
        : new Error(`the manifest reader failed: ${said.slice(-2_000)}`),
  );
  // Callers waiting for an answer are notified.
  closed.catch(() => {});
  return { child, output: child.stdout[Symbol.asyncIterator](), closed };
}

/** Undefined at the end of the output, and for a line beyond the limit. */
async function readLine(output: AsyncIterator<Buffer>, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= limit; ) {
    const { value, done } = await output.next();
    if (done) return undefined;
    chunks.push(value);
    size += value.length;
    // The program writes nothing after the line until it is asked again.
    if (value.at(-1) === newline) return Buffer.concat(chunks).toString('utf8');
  }
  return undefined;
}

const newline = 10;

export function describePlace({ path, message }: Place): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** Undefined if at least one stream can run; else what has to be changed. */
export function refusalOf({ streams, errors }: ManifestDescription): string | undefined {
  if (errors.length === 0 && streams.some((stream) => stream.errors.length === 0)) return undefined;
  const found = [...errors, ...streams.flatMap((stream) => stream.errors)];
  const shown = found.slice(0, maxShown).map(describePlace).join('; ');
  const rest = found.length > maxShown ? `; and ${found.length - maxShown} more` : '';
  return `The manifest has no supported streams. ${shown}${rest}.`;
}

const maxShown = 20;
