/* A separate PostgreSQL database for a test of the PostgreSQL connectors, and the connectors run on it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Configuration, DestinationInput, Emitter, Surroundings } from '@inlay/protocol/connector';
import { parseJson, stringifyJson } from '@inlay/protocol/json';
import {
  type ConfiguredCatalog,
  type ConfiguredStream,
  type Message,
  type State,
  type Stream,
  type StreamDescriptor,
  type StreamHolding,
  type StreamReport,
  streamHoldingType,
  streamReportType,
} from '@inlay/protocol/protocol';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { connector as destination } from '../src/destination-postgres/destination-postgres.ts';
import { connector as source } from '../src/source-postgres/source-postgres.ts';
import { addedText } from './added-text.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL on which the tests may create databases. */
    postgresUrl: string;
  }
}

export const surroundings: Surroundings = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};

export interface TestDatabase {
  /** A superuser's one connection, made again when it is lost. */
  client: pg.Pool;
  /** Configuration for a connector, as the superuser. */
  config: Configuration;
  query<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
}

/** Ends with the test. */
export async function createDatabase(serverUrl: string = inject('postgresUrl')): Promise<TestDatabase> {
  const name = `inlay_connector_${randomBytes(6).toString('hex')}`;
  const administer = async (statement: string) => {
    const administrator = new pg.Client({ connectionString: serverUrl });
    await administrator.connect();
    await administrator.query(statement).finally(() => administrator.end());
  };
  await administer(`create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const client = new pg.Pool({ connectionString: url.href, max: 1, idleTimeoutMillis: 0 });
  // A test may end every session of the server.
  client.on('error', () => {});
  onTestFinished(async () => {
    await client.end();
    await administer(`drop database ${name} with (force)`);
  });
  return {
    client,
    config: {
      host: url.hostname,
      port: Number(url.port),
      database: name,
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      ssl_mode: { mode: 'disable' },
    },
    query: async (text, values) => (await client.query(text, values)).rows,
  };
}

export type Emitted = Extract<Message, { type: 'RECORD' | 'STATE' | 'TRACE' | 'LOG' }>;

export function collectingEmitter(): { emitter: Emitter; messages: Emitted[] } {
  const messages: Emitted[] = [];
  const now = Date.now();
  const add = (message: Emitted) => {
    messages.push(message);
    return undefined;
  };
  const recordText = ({ name, namespace }: StreamDescriptor, text: string) =>
    add({
      type: 'RECORD',
      record: {
        stream: name,
        ...(namespace !== undefined && { namespace }),
        data: parseJson(text) as Record<string, unknown>,
        emitted_at: now,
      },
    });
  return {
    messages,
    emitter: {
      // As it arrives on the other side of a pipe.
      record: (stream, data) => recordText(stream, stringifyJson(data)),
      recordOf: (stream, addData) => recordText(stream, addedText(addData)),
      state: (state) => add({ type: 'STATE', state }),
      status: (stream, status) =>
        add({
          type: 'TRACE',
          trace: { type: 'STREAM_STATUS', emitted_at: now, stream_status: { stream_descriptor: stream, status } },
        }),
      report: (report) =>
        add({
          type: 'TRACE',
          trace: {
            type: 'ANALYTICS',
            emitted_at: now,
            analytics: { type: streamReportType, value: JSON.stringify(report) },
          },
        }),
      holding: (holding) =>
        add({
          type: 'TRACE',
          trace: {
            type: 'ANALYTICS',
            emitted_at: now,
            analytics: { type: streamHoldingType, value: JSON.stringify(holding) },
          },
        }),
      log: (level, message) => add({ type: 'LOG', log: { level, message } }),
    },
  };
}

export function configure(stream: Stream, more: Partial<ConfiguredStream> = {}): ConfiguredStream {
  return {
    stream,
    sync_mode: 'full_refresh',
    destination_sync_mode: 'append',
    generation_id: 0,
    minimum_generation_id: 0,
    sync_id: 1,
    ...more,
  };
}

export async function discoverStream(config: Configuration, name: string): Promise<Stream> {
  const { streams } = await source.discover(config, surroundings);
  const stream = streams.find((known) => known.name === name);
  if (!stream) throw new Error(`There is no stream ${name} among ${streams.map((known) => known.name).join(', ')}.`);
  return stream;
}

export async function read(config: Configuration, streams: ConfiguredStream[], state: State[] = []) {
  const { emitter, messages } = collectingEmitter();
  await source.read(config, { streams }, state, emitter, surroundings);
  return summarize(messages);
}

export function summarize(messages: Emitted[]) {
  return {
    messages,
    records: messages.flatMap((message) => (message.type === 'RECORD' ? [message.record.data] : [])),
    states: messages.flatMap((message) => (message.type === 'STATE' ? [message.state] : [])),
    statuses: messages.flatMap((message) =>
      message.type === 'TRACE' && message.trace.stream_status
        ? [`${message.trace.stream_status.stream_descriptor.name} ${message.trace.stream_status.status}`]
        : [],
    ),
  };
}

/** Input of a destination: records of one stream, and its COMPLETE unless omitted. */
export function input(
  stream: StreamDescriptor,
  records: Record<string, unknown>[],
  { isComplete = true, state }: { isComplete?: boolean; state?: State } = {},
): DestinationInput[] {
  const { name, namespace } = stream;
  const place = namespace === undefined ? {} : { namespace };
  return [
    ...records.map(
      (data): DestinationInput => ({ type: 'RECORD', record: { stream: name, ...place, data, emitted_at: 1e12 } }),
    ),
    ...(state ? [{ type: 'STATE' as const, state }] : []),
    ...(isComplete ? [complete(stream)] : []),
  ];
}

export function complete({ name, namespace }: StreamDescriptor): DestinationInput {
  const descriptor = namespace === undefined ? { name } : { name, namespace };
  return {
    type: 'TRACE',
    trace: {
      type: 'STREAM_STATUS',
      emitted_at: 1e12,
      stream_status: { stream_descriptor: descriptor, status: 'COMPLETE' },
    },
  };
}

/** Returns the states that were passed on. */
export async function write(
  config: Configuration,
  streams: ConfiguredStream[],
  messages: DestinationInput[] | AsyncIterable<DestinationInput[]>,
): Promise<State[]> {
  return (await writeAndReport(config, streams, messages)).states;
}

/** The same, with the destination's report for each stream, and the failure if it fails. */
export async function tryToWrite(...run: Parameters<typeof write>) {
  const { emitter, messages: emitted } = collectingEmitter();
  const [config, streams, messages] = run;
  const batches = Array.isArray(messages) ? [messages] : messages;
  const failure = await destination.write(config, { streams }, toAsync(batches), emitter, surroundings).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return {
    failure,
    states: summarize(emitted).states,
    reports: toldIn<StreamReport>(emitted, streamReportType),
    holdings: toldIn<StreamHolding>(emitted, streamHoldingType),
  };
}

function toldIn<T>(messages: Emitted[], type: string): T[] {
  return messages.flatMap((message) => {
    const analytics = message.type === 'TRACE' ? message.trace.analytics : undefined;
    return analytics?.type === type ? [JSON.parse(analytics.value ?? '') as T] : [];
  });
}

export async function writeAndReport(...run: Parameters<typeof write>) {
  const { failure, ...result } = await tryToWrite(...run);
  if (failure !== undefined) throw failure;
  return result;
}

async function* toAsync<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items;
}

export interface ProgramFiles {
  config: Configuration;
  catalog?: ConfiguredCatalog;
  state?: State[];
}

export interface Program {
  child: ChildProcessWithoutNullStreams;
  /** What it says, as it says it. */
  messages: AsyncIterable<Message>;
  exitCode: Promise<number | null>;
}

const main = fileURLToPath(new URL('../../server/dist/connectors/main.js', import.meta.url));

/** The connector as the program that the platform runs. */
export function startProgram(name: string, command: string, files: ProgramFiles, nodeOptions: string[] = []): Program {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-connector-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = Object.entries(files).flatMap(([option, content]) => {
    const file = join(folder, `${option}.json`);
    writeFileSync(file, JSON.stringify(content));
    return [`--${option}`, file];
  });
  const child = spawn(process.execPath, [...nodeOptions, main, name, command, ...options], {
    env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' },
  });
  child.stderr.pipe(process.stderr);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    messages: parseLines(child),
    exitCode: once(child, 'exit').then(([code]) => code as number | null),
  };
}

async function* parseLines(child: ChildProcessWithoutNullStreams): AsyncGenerator<Message> {
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Message;
}

/**
 * The program reads a stream; after each state it is killed and resumes from that state. Returns the ids of all records
 * covered by a state, in order, and how often the program was killed.
 */
export async function readWithKills({ config }: TestDatabase, stream: ConfiguredStream, records: number) {
  const covered: number[] = [];
  let state: State[] = [];
  let kills = 0;
  for (let isKilled = true; isKilled; ) {
    isKilled = false;
    const program = startProgram('source-postgres', 'read', { config, catalog: { streams: [stream] }, state });
    const uncovered: number[] = [];
    for await (const message of program.messages) {
      if (message.type === 'RECORD') uncovered.push(message.record.data.id as number);
      if (message.type !== 'STATE') continue;
      covered.push(...uncovered.splice(0));
      state = [message.state];
      isKilled = covered.length < records;
      if (isKilled) break;
    }
    if (isKilled) kills += Number(program.child.kill('SIGKILL'));
    await program.exitCode;
  }
  return { ids: covered.sort((a, b) => a - b), kills };
}
