/*
 * The source `file`: reads the records of files as one stream. Incremental syncs work file by file: an unchanged file
 * is skipped, any other is read in full. Memory does not grow with file size.
 */

import { type HttpClientOptions, httpClient, logRetries } from '@inlay/guard/http-client';
import {
  blaming,
  type Configuration,
  ConnectorError,
  checkedConfiguration,
  type Emitter,
  type SourceConnector,
  type Surroundings,
} from '@inlay/protocol/connector';
import { isJsonObject } from '@inlay/protocol/json';
import type {
  Catalog,
  ConfiguredStream,
  SkippedRecords,
  State,
  Stream,
  StreamDescriptor,
} from '@inlay/protocol/protocol';
import { maxRecordBytes, streamKey } from '@inlay/protocol/protocol';
import type { HeaderAuthentication } from '../kit/http-settings.ts';
import { inferSchema } from '../kit/inference.ts';
import { requireFields } from '../kit/records.ts';
import { ValueChanges } from '../kit/value-changes.ts';
import { inferColumns, type Row, rowConverter } from './columns.ts';
import { type Encoding, readText } from './content.ts';
import { type CsvFormat, readCsv } from './csv.ts';
import { readJsonDocument, readJsonLines } from './json-files.ts';
import { findLocalFiles } from './local-file.ts';
import type { OpenFile, SourceFile } from './source-file.ts';
import { specification } from './specification.ts';
import { urlField, webFile } from './web-file.ts';

type Format = (CsvFormat & { encoding?: Encoding }) | { type: 'jsonl' } | { type: 'json'; record_path?: string };

interface FileConfiguration {
  stream_name: string;
  location: { type: 'url'; url: string; authentication?: HeaderAuthentication } | { type: 'path'; path: string };
  format: Format;
  primary_key?: string[];
}

/** What is checked, and what a schema is found from. */
const checkedRecords = 100;
const sample = { files: 5, recordsPerFile: 2000 };
const recordsPerState = 10_000;
/** Limit of skipped records in a report. */
const maxKeys = 20;

/** Every record says which file it is from and how old that is; the latter is the cursor, so that newer files win. */
const fileField = '_file';
const modifiedField = '_file_modified_at';

export const connector: SourceConnector = {
  kind: 'source',
  specification,
  subject: ['location', 'format'],

  check(configuration, surroundings) {
    const { format, primary_key = [] } = checkedConfiguration<FileConfiguration>(configuration);
    // A person is waiting for the answer.
    return withFiles(configuration, surroundings, { attempts: 2, silenceMs: 20_000 }, async ([first]) => {
      const records: Record<string, unknown>[] = [];
      if (first) await readSome(first, format, checkedRecords, (record) => records.push(record));
      await blaming(['primary_key'], async () => requireFields(records, primary_key));
      return undefined;
    });
  },

  discover(configuration, surroundings): Promise<Catalog> {
    const { stream_name: name, format, primary_key = [] } = checkedConfiguration<FileConfiguration>(configuration);
    return withFiles(configuration, surroundings, {}, async (files) => {
      const inference = format.type === 'csv' ? inferColumns() : inferSchema();
      for (const file of files.slice(0, sample.files)) {
        await readSome(file, format, sample.recordsPerFile, (record) => inference.add(record as Row));
      }
      return { streams: [describeStream(name, inference.schema(), primary_key)] };
    });
  },

  async read(configuration, catalog, states, emit, surroundings) {
    const { stream_name, format, primary_key = [] } = checkedConfiguration<FileConfiguration>(configuration);
    for (const configured of catalog.streams) {
      const { name } = configured.stream;
      if (name !== stream_name) {
        throw new ConnectorError(`The stream ${name} no longer exists. Refresh the list of streams.`);
      }
      await withFiles(configuration, surroundings, logRetries(emit), (files) =>
        readStream(files, format, primary_key, configured, states, emit),
      );
    }
  },
};

async function readStream(
  files: SourceFile[],
  format: Format,
  key: readonly string[],
  { stream: { name, namespace, json_schema }, sync_mode }: ConfiguredStream,
  states: readonly State[],
  emit: Emitter,
): Promise<void> {
  const descriptor = namespace === undefined ? { name } : { name, namespace };
  const isIncremental = sync_mode === 'incremental';
  const known = isIncremental ? knownVersions(states, descriptor, files) : new Map<string, string>();
  const convert = format.type === 'csv' ? rowConverter(json_schema) : undefined;
  const emitState = () => {
    const stream_state = { files: Object.fromEntries(known) };
    return emit.state({ type: 'STREAM', stream: { stream_descriptor: descriptor, stream_state } });
  };

  await emit.status(descriptor, 'STARTED');
  let emitted = 0;
  // A file may have fields of the same names.
  const changes = new ValueChanges();
  const skipped: SkippedRecords = { count: 0, keys: [] };
  for (const file of files) {
    const opened = await file.open(known.get(file.name));
    if (!opened) continue;
    const modifiedAt = opened.modifiedAt.toISOString();
    const onSkipped = (known: Record<string, unknown>) => {
      skipped.count += 1;
      if (skipped.keys.length === maxKeys) return;
      const values = key.flatMap((field) => (known[field] === undefined ? [] : [`${field} ${known[field]}`]));
      const which = values.length > 0 ? values.join(', ') : `in ${file.name}`;
      skipped.keys.push(which);
      const limit = `${maxRecordBytes / 1e6} MB`;
      emit.log('WARN', `Skipped a record of ${name} (${which}): it is larger than the limit of ${limit}.`);
    };
    for await (const read of readRecords(file, opened, format, { fields: key, onSkipped })) {
      const record = convert ? convert(read as Row) : read;
      for (const field of [fileField, modifiedField]) {
        if (Object.hasOwn(record, field)) changes.add(field, 'left_out', emitted + 1);
      }
      record[fileField] = file.name;
      record[modifiedField] = modifiedAt;
      const behind = emit.record(descriptor, record);
      if (behind) await behind;
      emitted += 1;
      if (isIncremental && emitted % recordsPerState === 0) await emitState();
    }
    if (opened.version === undefined) known.delete(file.name);
    else known.set(file.name, opened.version);
  }
  const values_changed = changes.list();
  if (values_changed.length > 0) await emit.report({ stream_descriptor: descriptor, values_changed });
  if (skipped.count > 0) await emit.report({ stream_descriptor: descriptor, records_skipped: skipped });
  if (isIncremental) await emitState();
  await emit.status(descriptor, 'COMPLETE');
}

async function withFiles<T>(
  configuration: Configuration,
  surroundings: Surroundings,
  options: HttpClientOptions,
  work: (files: SourceFile[]) => Promise<T>,
): Promise<T> {
  const { location } = checkedConfiguration<FileConfiguration>(configuration);
  if (location.type === 'path') {
    const { path } = location;
    return work(await blaming(['location.path'], () => findLocalFiles(path, surroundings.readableDirs)));
  }
  const client = httpClient(surroundings, { ...options, addressField: urlField });
  try {
    return await work([webFile(client, location.url, location.authentication ?? { type: 'none' })]);
  } finally {
    await client.close();
  }
}

async function readSome(
  file: SourceFile,
  format: Format,
  limit: number,
  use: (record: Record<string, unknown>) => void,
): Promise<void> {
  const opened = await file.open();
  if (!opened) return;
  let left = limit;
  for await (const record of readRecords(file, opened, format)) {
    use(record);
    left -= 1;
    if (left === 0) return;
  }
}

interface Skipping {
  /** Identifies a record that is too long. */
  fields?: readonly string[];
  onSkipped?: (known: Record<string, unknown>) => void;
}

async function* readRecords(
  file: SourceFile,
  { body }: OpenFile,
  format: Format,
  { fields, onSkipped }: Skipping = {},
): AsyncGenerator<Record<string, unknown>> {
  const text = readText(body, (format.type === 'csv' && format.encoding) || 'utf-8');
  try {
    if (format.type === 'csv') yield* readCsv(text, format, onSkipped);
    else if (format.type === 'jsonl') yield* readJsonLines(text, fields, onSkipped);
    else yield* readJsonDocument(text, format.record_path ?? '');
  } catch (error) {
    const explained = file.explain(error);
    if (!(explained instanceof ConnectorError)) throw explained;
    const { failureType, fields } = explained;
    throw new ConnectorError(`${file.name}: ${explained.message}`, { failureType, fields, cause: explained });
  }
}

function describeStream(name: string, schema: Stream['json_schema'], primaryKey: string[]): Stream {
  const properties = {
    ...(schema.properties as object),
    [fileField]: { type: 'string' },
    [modifiedField]: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  };
  return {
    name,
    json_schema: { ...schema, properties },
    supported_sync_modes: ['full_refresh', 'incremental'],
    source_defined_cursor: true,
    default_cursor_field: [modifiedField],
    ...(primaryKey.length > 0 && { source_defined_primary_key: primaryKey.map((field) => [field]) }),
  };
}

/** The versions that were read last, of the files that are still there. */
function knownVersions(
  states: readonly State[],
  descriptor: StreamDescriptor,
  files: SourceFile[],
): Map<string, string> {
  const stored = states.find(({ stream }) => stream && streamKey(stream.stream_descriptor) === streamKey(descriptor));
  const versions = (stored?.stream?.stream_state as { files?: unknown } | undefined)?.files;
  if (!isJsonObject(versions)) return new Map();
  const known = files.map(({ name }) => [name, Object.hasOwn(versions, name) ? versions[name] : undefined] as const);
  return new Map(known.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
