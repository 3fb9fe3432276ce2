/* Runs a source for a test: its functions within the process, or the built program as the platform would. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Configuration, SourceConnector, Surroundings } from '@inlay/protocol/connector';
import type {
  ConfiguredStream,
  Message,
  State,
  Stream,
  StreamDescriptor,
  StreamReport,
} from '@inlay/protocol/protocol';
import { onTestFinished } from 'vitest';
import { addedText } from './added-text.ts';

const program = fileURLToPath(new URL('../../server/dist/connectors/main.js', import.meta.url));

export const openSurroundings: Surroundings = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-source-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function configuredStream(stream: Stream, sync_mode: ConfiguredStream['sync_mode']): ConfiguredStream {
  const destination_sync_mode = sync_mode === 'incremental' ? 'append' : 'overwrite';
  return { stream, sync_mode, destination_sync_mode, generation_id: 1, minimum_generation_id: 1, sync_id: 1 };
}

export interface ReadOptions {
  syncMode?: ConfiguredStream['sync_mode'];
  state?: State[];
  surroundings?: Surroundings;
}

/** Discovers, then reads everything that was discovered. `events` has one word a message, in order. */
export async function readSource(
  source: SourceConnector,
  configuration: Configuration,
  { syncMode = 'full_refresh', state = [], surroundings = openSurroundings }: ReadOptions = {},
) {
  const { streams } = await source.discover(configuration, surroundings);
  const records: Record<string, Record<string, unknown>[]> = {};
  const states: State[] = [];
  const events: string[] = [];
  const reports: StreamReport[] = [];
  const log: string[] = [];
  const catalog = { streams: streams.map((stream) => configuredStream(stream, syncMode)) };
  const record = ({ name }: StreamDescriptor, data: Record<string, unknown>) => {
    records[name] ??= [];
    records[name].push(data);
    events.push('record');
    return undefined;
  };
  await source.read(
    configuration,
    catalog,
    state,
    {
      record,
      recordOf: (stream, addData) => record(stream, JSON.parse(addedText(addData))),
      state: (one) => {
        states.push(structuredClone(one));
        events.push('state');
        return undefined;
      },
      status: ({ name }, status) => {
        records[name] ??= [];
        events.push(status);
        return undefined;
      },
      report: (report) => {
        reports.push(report);
        return undefined;
      },
      log: (_, message) => void log.push(message),
    },
    surroundings,
  );
  return { streams, records, states, events, reports, log };
}

export interface ProgramOptions {
  configuration?: Configuration;
  streams?: ConfiguredStream[];
  state?: State[];
  surroundings?: Surroundings;
  nodeOptions?: string[];
  /** Output of the program itself. */
  ownOptions?: string[];
}

/** Output that is not a message goes to `rest`. */
export async function runSourceProgram(name: string, command: string, options: ProgramOptions = {}) {
  const { configuration, streams, state, surroundings = openSurroundings, nodeOptions = [], ownOptions = [] } = options;
  const folder = temporaryFolder();
  const file = (option: string, value: unknown) => {
    if (value === undefined) return [];
    writeFileSync(join(folder, option), JSON.stringify(value));
    return [`--${option}`, join(folder, option)];
  };
  const args = [...file('config', configuration), ...file('catalog', streams && { streams }), ...file('state', state)];
  const child = spawn(process.execPath, [...nodeOptions, program, name, ...ownOptions, command, ...args], {
    env: {
      INLAY_READABLE_DIRS: surroundings.readableDirs.join('\n'),
      INLAY_ALLOW_PRIVATE_NETWORKS: String(surroundings.allowPrivateNetworks),
      INLAY_SERVICE_ENDPOINTS: JSON.stringify(surroundings.serviceEndpoints),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  const [output, rest, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  const messages = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message);
  return { messages, rest, exitCode };
}
