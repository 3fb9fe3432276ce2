/*
 * The source `http-api`: reads JSON APIs that are described by their configuration. Full refresh, or incremental by a
 * cursor field. An API need not sort by that field, so a state moves on only when all of a stream has been read.
 */
import type { Catalog, CheckWarning, ConfiguredStream, State, Stream } from '../../src/protocol.ts';
import { streamKey } from '../../src/protocol.ts';
import { ConnectorError, type Emitter, type SourceConnector } from '../kit/connector.ts';
import { type HttpClient, logRetries } from '../kit/http-client.ts';
import { inferSchema } from '../kit/inference.ts';
import { requireFields } from '../kit/records.ts';
import { type Api, readConfiguration, type StreamConfiguration } from './configuration.ts';
import { cursorReader, readCursorState } from './cursor.ts';
import { oneRecordWarning } from './one-record.ts';
import { apiClient, readPages } from './pages.ts';
import { specification } from './specification.ts';

/** What a schema is found from: pages that have records, among the first that are asked for. */
const sample = { pages: 2, asked: 20, records: 1000 };
const recordsPerState = 10_000;

export const connector: SourceConnector = {
  kind: 'source',
  specification,
  subject: ['streams', 'base_url'],

  async check(configuration, surroundings) {
    const api = readConfiguration(configuration);
    // Somebody waits for the answer.
    const client = apiClient(api, surroundings, { attempts: 2, silenceMs: 20_000 });
    try {
      const warnings: CheckWarning[] = [];
      for (const stream of api.streams) {
        warnings.push(...(await explained(stream.name, () => checkStream(client, api, stream))));
      }
      return warnings;
    } finally {
      await client.close();
    }
  },

  async discover(configuration, surroundings): Promise<Catalog> {
    const api = readConfiguration(configuration);
    const client = apiClient(api, surroundings);
    const streams: Stream[] = [];
    try {
      for (const stream of api.streams) {
        streams.push(await explained(stream.name, () => discoverStream(client, api, stream)));
      }
    } finally {
      await client.close();
    }
    return { streams };
  },

  async read(configuration, catalog, state, emit, surroundings) {
    const api = readConfiguration(configuration);
    const client = apiClient(api, surroundings, logRetries(emit));
    try {
      for (const configured of catalog.streams) {
        const { name } = configured.stream;
        const stream = api.streams.find((known) => known.name === name);
        if (!stream) throw new ConnectorError(`There is no stream ${name} any more. Refresh the list of streams.`);
        await explained(name, () => readStream(client, api, stream, configured, state, emit));
      }
    } finally {
      await client.close();
    }
  },
};

async function explained<T>(stream: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const { failureType, fields } = error;
    throw new ConnectorError(`Stream ${stream}: ${error.message}`, { failureType, fields, cause: error });
  }
}

async function checkStream(client: HttpClient, api: Api, stream: StreamConfiguration): Promise<CheckWarning[]> {
  let answer: unknown;
  const onAnswer = (body: unknown) => {
    answer = body;
  };
  for await (const records of readPages(client, api, stream, { onAnswer })) {
    requireFields(records, namedFields(stream));
    return oneRecordWarning(stream, answer);
  }
  return [];
}

function namedFields({ primary_key = [], cursor_field }: StreamConfiguration): string[] {
  return cursor_field === undefined ? primary_key : [...primary_key, cursor_field];
}

async function discoverStream(client: HttpClient, api: Api, stream: StreamConfiguration): Promise<Stream> {
  const { name, primary_key = [], cursor_field } = stream;
  const inference = inferSchema();
  let pages = 0;
  let asked = 0;
  let left = sample.records;
  for await (const records of readPages(client, api, stream)) {
    for (const record of records.slice(0, left)) inference.add(record);
    left -= records.length;
    if (records.length > 0) pages += 1;
    asked += 1;
    if (pages === sample.pages || asked === sample.asked || left <= 0) break;
  }
  const schema = inference.schema();
  const named = Object.fromEntries(namedFields(stream).map((field) => [field, {}]));
  const properties = { ...named, ...(schema.properties as object) };
  return {
    name,
    json_schema: { ...schema, properties },
    supported_sync_modes: cursor_field === undefined ? ['full_refresh'] : ['full_refresh', 'incremental'],
    ...(cursor_field !== undefined && { source_defined_cursor: true, default_cursor_field: [cursor_field] }),
    ...(primary_key.length > 0 && { source_defined_primary_key: primary_key.map((field) => [field]) }),
  };
}

async function readStream(
  client: HttpClient,
  api: Api,
  stream: StreamConfiguration,
  { stream: { name, namespace }, sync_mode }: ConfiguredStream,
  states: readonly State[],
  emit: Emitter,
): Promise<void> {
  const descriptor = namespace === undefined ? { name } : { name, namespace };
  const isIncremental = sync_mode === 'incremental' && stream.cursor_field !== undefined;
  const stored = states.find(({ stream: of }) => of && streamKey(of.stream_descriptor) === streamKey(descriptor));
  const start = isIncremental ? readCursorState(stored?.stream?.stream_state) : {};
  const cursor = cursorReader(stream.cursor_field ?? '', start);
  const emitState = (stream_state: object) =>
    emit.state({ type: 'STREAM', stream: { stream_descriptor: descriptor, stream_state } });

  await emit.status(descriptor, 'STARTED');
  const since = start.cursor === undefined ? undefined : String(start.cursor);
  let emitted = 0;
  const onNote = (note: string) => emit.log('WARN', `Stream ${name}: ${note}`);
  for await (const records of readPages(client, api, stream, { since, hasWorked: true, onNote })) {
    for (const record of records) {
      if (isIncremental && !cursor.isNew(record)) continue;
      await emit.record(descriptor, record);
      emitted += 1;
      // Lets the destination store what it has; where to go on from does not change before the end.
      if (isIncremental && emitted % recordsPerState === 0) await emitState(start);
    }
  }
  if (isIncremental) await emitState(cursor.state());
  await emit.status(descriptor, 'COMPLETE');
}
