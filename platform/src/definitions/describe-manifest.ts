/**
 * Has a manifest read and described by a process of its own: a manifest is a text from elsewhere, and a large or hostile
 * one would hold up everybody else here. The process has limits for its time and memory, no environment and no network use.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import type { ManifestDescription, Place } from '../protocol.ts';
import { defaultLimits } from '../runner/limits.ts';
import { heapOption } from '../runner/programs.ts';

/** A text that is no manifest, or too large a manifest. The message tells the author what to change. */
export class UnreadableManifest extends Error {
  override readonly name = 'UnreadableManifest';
}

export type DescribeManifest = (text: string) => Promise<ManifestDescription>;

const timeoutMs = 30_000;
const maxAtATime = 2;

interface Reader {
  /** The built program of the bundled connectors. */
  connectorsProgram: string;
  /** A file with code for the manifest's own classes. */
  componentsFile?: string;
}

let running = 0;
const waiting: (() => void)[] = [];

/** Throws an UnreadableManifest. */
export async function describeManifest(reader: Reader, text: string): Promise<ManifestDescription> {
  if (running < maxAtATime) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await describe(reader, text);
  } finally {
    // Who waits takes over the place: nobody who comes now is let in beside.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

async function describe({ connectorsProgram, componentsFile }: Reader, text: string): Promise<ManifestDescription> {
  const code = componentsFile === undefined ? [] : ['--components', componentsFile];
  // As connectors have by default: V8 takes the kept code of the program only with the options it was compiled with.
  const args = [heapOption(defaultLimits), connectorsProgram, 'declarative', '--describe', ...code];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {},
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  // How it ended tells why it did not read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  const [[exitCode], output, said] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    readAll(child.stdout),
    readAll(child.stderr),
  ]);
  if (exitCode === null || /heap out of memory/.test(said)) {
    throw new UnreadableManifest('The manifest takes too long or too much memory to read.');
  }
  if (exitCode !== 0) throw new Error(`the program that reads manifests has failed: ${said.slice(-2_000)}`);
  const answer: ManifestDescription | { refusal: string } = JSON.parse(output);
  if ('refusal' in answer) throw new UnreadableManifest(answer.refusal);
  return answer;
}

export function describePlace({ path, message }: Place): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** Undefined if at least one stream can run; else what has to be changed. */
export function refusalOf({ streams, errors }: ManifestDescription): string | undefined {
  if (errors.length === 0 && streams.some((stream) => stream.errors.length === 0)) return undefined;
  const found = [...errors, ...streams.flatMap((stream) => stream.errors)];
  const shown = found.slice(0, maxShown).map(describePlace).join('; ');
  const rest = found.length > maxShown ? `; and ${found.length - maxShown} more` : '';
  return `No stream of the manifest can run. ${shown}${rest}.`;
}

const maxShown = 20;
