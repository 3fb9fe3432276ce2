/* What the tests of the runner and of the bundled connectors run: real programs, in folders that go away. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfiguredCatalog, ConfiguredStream, State } from '@inlay/protocol/protocol';
import { onTestFinished } from 'vitest';
import { bundledDefinitions } from '../src/definitions/bundled-definitions.ts';
import { createRunner, type RunnerOptions } from '../src/runner/create-runner.ts';
import { connectorProgram } from '../src/runner/programs.ts';
import type {
  ConfiguredConnector,
  ConnectorProgram,
  JobLog,
  Runner,
  SyncOutcome,
  SyncRequest,
} from '../src/runner/runner.ts';
import { systemRuntime } from '../src/runtime.ts';

export const connectorsProgram = fileURLToPath(new URL('../../server/dist/connectors/main.js', import.meta.url));
const fixture = (name: string) => fileURLToPath(new URL(`../src/runner/fixtures/${name}.mjs`, import.meta.url));

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-connectors-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A runner with time limits short enough for a test. */
export function testRunner(options: Partial<RunnerOptions> = {}): Runner & { folder: string } {
  const folder = options.folder ?? join(temporaryFolder(), 'runs');
  return {
    folder,
    ...createRunner({ runtime: systemRuntime, graceMs: 2000, stuckAfterMs: 60_000, ...options, folder }),
  };
}

const nameOf = ({ launch, slug }: (typeof bundledDefinitions)[number]) =>
  launch?.type === 'bundled' ? launch.name : slug;

export function bundled(
  kind: ConnectorProgram['kind'],
  name: string,
  configuration: Record<string, unknown>,
  workspaceDir = '/nowhere',
): ConfiguredConnector {
  // The servers of tests are on this machine.
  const surroundings = {
    connectorsProgram,
    workspaceDir,
    readableDirs: [],
    allowPrivateNetworks: true,
    serviceEndpoints: [],
  };
  const definition = bundledDefinitions.find((each) => each.kind === kind && nameOf(each) === name);
  // Every second round of the torture has no blocks.
  const rowBlocks = process.env.INLAY_TORTURE_ROWS === 'json' ? undefined : definition?.specification.inlay_row_blocks;
  const program = connectorProgram({ type: 'bundled', name }, kind, surroundings);
  return { ...program, rowBlocks, configuration, secrets: [] };
}

/** See fixtures/scripted-source.mjs for the steps. */
export function scriptedSource(
  steps: object[],
  configuration: Record<string, unknown> = {},
  secrets: string[] = [],
): ConfiguredConnector {
  const args = [fixture('scripted-source'), JSON.stringify(steps)];
  return { kind: 'source', program: process.execPath, args, env: {}, configuration, secrets };
}

/** See fixtures/scripted-destination.mjs for its configuration. */
export function scriptedDestination(file: string, configuration: Record<string, unknown> = {}): ConfiguredConnector {
  const args = [fixture('scripted-destination')];
  const program = { kind: 'destination', program: process.execPath, args, env: {} } as const;
  return { ...program, configuration: { file, ...configuration }, secrets: [] };
}

export function configured(name: string, more: Partial<ConfiguredStream> = {}, namespace?: string): ConfiguredStream {
  return {
    stream: {
      name,
      ...(namespace !== undefined && { namespace }),
      json_schema: { type: 'object', properties: { id: { type: 'integer' }, fill: { type: 'string' } } },
      supported_sync_modes: ['full_refresh', 'incremental'],
    },
    sync_mode: 'incremental',
    destination_sync_mode: 'append',
    generation_id: 0,
    minimum_generation_id: 0,
    sync_id: 1,
    ...more,
  };
}

export interface RanSync extends SyncOutcome {
  /** Kept, in order. */
  states: State[];
  log: { level: string; origin: string; message: string }[];
}

type Sync = Partial<Omit<SyncRequest, 'state'>> &
  Pick<SyncRequest, 'source' | 'destination'> & { streams: ConfiguredStream[]; state?: State[] };

/** A sync that renames nothing by default. */
export async function sync(runner: Runner, { streams, state = [], ...request }: Sync): Promise<RanSync> {
  const states: State[] = [];
  const { log, jobLog } = memoryLog();
  const catalog: ConfiguredCatalog = { streams };
  const outcome = await runner.sync({
    catalog,
    rename: { prefix: '', namespace: (namespace) => namespace },
    state: state.map((each) => JSON.stringify(each)),
    keepState: async (state) => void states.push(state),
    keepConfiguration: async () => {},
    log: jobLog,
    ...request,
  });
  return { ...outcome, states, log };
}

export function memoryLog() {
  const log: RanSync['log'] = [];
  const jobLog: JobLog = { write: (level, origin, message) => void log.push({ level, origin, message }) };
  return { log, jobLog };
}

/** The messages that a scripted destination got. */
export function received(file: string) {
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came
  return linesIn(file).map((line): any => JSON.parse(line));
}

export function linesIn(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** A dead process that nobody has collected yet is not alive. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

export interface ProgramRun {
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came
  messages: any[];
  code: number | null;
}

/** A bundled connector as the program it is, outside any runner; `input` is its standard input. */
export function runConnector(
  name: string,
  command: string,
  files: Partial<Record<'config' | 'catalog' | 'state', unknown>>,
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): ProgramRun {
  const folder = temporaryFolder();
  const options = Object.entries(files).flatMap(([option, content]) => {
    writeFileSync(join(folder, option), JSON.stringify(content));
    return [`--${option}`, join(folder, option)];
  });
  const limits = { maxBuffer: 1024 ** 3, timeout: 300_000 };
  const args = [connectorsProgram, name, command, ...options];
  const { stdout, status } = spawnSync(process.execPath, args, { input, env, encoding: 'utf8', ...limits });
  const messages = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return { messages, code: status };
}
