/**
 * Requests that empty streams at the destination or replace their rows. They delete data permanently, so unknown fields
 * and unknown streams are refused instead of ignored as everywhere else.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import { listKnownStreams } from '../connections/stream-states.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';
import { Problem } from '../problems.ts';
import { displayName } from '../runner/stream-names.ts';
import type { JobCreate } from './requests.ts';

const knownFields = ['connectionId', 'jobType', 'streams'];

export function deletesRows({ jobType }: JobCreate): boolean {
  return jobType !== 'sync';
}

/** Undefined: all streams. `query` is the request's query string, in which no parameter is known. */
export function readStreams(body: JobCreate, query: unknown): StreamDescriptor[] | undefined {
  const unknown = [
    ...Object.keys(body).filter((name) => !knownFields.includes(name)),
    ...(isObject(query) ? Object.keys(query) : []),
  ];
  if (unknown.length > 0) {
    throw refused(
      `Unknown fields: ${unknown.slice(0, 10).join(', ')}. A ${body.jobType} deletes data, so unknown fields are refused.`,
    );
  }
  const { streams } = body as { streams?: unknown };
  if (streams === undefined) return undefined;
  if (!Array.isArray(streams) || streams.length === 0) {
    throw refused('streams must list at least one stream. Omit it to select all streams.');
  }
  return streams.map(readStream);
}

/** Uses the names of the public API, for either configurations or lists. */
const spellings = [
  ['name', 'namespace'],
  ['streamName', 'streamNamespace'],
] as const;

function readStream(stream: unknown): StreamDescriptor {
  for (const [nameField, namespaceField] of spellings) {
    if (!isObject(stream) || !Object.hasOwn(stream, nameField)) continue;
    const { [nameField]: name, [namespaceField]: namespace, ...more } = stream;
    const hasNamespace = namespace !== undefined && namespace !== null;
    const isRead = typeof name === 'string' && name !== '' && (!hasNamespace || typeof namespace === 'string');
    if (!isRead || Object.keys(more).length > 0) break;
    return hasNamespace ? { name, namespace: String(namespace) } : { name };
  }
  throw refused('Each stream must be an object with a name and, if the stream has one, a namespace.');
}

/** The streams of the connection that are meant. Without a namespace, the one stream of that name is. */
export async function findNamedStreams(
  tx: Db,
  connection: ConnectionRow,
  asked: readonly StreamDescriptor[],
): Promise<StreamDescriptor[]> {
  const { streams: configured } = JSON.parse(connection.configurations) as { streams: StreamDescriptor[] };
  const ref = { workspaceId: connection.workspace_id, connectionId: connection.connection_id };
  const moved = await listKnownStreams(tx, ref);
  // A stream that was never synced has nothing to clear, which is not an error.
  const unmoved = configured.filter(({ name }) => !moved.some((stream) => stream.name === name));
  const known = new Map(
    [...moved, ...unmoved].map(({ name, namespace }) => {
      const stream = namespace ? { name, namespace } : { name };
      return [streamKey(stream), stream] as const;
    }),
  );
  const found = asked.map((stream) => {
    const called = [...known.values()].filter(({ name }) => name === stream.name);
    const [only] = stream.namespace === undefined && called.length === 1 ? called : [known.get(streamKey(stream))];
    if (!only) throw refused(`The connection has no stream ${displayName(stream)}.`);
    return only;
  });
  return [...new Map(found.map((stream) => [streamKey(stream), stream])).values()];
}

function refused(message: string): Problem {
  return new Problem('unprocessable-entity', { message });
}
