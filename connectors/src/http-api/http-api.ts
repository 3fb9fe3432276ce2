/*
 * The source `http-api`: reads JSON APIs that are described by their configuration. The configuration becomes a declarative
 * manifest, and the engine for manifests reads. What is special here: a check reads one page of each stream, and the schemas
 * are found from a sample of the records.
 */

import { RunFailure } from '@inlay/manifests/http/failures';
import type { Slice } from '@inlay/manifests/run/slice';
import type { DataRecord, SourceStream } from '@inlay/manifests/run/stream';
import {
  type ClosedStream,
  type DeclarativeSource,
  declarativeSource,
  type SourceOptions,
} from '@inlay/manifests/source';
import {
  type Configuration,
  ConnectorError,
  type Emitter,
  type SourceConnector,
  type StreamFailure,
} from '@inlay/protocol/connector';
import type { Catalog, CheckWarning, ConfiguredCatalog, State, Stream } from '@inlay/protocol/protocol';
import { inferSchema } from '../kit/inference.ts';
import { requireFields } from '../kit/records.ts';
import { ownComponents, type Reading } from './components.ts';
import { type Api, readConfiguration, type StreamConfiguration } from './configuration.ts';
import { toManifest } from './manifest.ts';
import { oneRecordWarning } from './one-record.ts';
import { specification } from './specification.ts';

/** Basis of schema inference: non-empty pages among the first ones. */
const sample = { pages: 2, asked: 20, records: 1000 };
const answerBytes = 64 * 1024 * 1024;
const usual: Reading = { attempts: 6, hasWorked: false };

export const connector: SourceConnector = {
  kind: 'source',
  specification,
  subject: ['streams', 'base_url'],

  async check(configuration, surroundings) {
    const api = readConfiguration(configuration);
    const answers = new Map<string, unknown>();
    const onAnswer = (stream: string, body: unknown) => void answers.set(stream, body);
    // A person is waiting for the answer.
    const { source, config } = sourceFor(api, { ...usual, attempts: 2, onAnswer }, { client: { silenceMs: 20_000 } });
    const warnings: CheckWarning[] = [];
    await source.withStreams(config, surroundings, async (streams) => {
      for (const stream of streams) {
        const settings = settingsOf(api, stream);
        await explained(stream.name, () => checkStream(stream.open(), settings));
        warnings.push(...oneRecordWarning(settings, answers.get(stream.name)));
      }
    });
    return warnings;
  },

  async discover(configuration, surroundings): Promise<Catalog> {
    const api = readConfiguration(configuration);
    const { source, config } = sourceFor(api, usual);
    return source.withStreams(config, surroundings, async (closed) => {
      const streams: Stream[] = [];
      for (const stream of closed) {
        const settings = settingsOf(api, stream);
        streams.push(await explained(stream.name, () => discoverStream(stream.open(), settings)));
      }
      return { streams };
    });
  },

  async read(configuration, catalog, state, emit, surroundings) {
    const api = readConfiguration(configuration);
    const { source, config } = sourceFor(api, { ...usual, hasWorked: true });
    const missing = catalog.streams.find(({ stream }) => !api.streams.some(({ name }) => name === stream.name));
    const streams = catalog.streams.filter(({ stream }) => api.streams.some(({ name }) => name === stream.name));
    const failures = new Map<string, StreamFailure>();
    const incremental = incrementalStreams(api, catalog);
    try {
      const states = state.filter(({ stream }) => stream && incremental.has(stream.stream_descriptor.name));
      if (streams.length > 0)
        await source.read(config, { streams }, states, emitterFor(emit, incremental, failures), surroundings);
    } catch (error) {
      throw failures.size === 0 ? error : failureOf(failures, error);
    }
    if (missing)
      throw new ConnectorError(`The stream ${missing.stream.name} no longer exists. Refresh the list of streams.`);
  },
};

/** Exported for tests, which shorten limits and waits. */
export function sourceFor(
  api: Api,
  reading: Reading = usual,
  { client, ...options }: SourceOptions = {},
): { source: DeclarativeSource; config: Configuration } {
  const { manifest, config } = toManifest(api);
  const source = declarativeSource(JSON.stringify(manifest), {
    ...options,
    components: ownComponents(reading),
    client: { silenceMs: 60_000, addressField: 'base_url', answerBytes, ...client },
  });
  return { source, config };
}

function settingsOf(api: Api, { name }: ClosedStream): StreamConfiguration {
  return api.streams.find((stream) => stream.name === name) as StreamConfiguration;
}

/** Only those keep a state. */
function incrementalStreams({ streams }: Api, catalog: ConfiguredCatalog): Set<string> {
  const wanted = catalog.streams
    .filter(({ sync_mode }) => sync_mode === 'incremental')
    .map(({ stream }) => stream.name);
  return new Set(streams.filter(isIncremental).flatMap(({ name }) => (wanted.includes(name) ? [name] : [])));
}

function isIncremental({ cursor_field, time_window, parent }: StreamConfiguration): boolean {
  return cursor_field !== undefined && (time_window !== undefined || !parent);
}

function emitterFor(emit: Emitter, incremental: ReadonlySet<string>, failures: Map<string, StreamFailure>): Emitter {
  return {
    ...emit,
    state: (state: State) =>
      incremental.has(state.stream?.stream_descriptor.name ?? '') ? emit.state(state) : undefined,
    // A running stream is worth a log line only if it has to wait.
    status: (stream, status, reasons) =>
      status === 'RUNNING' && !reasons ? undefined : emit.status(stream, status, reasons),
    failure: ({ name }, failure) => {
      if (!failures.has(name)) failures.set(name, failure);
      return undefined;
    },
  };
}

/** The failures of all streams in one. */
function failureOf(failures: ReadonlyMap<string, StreamFailure>, cause: unknown): Error {
  const [first] = failures.values() as Iterable<StreamFailure>;
  const message = [...failures].map(([name, failure]) => `Stream ${name}: ${failure.message}`).join(' ');
  if (!first || first.failureType === 'system_error') return new Error(message, { cause });
  return new ConnectorError(message, { failureType: first.failureType, fields: first.fields, cause });
}

async function explained<T>(stream: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isExpected = error instanceof ConnectorError || error instanceof RunFailure;
    if (!isExpected || error.failureType === 'system_error') throw error;
    const { failureType, fields, message } = error;
    throw new ConnectorError(`Stream ${stream}: ${message}`, { failureType, fields, cause: error });
  }
}

async function checkStream(stream: SourceStream, settings: StreamConfiguration): Promise<void> {
  for await (const records of pagesOf(stream, settings)) {
    requireFields(records, namedFields(settings));
    return;
  }
}

function namedFields({ primary_key = [], cursor_field }: StreamConfiguration): string[] {
  return cursor_field === undefined ? primary_key : [...primary_key, cursor_field];
}

async function* pagesOf(stream: SourceStream, settings: StreamConfiguration): AsyncGenerator<DataRecord[]> {
  for await (const slice of slicesOf(stream, settings)) yield* stream.read(slice);
}

/** The latest time comes first, because records are more likely there. Parents are requested one after the other. */
async function* slicesOf(stream: SourceStream, { time_window, parent }: StreamConfiguration): AsyncGenerator<Slice> {
  if (!time_window || parent) return yield* stream.cursor.slices();
  const slices: Slice[] = [];
  for await (const slice of stream.cursor.slices()) slices.push(slice);
  yield* slices.reverse();
}

async function discoverStream(stream: SourceStream, settings: StreamConfiguration): Promise<Stream> {
  const { name, primary_key = [], cursor_field } = settings;
  const inference = inferSchema();
  let pages = 0;
  let asked = 0;
  let left = sample.records;
  for await (const records of pagesOf(stream, settings)) {
    for (const record of records.slice(0, left)) inference.add(record);
    left -= records.length;
    if (records.length > 0) pages += 1;
    asked += 1;
    if (pages === sample.pages || asked === sample.asked || left <= 0) break;
  }
  const schema = inference.schema();
  const named = Object.fromEntries(namedFields(settings).map((field) => [field, {}]));
  const { properties: declared } = await stream.schema();
  const properties = { ...named, ...(schema.properties as object), ...(declared as object | undefined) };
  const hasCursor = isIncremental(settings);
  return {
    name,
    json_schema: { ...schema, properties },
    supported_sync_modes: hasCursor ? ['full_refresh', 'incremental'] : ['full_refresh'],
    ...(hasCursor &&
      cursor_field !== undefined && { source_defined_cursor: true, default_cursor_field: [cursor_field] }),
    ...(primary_key.length > 0 && { source_defined_primary_key: primary_key.map((field) => [field]) }),
  };
}
