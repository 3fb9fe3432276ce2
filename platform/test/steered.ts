/* A platform with a source and a destination that tests control while they run; both are separate programs. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ConfiguredCatalog, ConnectorSpecification, Stream } from '@inlay/protocol/protocol';
import { registerDefinition } from '../src/definitions/registered-definitions.ts';
import type { Runner } from '../src/runner/runner.ts';
import { type RunningPlatform, type StartOptions, startPlatform } from './start-platform.ts';

export const programOf = (name: string): [string, string] => [
  process.execPath,
  fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url)),
];

const text = { type: 'string' };
export const itemsStream: Stream = {
  name: 'items',
  json_schema: { type: 'object', properties: { id: { type: 'integer' }, name: text, extra: text } },
  supported_sync_modes: ['full_refresh', 'incremental'],
  source_defined_cursor: true,
  default_cursor_field: ['id'],
  source_defined_primary_key: [['id']],
};

export interface Steps {
  records?: number;
  waitsAfter?: number;
  failure?: { message: string; failure_type: string };
  renews?: object;
  /** Which kind of states it sends; STREAM by default. SHARED is a GLOBAL one without parts for streams. */
  states?: 'STREAM' | 'GLOBAL' | 'LEGACY' | 'SHARED';
  /** What it reports after its records. */
  reports?: object[];
  /** It goes only as far as `allow` says, and fails when its password is refused. */
  paced?: boolean;
  /** Per stream, if fewer. */
  allowedOf?: Record<string, number>;
}

export interface SteeredConnection {
  workspaceId: string;
  sourceId: string;
  destinationId: string;
  connectionId: string;
  path: string;
  setCatalog(...streams: Stream[]): void;
  steer(steps: Steps): void;
  /** What the destination reports in the end. */
  setReports(...reports: object[]): void;
  /** What the destination says once, at the beginning; then it ends. */
  setLost(...holdings: object[]): void;
  /** Renames the streams of the connection. */
  configure(...streams: object[]): Promise<void>;
  /** Resumes a waiting read. */
  go(): void;
  /** Lets the next read wait again. */
  hold(): void;
  allow(records: number): void;
  refuse(password: string): void;
  /** The configuration that the last process of the source was given. */
  givenConfiguration(): Record<string, unknown>;
  /** How many reads have begun and ended. */
  reads(): { begun: number; ended: number };
  /** The states that the last read was given, as the text that was in their file; undefined when there was none. */
  givenState(): string | undefined;
  /** Every line the destination has written. */
  written(): string[];
  /** The ids of the records of `items`, in the order written. */
  ids(): number[];
  /** What the destination was given the last time. */
  catalog(): ConfiguredCatalog;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came back
  sync(jobType?: string): Promise<any>;
}

export interface SteeredPlatform extends RunningPlatform {
  sourceDefinitionId: string;
  destinationDefinitionId: string;
  connect(more?: { workspaceId?: string; streams?: object[]; [field: string]: unknown }): Promise<SteeredConnection>;
  /** The job once it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came back
  ended(jobId: number): Promise<any>;
}

const specifications = new Map<string, Promise<ConnectorSpecification>>();

/** The two programs always say the same, and most tests need them only to run. */
const readSpecificationOnce =
  (kind: string, { definitions }: RunningPlatform['platform']): Runner['readSpecification'] =>
  (program) => {
    const known = specifications.get(kind) ?? definitions.runner.readSpecification(program);
    specifications.set(kind, known);
    return known;
  };

export async function startSteered(options: StartOptions = {}): Promise<SteeredPlatform> {
  const running = await startPlatform(options);
  const { platform, call, file } = running;
  const register = async (kind: 'source' | 'destination') => {
    const launch = { type: 'command', command: programOf(`steered-${kind}`) } as const;
    const runner = { ...platform.definitions.runner, readSpecification: readSpecificationOnce(kind, platform) };
    const context = { ...platform.definitions, runner };
    return (await registerDefinition(context, { kind, name: `Steered ${kind}`, launch })).definitionId;
  };
  const sourceDefinitionId = await register('source');
  const destinationDefinitionId = await register('destination');
  platform.start();
  let made = 0;

  const connect: SteeredPlatform['connect'] = async ({ workspaceId: given, streams, ...more } = {}) => {
    const folder = join(dirname(file), `steered-${++made}`);
    const output = join(folder, 'output');
    mkdirSync(folder);
    const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
    const lines = (name: string) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').trim().split('\n').filter(Boolean) : [];
    write('catalog.json', { streams: [itemsStream] });

    const workspaceId = given ?? (await call('POST', '/workspaces', { name: 'steered' })).body.workspaceId;
    const create = async (kind: string, definitionId: string, configuration: object) =>
      (await call('POST', `/${kind}s`, { name: kind, workspaceId, definitionId, configuration })).body[`${kind}Id`];
    const sourceId = await create('source', sourceDefinitionId, { folder, password: 'a-password' });
    const destinationId = await create('destination', destinationDefinitionId, { file: output });
    const reply = await call('POST', '/connections', {
      sourceId,
      destinationId,
      ...(streams && { configurations: { streams } }),
      ...more,
    });
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    const { connectionId } = reply.body;
    return {
      workspaceId,
      sourceId,
      destinationId,
      connectionId,
      path: `/connections/${connectionId}`,
      setCatalog: (...catalog) => write('catalog.json', { streams: catalog }),
      steer: (steps) => write('steps.json', steps),
      setReports: (...reports) => write('reports.json', reports),
      setLost: (...holdings) => write('lost.json', holdings),
      configure: async (...named) => {
        // The source may have changed since it was asked last.
        await call('GET', `/streams?sourceId=${sourceId}&ignoreCache=true`);
        const changed = await call('PATCH', `/connections/${connectionId}`, { configurations: { streams: named } });
        if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
      },
      go: () => write('go', ''),
      hold: () => rmSync(join(folder, 'go'), { force: true }),
      allow: (records) => write('allowed', records),
      refuse: (password) => write('refused', password),
      givenConfiguration: () => JSON.parse(readFileSync(join(folder, 'given-config'), 'utf8')),
      reads: () => ({
        begun: lines('log').filter((line) => line === 'begin').length,
        ended: lines('log').filter((line) => line === 'end').length,
      }),
      givenState: () => lines('given-state')[0],
      written: () => lines('output'),
      ids: () => lines('output').flatMap((line) => (line.startsWith('["items"') ? [JSON.parse(line)[1].id] : [])),
      catalog: () => JSON.parse(readFileSync(`${output}.catalog`, 'utf8')),
      sync: async (jobType = 'sync') => (await call('POST', '/jobs', { connectionId, jobType })).body,
    };
  };

  const ended = async (jobId: number) => {
    let job = (await call('GET', `/jobs/${jobId}`)).body;
    await until(async () => {
      job = (await call('GET', `/jobs/${jobId}`)).body;
      return job.lastUpdatedAt !== undefined;
    });
    return job;
  };
  return { ...running, sourceDefinitionId, destinationDefinitionId, connect, ended };
}

const patienceMs = 180_000;

/** Waits for something that is going to happen, and looks less and less often; fails when it does not happen. */
export async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = 20; !(await happened()); pauseMs = Math.min(pauseMs * 1.5, 200)) {
    if (performance.now() > deadline) throw new Error(`It did not happen within ${patienceMs} ms: ${happened}`);
    await delay(pauseMs);
  }
}
