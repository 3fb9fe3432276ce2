/*
 * Runs a connector as a program of the connector protocol: reads the files it is given, calls the command, writes
 * messages to standard output. With the option --input, what would be in the files is the first line of standard input, an
 * object with the names of the options as keys; so the bundled platform hands secrets over without writing them to disk. Whatever goes wrong ends as a TRACE with the failure's kind and exit code 1, except for
 * `check`, where a ConnectorError is the answer.
 */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { type Configuration, type Connector, ConnectorError, type Surroundings } from './connector.ts';
import { readInput } from './input.ts';
import { parseJson } from './json.ts';
import { messageWriter } from './messages.ts';
import {
  type ConfiguredCatalog,
  type Message,
  type OfferedCredential,
  type State,
  tokenRequestType,
} from './protocol.ts';
import { SignIn } from './sign-in.ts';

export async function runProgram(connector: Connector, args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    strict: false,
    options: {
      config: { type: 'string' },
      catalog: { type: 'string' },
      state: { type: 'string' },
      input: { type: 'boolean' },
    },
  });
  // Nobody listens any more: the platform was killed. What it has not heard of, it asks for again.
  process.stdout.on('error', () => process.exit(1));
  const writer = messageWriter(process.stdout);
  try {
    await runCommand(connector, positionals[0], values, writer);
    await writer.flush();
    return 0;
  } catch (error) {
    void writer.send(failureMessage(connector, error as Error));
    await writer.flush();
    return 1;
  } finally {
    // It may be open still, for tokens that nobody asks for any more.
    process.stdin.destroy();
  }
}

async function runCommand(
  connector: Connector,
  command: string | undefined,
  options: Record<string, unknown>,
  writer: ReturnType<typeof messageWriter>,
): Promise<void> {
  const given = await readGiven(options);
  const config = () => get<Configuration>(given, 'config');
  const catalog = () => get<ConfiguredCatalog>(given, 'catalog');
  const surroundings = { ...readSurroundings(process.env), signIn: openSignIn(given.credential, writer) };
  if (command === 'spec') {
    writer.send({ type: 'SPEC', spec: connector.specification });
  } else if (command === 'check') {
    writer.send({ type: 'CONNECTION_STATUS', connectionStatus: await check(connector, config(), surroundings) });
  } else if (command === 'discover' && connector.kind === 'source') {
    writer.send({ type: 'CATALOG', catalog: await connector.discover(config(), surroundings) });
  } else if (command === 'read' && connector.kind === 'source') {
    const state = (given.state ?? []) as State[];
    await connector.read(config(), catalog(), state, writer.emitter, surroundings);
  } else if (command === 'write' && connector.kind === 'destination') {
    // A connector that is asked to stop leaves things in order, as when its input ends before the streams are complete.
    const stopped = new AbortController();
    process.once('SIGTERM', () => stopped.abort());
    const input = readInput(process.stdin, stopped.signal);
    await connector.write(config(), catalog(), input, writer.emitter, surroundings);
  } else {
    throw new Error(`Unknown command ${command} for a ${connector.kind}.`);
  }
}

async function check(connector: Connector, config: Configuration, surroundings: Surroundings) {
  try {
    const warnings = (await connector.check(config, surroundings)) ?? [];
    return { status: 'SUCCEEDED', ...(warnings.length > 0 && { inlay_warnings: warnings }) } as const;
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { status: 'FAILED', message: error.message, ...fieldsOf(connector, error) } as const;
  }
}

function fieldsOf(connector: Connector, { fields }: ConnectorError): { inlay_fields?: string[] } {
  const named = fields ?? (connector.kind === 'source' ? connector.subject : []);
  return named.length > 0 ? { inlay_fields: [...named] } : {};
}

function failureMessage(connector: Connector, error: Error): Message {
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
        ...(isExpected && fieldsOf(connector, error)),
      },
    },
  };
}

/** The runner passes facts about the environment in variables; see src/runner/programs.ts. */
function readSurroundings(env: NodeJS.ProcessEnv): Surroundings {
  return {
    workspaceId: env.INLAY_WORKSPACE_ID || undefined,
    workspaceDir: env.INLAY_WORKSPACE_DIR || undefined,
    readableDirs: (env.INLAY_READABLE_DIRS ?? '').split('\n').filter((dir) => dir !== ''),
    allowPrivateNetworks: env.INLAY_ALLOW_PRIVATE_NETWORKS === 'true',
    serviceEndpoints: JSON.parse(env.INLAY_SERVICE_ENDPOINTS || '[]'),
  };
}

/** The answers of the platform are further lines of standard input. */
function openSignIn(offered: unknown, writer: ReturnType<typeof messageWriter>): SignIn | undefined {
  if (offered === undefined) return undefined;
  return new SignIn(offered as OfferedCredential, async (request) => {
    void writer.send({ type: tokenRequestType, ...request });
    await writer.flush();
    return JSON.parse(await readFirstLine(process.stdin));
  });
}

type Given = Partial<Record<'config' | 'catalog' | 'state' | 'credential', unknown>>;

async function readGiven({ input, ...options }: Record<string, unknown>): Promise<Given> {
  if (input) return parseJson(await readFirstLine(process.stdin)) as Given;
  const given: Given = {};
  for (const name of ['config', 'catalog', 'state'] as const) {
    const file = options[name];
    if (typeof file === 'string') given[name] = parseJson(readFileSync(file, 'utf8'));
  }
  return given;
}

function get<T>(given: Given, name: keyof Given): T {
  if (given[name] === undefined) throw new Error(`Missing option --${name}.`);
  return given[name] as T;
}

/** Leaves what comes after the line for others to read. */
export async function readFirstLine(input: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf('\n');
    pieces.push(end === -1 ? chunk : chunk.subarray(0, end));
    if (end === -1) continue;
    input.unshift(chunk.subarray(end + 1));
    break;
  }
  return Buffer.concat(pieces).toString();
}
