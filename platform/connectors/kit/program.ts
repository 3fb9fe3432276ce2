/*
 * Runs a connector as a program of the connector protocol: reads the files it is given, calls the command, writes
 * messages to standard output. Whatever goes wrong ends as a TRACE with the failure's kind and exit code 1, except for
 * `check`, where a ConnectorError is the answer.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { ConfiguredCatalog, Message, State } from '../../src/protocol.ts';
import { type Configuration, type Connector, ConnectorError, type Surroundings } from './connector.ts';
import { readInput } from './input.ts';
import { messageWriter } from './messages.ts';

export async function runProgram(connector: Connector, args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    strict: false,
    options: { config: { type: 'string' }, catalog: { type: 'string' }, state: { type: 'string' } },
  });
  // Nobody listens any more: the platform was killed. What it has not heard of, it asks for again.
  process.stdout.on('error', () => process.exit(1));
  const writer = messageWriter(process.stdout);
  try {
    await runCommand(connector, positionals[0], values, writer);
    await writer.flush();
    return 0;
  } catch (error) {
    void writer.send(failureMessage(error as Error));
    await writer.flush();
    return 1;
  }
}

async function runCommand(
  connector: Connector,
  command: string | undefined,
  files: Record<string, unknown>,
  writer: ReturnType<typeof messageWriter>,
): Promise<void> {
  const config = () => readJson<Configuration>(files.config, '--config');
  const catalog = () => readJson<ConfiguredCatalog>(files.catalog, '--catalog');
  const surroundings = readSurroundings(process.env);
  if (command === 'spec') {
    writer.send({ type: 'SPEC', spec: connector.specification });
  } else if (command === 'check') {
    writer.send({ type: 'CONNECTION_STATUS', connectionStatus: await check(connector, await config(), surroundings) });
  } else if (command === 'discover' && connector.kind === 'source') {
    writer.send({ type: 'CATALOG', catalog: await connector.discover(await config(), surroundings) });
  } else if (command === 'read' && connector.kind === 'source') {
    const state = files.state === undefined ? [] : await readJson<State[]>(files.state, '--state');
    await connector.read(await config(), await catalog(), state, writer.emitter, surroundings);
  } else if (command === 'write' && connector.kind === 'destination') {
    // A connector that is asked to stop leaves things in order, as when its input ends before the streams are complete.
    const stopped = new AbortController();
    process.once('SIGTERM', () => stopped.abort());
    const input = readInput(process.stdin, stopped.signal);
    await connector.write(await config(), await catalog(), input, writer.emitter, surroundings);
  } else {
    throw new Error(`A ${connector.kind} has no command ${command}.`);
  }
}

async function check(connector: Connector, config: Configuration, surroundings: Surroundings) {
  try {
    await connector.check(config, surroundings);
    return { status: 'SUCCEEDED' } as const;
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { status: 'FAILED', message: error.message } as const;
  }
}

function failureMessage(error: Error): Message {
  const isExpected = error instanceof ConnectorError;
  return {
    type: 'TRACE',
    trace: {
      type: 'ERROR',
      emitted_at: Date.now(),
      error: {
        message: isExpected ? error.message : 'The connector failed unexpectedly.',
        internal_message: error.message,
        stack_trace: error.stack ?? '',
        failure_type: isExpected ? error.failureType : 'system_error',
      },
    },
  };
}

/** The runner tells a connector of its surroundings by environment variables; see src/runner/programs.ts. */
function readSurroundings(env: NodeJS.ProcessEnv): Surroundings {
  return {
    workspaceDir: env.INLAY_WORKSPACE_DIR || undefined,
    readableDirs: (env.INLAY_READABLE_DIRS ?? '').split('\n').filter((dir) => dir !== ''),
    allowPrivateNetworks: env.INLAY_ALLOW_PRIVATE_NETWORKS === 'true',
    serviceEndpoints: JSON.parse(env.INLAY_SERVICE_ENDPOINTS || '[]'),
  };
}

async function readJson<T>(file: unknown, option: string): Promise<T> {
  if (typeof file !== 'string') throw new Error(`${option} is missing.`);
  return JSON.parse(await readFile(file, 'utf8')) as T;
}
