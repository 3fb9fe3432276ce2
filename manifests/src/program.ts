/*
 * Runs a manifest as a connector protocol program: `--manifest FILE` in addition to the options of every connector. For
 * authors and tests: `--now TIME` freezes the clock of templates and cursors, `--waits FILE` skips waits and logs those
 * before retries, and `--author` also validates the configuration against the specification, which the platform has
 * already done, and quotes the result of `check` like the reference runtime. For the platform: with the manifest `-`,
 * it is the first line of standard input.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Configuration, SourceConnector } from '@inlay/protocol/connector';
import { ConnectorError } from '@inlay/protocol/connector';
import { stringifyJson } from '@inlay/protocol/json';
import { readFirstLine, runProgram } from '@inlay/protocol/program';
import { parseIsoDate } from './dates/iso-dates.ts';
import type { ImportModule } from './import-module.ts';
import { ManifestError } from './manifest/problems.ts';
import { readSpecification } from './manifest/read-manifest.ts';
import { useClasses } from './own-classes.ts';
import { schemaCheck } from './run/json-schema.ts';
import { declarativeSource } from './source.ts';

export async function run(args: readonly string[], importModule: ImportModule): Promise<number> {
  const { own, rest } = splitOptions(args);
  const code = own.get('--components');
  if (code !== undefined) useClasses(await importModule(pathToFileURL(code).href));
  const file = own.get('--manifest');
  if (file === undefined) throw new Error('Missing option --manifest.');
  const text = file === '-' ? await readFirstLine(process.stdin) : readFileSync(file, 'utf8');
  const now = own.get('--now');
  const source = declarativeSource(text, {
    now: now === undefined ? undefined : parseIsoDate(now),
    waitsFile: own.get('--waits'),
    onConfiguration: sendConfiguration,
    onLog: (level, message) => send({ type: 'LOG', log: { level, message } }),
  });
  // The author reads with `| head`.
  const endQuietly = ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1);
  if (own.has('--author')) process.stdout.on('error', endQuietly);
  return runProgram(explained(own.has('--author') ? forAuthors(source, text) : source, text), rest);
}

/** For `check` and `discover`, whose only message is their result. */
function sendConfiguration(config: Configuration): void {
  const control = { type: 'CONNECTOR_CONFIG', emitted_at: Date.now(), connectorConfig: { config } };
  send({ type: 'CONTROL', control });
}

function send(message: object): void {
  process.stdout.write(`${stringifyJson(message)}\n`);
}

const ownOptions = ['--manifest', '--components', '--now', '--waits'];

function splitOptions(args: readonly string[]): { own: Map<string, string>; rest: string[] } {
  const own = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const option = args[index] as string;
    if (ownOptions.includes(option)) own.set(option, args[++index] ?? '');
    else if (option === '--author') own.set(option, '');
    else rest.push(option);
  }
  return { own, rest };
}

/** An unsupported manifest is not a bug: its author learns what to change. */
function explained(source: SourceConnector, text: string): SourceConnector {
  const explain = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof ManifestError ? new ConnectorError(error.message, { cause: error }) : error;
    }
  };
  return {
    kind: 'source',
    subject: source.subject,
    get specification() {
      return readSpecification(text);
    },
    check: (...given) => explain(() => source.check(...given)),
    discover: (...given) => explain(() => source.discover(...given)),
    read: (...given) => explain(() => source.read(...given)),
  };
}

/** Checks configurations as the platform would have done, and quotes answers. */
export function forAuthors(source: SourceConnector, text: string): SourceConnector {
  const checked = (config: Configuration): Configuration => {
    const fault = schemaCheck(readSpecification(text).connectionSpecification)(config);
    if (fault === undefined) return config;
    throw new ConnectorError(`The configuration does not match the specification: ${fault}.`);
  };
  return {
    kind: 'source',
    subject: source.subject,
    // Copying the source's members would read the whole manifest, which `spec` does not need.
    get specification() {
      return source.specification;
    },
    async check(config, surroundings) {
      try {
        return await source.check(checked(config), surroundings);
      } catch (error) {
        throw error instanceof ConnectorError ? new ConnectorError(quoted(error.message), { cause: error }) : error;
      }
    },
    async discover(config, surroundings) {
      return source.discover(checked(config), surroundings);
    },
    async read(config, ...given) {
      return source.read(checked(config), ...given);
    },
  };
}

/** As Python writes a text. */
function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll(mark, `\\${mark}`);
  return `${mark}${inner}${mark}`;
}
