/**
 * What a sync is going to move, given what the connection asks for and what its source has now. The source may have
 * changed since the last run; the connection says what then happens:
 *
 *   ignore              new fields are no part of the schema, streams that were not named are not moved
 *   propagate_columns   new fields are moved
 *   propagate_fully     new fields and new streams are moved, streams that are gone are dropped
 *   disable_connection  any change stops the connection
 *
 * A named stream that no longer exists is skipped, and the job reports it at its end; the others are synced. A named
 * stream that lost its cursor or primary key always stops the connection. Pure functions.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Catalog, type ConnectorSpecification, type Stream, streamKey } from '@inlay/protocol/protocol';
import type { StreamConfiguration } from '../connections/requests.ts';
import { type ChosenStream, chooseStreams, shownName, streamFinder } from '../connections/stream-selection.ts';
import type { ConnectionRow } from '../db/tables.ts';
import { Problem } from '../problems.ts';

interface SyncPlan {
  streams: ChosenStream[];
  /** Set if the source lacks streams that were requested. */
  shortcoming: string | undefined;
  /** What the next run compares with. */
  catalog: Catalog;
  /** As the connection is to name its streams from now on. */
  configurations: { streams: StreamConfiguration[] };
}

/** The sync cannot be done as the connection stands; the message says what to do. */
export class PlanFault extends Error {
  override readonly name = 'PlanFault';

  constructor(
    message: string,
    /** Whether the connection stops until someone reviews it. */
    readonly disablesConnection: boolean,
  ) {
    super(message);
  }
}

/** `accepted` is what the source had at the last run; undefined before the first one. */
export function planSync(
  connection: ConnectionRow,
  discovered: Catalog,
  accepted: Catalog | undefined,
  destination: ConnectorSpecification,
): SyncPlan {
  const behavior = connection.schema_updates_behavior;
  if (behavior === 'disable_connection' && accepted && !sameCatalog(accepted, discovered)) {
    throw new PlanFault(
      'The streams or fields of the source have changed. Review them, then reactivate the connection.',
      true,
    );
  }
  const { streams: named } = JSON.parse(connection.configurations) as SyncPlan['configurations'];
  const asked = behavior === 'propagate_fully' ? followSource(named, discovered, accepted) : named;
  const find = streamFinder(discovered);
  const there = asked.filter((stream) => find(stream));
  const missing = asked.filter((stream) => !find(stream));
  const shortcoming = missing.length > 0 ? missingStreams(missing) : undefined;
  if (shortcoming !== undefined && there.length === 0) throw new PlanFault(shortcoming, false);
  if (discovered.streams.length === 0) {
    throw new PlanFault('The source has no streams. Check its configuration.', false);
  }
  const chosen = chooseOrStop(discovered, there, destination);
  const configurations = { streams: asked };
  if (behavior !== 'ignore') return { streams: chosen, shortcoming, catalog: discovered, configurations };
  const asBefore = schemasOf(accepted);
  const streams = chosen.map((choice) => ({ ...choice, stream: asBefore(choice.stream) }));
  return { streams, shortcoming, catalog: { streams: discovered.streams.map(asBefore) }, configurations };
}

function missingStreams(missing: readonly StreamConfiguration[]): string {
  const names = missing.map(shownName).join(', ');
  return missing.length === 1
    ? `The source no longer has the stream ${names}. Remove it from the connection.`
    : `The source no longer has the streams ${names}. Remove them from the connection.`;
}

/** Without named streams, all of them are synced, so there is nothing to add or drop. */
function followSource(named: StreamConfiguration[], discovered: Catalog, accepted: Catalog | undefined) {
  if (named.length === 0) return named;
  const known = new Set((accepted ?? discovered).streams.map(streamKey));
  const added = discovered.streams
    .filter((stream) => !known.has(streamKey(stream)))
    .map(({ name, namespace }) => ({ name, ...(namespace !== undefined && { namespace }) }));
  const find = streamFinder(discovered);
  return [...named.filter((stream) => find(stream)), ...added];
}

function chooseOrStop(catalog: Catalog, asked: StreamConfiguration[], destination: ConnectorSpecification) {
  try {
    return chooseStreams(catalog, asked, destination);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new PlanFault(String(error.data?.message), true);
  }
}

/** Gives a stream the schema that it had in that catalog, if it was included. */
function schemasOf(accepted: Catalog | undefined): (stream: Stream) => Stream {
  const before = new Map(accepted?.streams.map((stream) => [streamKey(stream), stream.json_schema]));
  return (stream) => {
    const json_schema = before.get(streamKey(stream));
    return json_schema ? { ...stream, json_schema } : stream;
  };
}

function sameCatalog(one: Catalog, other: Catalog): boolean {
  // The sync modes of a stream can change with the connector's version without a change in the data.
  const byKey = ({ streams }: Catalog) =>
    new Map(
      streams.map((stream) => [streamKey(stream), [stream.json_schema, stream.source_defined_primary_key ?? []]]),
    );
  return isDeepStrictEqual(byKey(one), byKey(other));
}
