/* An API on this machine that answers by rules, and a declarative source that reads it in this process. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ConnectorError, type Emitter, type SignedIn, type StreamFailure } from '@inlay/protocol/connector';
import { parseJson, stringifyJson } from '@inlay/protocol/json';
import type { Catalog, ConfiguredCatalog, State, SyncMode } from '@inlay/protocol/protocol';
import { parseIsoDate } from '../src/dates/iso-dates.ts';
import { declarativeSource } from '../src/source.ts';

export interface Asked {
  method: string;
  path: string;
  /** The whole address behind the host. */
  url: string;
  query: Record<string, string | string[]>;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  bytes?: Buffer;
  isGzipped?: boolean;
  /** The connection breaks before the body is whole. */
  isCutOff?: boolean;
  /** The answer is kept back for this long. */
  afterMs?: number;
  onSent?: () => void;
}

export type Rule = (asked: Asked, count: number) => Reply | undefined;

export interface Api {
  address: string;
  /** Requests since the last answer() or taken(). */
  asked(): readonly Asked[];
  /** The same, and resets the list. */
  taken(): Asked[];
  answer(rule: Rule): void;
  close(): Promise<void>;
}

/** `count` is the number of earlier requests of the path. */
export async function startApi(): Promise<Api> {
  let rule: Rule = () => undefined;
  let asked: Asked[] = [];
  let counts = new Map<string, number>();
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://api');
    const query: Asked['query'] = {};
    for (const key of new Set(url.searchParams.keys())) {
      const values = url.searchParams.getAll(key);
      query[key] = values.length === 1 ? (values[0] as string) : values;
    }
    const one: Asked = {
      method: request.method ?? '',
      path: decodeURIComponent(url.pathname),
      url: request.url ?? '',
      query,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    asked.push(one);
    const count = counts.get(one.path) ?? 0;
    counts.set(one.path, count + 1);
    const reply = rule(one, count) ?? { status: 404, json: { error: 'no rule' } };
    if (reply.afterMs) await sleep(reply.afterMs);
    reply.onSent?.();
    const plain = reply.bytes ?? Buffer.from(reply.text ?? JSON.stringify(reply.json ?? null));
    const body = reply.isGzipped ? gzipSync(plain) : plain;
    const length = reply.isCutOff ? { 'Content-Length': String(body.length + 1) } : {};
    response.writeHead(reply.status ?? 200, { 'Content-Type': 'application/json', ...length, ...reply.headers });
    if (reply.isCutOff) response.write(body, () => response.destroy());
    else response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    taken() {
      const taken = asked;
      asked = [];
      counts = new Map();
      return taken;
    },
    answer(next) {
      rule = next;
      asked = [];
      counts = new Map();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface ReadResult {
  records: Record<string, Record<string, unknown>[]>;
  states: Record<string, Record<string, unknown>>;
  /** All messages in order, for tests that cut a sync off. */
  log: ({ record: [string, Record<string, unknown>] } | { state: State })[];
  statuses: Record<string, string>;
  failures: Record<string, StreamFailure>;
  limited: string[];
  waits: number[];
  configs: Record<string, unknown>[];
  words: string[];
}

const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] };
const defaultNow = '2024-06-15T12:00:00Z';

interface Given {
  manifest: string;
  config?: Record<string, unknown>;
  now?: string;
}

/** Hears of configurations that were brought up to date. */
interface Listening {
  onConfiguration?: (config: Record<string, unknown>) => void;
  onLog?: (level: string, message: string) => void;
}

export async function read({
  manifest,
  config = {},
  now = defaultNow,
  streams,
  state = [],
  schemas = {},
  cursorFields = {},
  statesEverySlice = false,
  signIn,
}: Given & {
  streams: Record<string, SyncMode>;
  state?: State[];
  /** What the catalog says of streams. */
  schemas?: Record<string, Record<string, unknown>>;
  cursorFields?: Record<string, string>;
  /** Partitioned streams send a state behind every slice, not only from time to time. */
  statesEverySlice?: boolean;
  signIn?: SignedIn;
}): Promise<ReadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'declarative-'));
  const waitsFile = join(folder, 'waits');
  const result: ReadResult = {
    records: Object.fromEntries(Object.keys(streams).map((name) => [name, []])),
    states: {},
    log: [],
    statuses: {},
    failures: {},
    limited: [],
    waits: [],
    configs: [],
    words: [],
  };
  const emit: Emitter = {
    record(stream, data) {
      const copy = parseJson(stringifyJson(data)) as Record<string, unknown>;
      result.records[stream.name]?.push(copy);
      result.log.push({ record: [stream.name, copy] });
      return undefined;
    },
    recordOf: () => undefined,
    state(one) {
      const copy = structuredClone(one);
      if (copy.stream) {
        result.states[copy.stream.stream_descriptor.name] = copy.stream.stream_state as Record<string, unknown>;
      }
      result.log.push({ state: copy });
      return undefined;
    },
    status(stream, status, reasons) {
      result.statuses[stream.name] = status;
      if (reasons) result.limited.push(stream.name);
      return undefined;
    },
    failure(stream, failure) {
      result.failures[stream.name] = failure;
      return undefined;
    },
    configuration(changed) {
      result.configs.push(changed);
      return undefined;
    },
    report: () => undefined,
    log: (_level, message) => void result.words.push(message),
  };
  try {
    const source = declarativeSource(manifest, { now: parseIsoDate(now), waitsFile, statesEverySlice });
    const catalog = {
      streams: Object.entries(streams).map(([name, sync_mode]) => ({
        stream: { name, json_schema: schemas[name] ?? { type: 'object', properties: {} } },
        sync_mode,
        ...(cursorFields[name] !== undefined && { cursor_field: [cursorFields[name]] }),
      })),
    } as unknown as ConfiguredCatalog;
    await source.read(config, catalog, state, emit, { ...surroundings, signIn }).catch((error) => {
      // Failures of a stream were reported by then.
      if (Object.keys(result.failures).length === 0) throw error;
    });
    result.waits = readWaits(waitsFile);
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readWaits(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

/** The words of a failed check; undefined for a success. */
export async function check({
  manifest,
  config = {},
  now = defaultNow,
  onConfiguration,
}: Given & Listening): Promise<string | undefined> {
  try {
    const source = declarativeSource(manifest, { now: parseIsoDate(now), waitsFile: '/dev/null', onConfiguration });
    await source.check(config, surroundings);
    return undefined;
  } catch (error) {
    if (error instanceof ConnectorError) return error.message;
    throw error;
  }
}

export function discover({
  manifest,
  config = {},
  now = defaultNow,
  ...listening
}: Given & Listening): Promise<Catalog> {
  const source = declarativeSource(manifest, { now: parseIsoDate(now), waitsFile: '/dev/null', ...listening });
  return source.discover(config, surroundings);
}

export function stateOf(name: string, state: Record<string, unknown>): State[] {
  return [{ type: 'STREAM', stream: { stream_descriptor: { name }, stream_state: state } }];
}

/** A manifest around some streams, which are written without their usual parts. */
export function manifestWith(streams: string, more = ''): string {
  return `
version: 6.44.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [first]}
definitions:
  schema: {type: InlineSchemaLoader, schema: {type: object, properties: {id: {type: integer}}}}
  requester: {type: HttpRequester, url_base: "{{ config['base'] }}", path: "/{{ parameters['name'] }}"}
  rows: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [rows]}}
  retriever:
    type: SimpleRetriever
    requester: {$ref: "#/definitions/requester"}
    record_selector: {$ref: "#/definitions/rows"}
  stream: {type: DeclarativeStream, schema_loader: {$ref: "#/definitions/schema"}, retriever: {$ref: "#/definitions/retriever"}}
spec:
  type: Spec
  documentation_url: https://docs.example
  connection_specification: {type: object, required: [base], properties: {base: {type: string}}}
${more}
streams:
${streams}
`;
}
