/**
 * How each kind of connector is started: a bundled one, a command line or a container image. What a connector may
 * access regardless of its configuration is passed to bundled ones in environment variables, which they enforce; a
 * command line is the operator's choice and runs with the operator's trust.
 */
import { tmpdir, userInfo } from 'node:os';
import { basename } from 'node:path';
import { isFolder } from '../processes/find-program.ts';
import { type ConnectorLimits, defaultLimits } from '../processes/limits.ts';
import type { ConnectorProgram } from './runner.ts';

export type Launch =
  /** The name that the program of the bundled connectors knows it by. */
  | { type: 'bundled'; name: string }
  /** A program, found by its full path or in PATH, its arguments, and the folder in which it runs. */
  | { type: 'command'; command: readonly [program: string, ...args: string[]]; folder?: string }
  | { type: 'image'; image: string }
  /** A declarative manifest as JSON in one line, and the file with the code that the manifest names, if there is one. */
  | { type: 'manifest'; manifest: string; componentsFile?: string };

export interface ProgramSurroundings {
  /** The built program of the bundled connectors. */
  connectorsProgram: string;
  /** The workspace that the run belongs to. None when only a specification is read. */
  workspaceId?: string;
  /** The folder of that workspace. */
  workspaceDir: string;
  readableDirs: readonly string[];
  allowPrivateNetworks: boolean;
  /** Addresses of the service itself, which connectors must never reach. */
  serviceEndpoints: readonly { host: string; port: number }[];
  /** What one run of a connector may use of this machine. */
  limits?: ConnectorLimits;
  /** The network that containers join; by default the engine's own. */
  containerNetwork?: string;
}

/**
 * Only these variables of the service's environment are passed on: where programs, certificates and temporary files
 * are.
 */
const inherited = ['PATH', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
/**
 * Bundled connectors that connect to nobody and keep little in memory. They start in less than half of the time without
 * two things that others need. With NODE_EXTRA_CA_CERTS, Node.js reads all the certificates it knows at every start (75 ms
 * of processor time, where a bare start takes 30). With a limit for its heap, it cannot use the code that was compiled
 * when it was built (17 ms).
 */
const light = new Set(['sample-data', 'local-files']);
/**
 * Bundled sources whose records are valid JSON whatever the other side sends: three write them from values, and the
 * `postgres` source checks what it passes on as text (connectors/src/postgres/record-text.ts).
 */
const writersOfJson = new Set(['sample-data', 'http-api', 'file', 'source-postgres']);
/** What the container engine's client needs to find its engine and its registry logins. */
const inheritedByDocker = [
  'HOME',
  'XDG_RUNTIME_DIR',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
];

export function connectorProgram(
  launch: Launch,
  kind: ConnectorProgram['kind'],
  surroundings: ProgramSurroundings,
  environment: NodeJS.ProcessEnv = process.env,
): ConnectorProgram {
  const { limits = defaultLimits } = surroundings;
  const env = {
    ...pick(environment, inherited),
    ...(surroundings.workspaceId !== undefined && { INLAY_WORKSPACE_ID: surroundings.workspaceId }),
    INLAY_WORKSPACE_DIR: surroundings.workspaceDir,
    INLAY_READABLE_DIRS: surroundings.readableDirs.join('\n'),
    INLAY_ALLOW_PRIVATE_NETWORKS: String(surroundings.allowPrivateNetworks),
    INLAY_SERVICE_ENDPOINTS: JSON.stringify(surroundings.serviceEndpoints),
  };
  if (launch.type === 'bundled') {
    const isLight = light.has(launch.name);
    const { NODE_EXTRA_CA_CERTS: _certificates, ...lightEnv }: Record<string, string> = env;
    return {
      kind,
      program: process.execPath,
      args: [...(isLight ? [] : [heapOption(limits)]), surroundings.connectorsProgram, launch.name],
      env: isLight ? lightEnv : env,
      handover: 'input',
      ...(writersOfJson.has(launch.name) && { isRecordTextValid: true }),
      ...(launch.name === 'http-api' && { asksForTokens: true }),
    };
  }
  if (launch.type === 'manifest') {
    const { manifest, componentsFile } = launch;
    const code = componentsFile === undefined ? [] : ['--components', componentsFile];
    return {
      kind,
      program: process.execPath,
      args: [heapOption(limits), surroundings.connectorsProgram, 'declarative', '--manifest', '-', ...code],
      env,
      handover: 'input',
      asksForTokens: true,
      preamble: manifest,
      // Records are written from values; code of others may write anything.
      ...(componentsFile === undefined && { isRecordTextValid: true }),
    };
  }
  if (launch.type === 'command') {
    const [program, ...args] = launch.command;
    return {
      kind,
      program,
      args,
      env: { ...env, HOME: homeOf(environment) },
      ...(launch.folder !== undefined && { workingDir: launch.folder }),
    };
  }
  return {
    kind,
    program: 'docker',
    args: (filesDir) => containerArgs(launch.image, filesDir, limits, surroundings.containerNetwork),
    env: pick(environment, [...inherited, ...inheritedByDocker]),
    // Killing the client leaves the container running.
    removalArgs: (filesDir) => ['rm', '--force', basename(filesDir)],
  };
}

/**
 * The folder with the files keeps its path inside, so that the options mean the same there. The container runs as this
 * user, because nobody else can read the files.
 */
function containerArgs(
  image: string,
  filesDir: string,
  { memoryBytes, openFiles }: ConnectorLimits,
  network: string | undefined,
): string[] {
  return [
    ...['run', '--rm', '--interactive', '--name', basename(filesDir)],
    ...['--mount', `type=bind,source=${filesDir},target=${filesDir},readonly`],
    ...(process.getuid && process.getgid ? ['--user', `${process.getuid()}:${process.getgid()}`] : []),
    // The engine enforces the limits: the process that runs here is only its client. Without a second number, swap is
    // allowed.
    ...['--memory', String(memoryBytes), '--memory-swap', String(memoryBytes)],
    ...['--ulimit', `nofile=${openFiles}:${openFiles}`],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...(network === undefined ? [] : ['--network', network]),
    // Without a value: the value of the client's own environment, if it has one.
    ...['--env', 'TRACEPARENT'],
    image,
  ];
}

/** Garbage is collected in time, rather than when the limit is near: buffers, stacks and code need room as well. */
export function heapOption({ memoryBytes }: ConnectorLimits): string {
  return `--max-old-space-size=${Math.floor((memoryBytes * 0.75) / 1024 ** 2)}`;
}

/** The service user's home: it contains packages, caches and settings that a program was installed with. */
function homeOf({ HOME }: NodeJS.ProcessEnv): string {
  const home = HOME || userInfo().homedir;
  // Users of services often have a home that does not exist.
  return isFolder(home) ? home : tmpdir();
}

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
