/** Which streams of a source a connection carries, and how each is synced. Pure. */

import type { Customization } from '@inlay/contract/catalog/source-templates';
import type { WantedStream } from '@inlay/contract/pipelines/connections';
import type { PlatformStream, StreamSelection } from '../../kernel/platform/pipelines-port.ts';
import { type FailureTexts, operatorsOnly, sameForBoth } from '../two-texts.ts';

type StreamChoice = { streams: StreamSelection[] } | { problem: FailureTexts };

/** What decides which streams are synced, and how. */
export interface StreamWishes {
  customization: Customization;
  /** What the connector's maker suggests; none means all. */
  suggested: readonly string[];
  /** Chosen for one connection, instead of what the template selects. */
  own: readonly WantedStream[] | undefined;
}

type Named = Pick<PlatformStream, 'name' | 'namespace'>;

/** Equal for equal streams of one source. */
export const streamKey = ({ name, namespace }: Named) => JSON.stringify([namespace ?? '', name]);

/** Finds streams by name. Without a namespace, the only stream of that name is meant. */
export function streamFinder<T extends Named>(streams: readonly T[]): (wanted: Named) => T | undefined {
  const byKey = new Map(streams.map((stream) => [streamKey(stream), stream]));
  const byName = new Map<string, T | undefined>();
  for (const stream of streams) byName.set(stream.name, byName.has(stream.name) ? undefined : stream);
  return (wanted) =>
    byKey.get(streamKey(wanted)) ?? (wanted.namespace === undefined ? byName.get(wanted.name) : undefined);
}

export function chooseStreams(
  available: readonly PlatformStream[],
  { customization, suggested, own }: StreamWishes,
): StreamChoice {
  if (available.length === 0) return { problem: sameForBoth({ code: 'no_streams', parameters: {} }) };
  if (!own) return chooseByTemplate(available, customization, suggested);
  const find = streamFinder(available);
  const streams = own.flatMap((wanted) => {
    const stream = find(wanted);
    return stream ? [configure(stream, customization, wanted)] : [];
  });
  if (streams.length > 0) return { streams };
  return { problem: sameForBoth({ code: 'chosen_streams_gone', parameters: {} }) };
}

function chooseByTemplate(
  available: readonly PlatformStream[],
  customization: Customization,
  suggested: readonly string[],
): StreamChoice {
  const { stream_selection_mode: mode, stream_whitelist: whitelist = [] } = customization;
  const wanted = new Set(mode === 'whitelist' ? whitelist : mode === 'suggested' ? suggested : []);
  const chosen = wanted.size === 0 ? available : available.filter(({ name }) => wanted.has(name));
  // The template says which streams are wanted.
  if (chosen.length === 0) {
    return { problem: operatorsOnly({ code: 'template_streams_gone', parameters: { streams: [...wanted] } }) };
  }
  return { streams: chosen.map((stream) => configure(stream, customization, undefined)) };
}

/**
 * Chooses the best sync mode that both sides support: incremental with deduplication; else incremental; else a full
 * refresh. Without a key and a cursor it is unknown which of two records is newer, so such a stream is read in full.
 */
function configure(
  stream: PlatformStream,
  { stream_customizations: customizations = {} }: Customization,
  own: WantedStream | undefined,
): StreamSelection {
  const { name, namespace, syncModes } = stream;
  const { primary_key_fields, cursor_field } = Object.hasOwn(customizations, name) ? (customizations[name] ?? {}) : {};
  const primaryKey = own?.primary_key ?? primary_key_fields ?? stream.sourceDefinedPrimaryKey;
  const cursorField = own?.cursor_field ?? cursor_field ?? stream.defaultCursorField;
  const canFollow = stream.sourceDefinedCursor || cursorField.length > 0;
  const preferences = [
    ...(canFollow && primaryKey.length > 0 ? ['incremental_deduped_history'] : []),
    ...(canFollow && (primaryKey.length > 0 || cursorField.length > 0) ? ['incremental_append'] : []),
    'full_refresh_overwrite',
    'full_refresh_append',
  ];
  const syncMode =
    own?.sync_mode ??
    preferences.find((preferred) => syncModes.includes(preferred)) ??
    syncModes[0] ??
    'full_refresh_overwrite';
  const isIncremental = syncMode.startsWith('incremental');
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    syncMode,
    // A cursor or key that the source defines itself is left out, so that the source's own choice holds.
    ...(isIncremental && !stream.sourceDefinedCursor ? { cursorField } : {}),
    ...(syncMode.includes('dedup') && stream.sourceDefinedPrimaryKey.length === 0 ? { primaryKey } : {}),
  };
}

/** What is wrong with the wish for a stream that the source has, as the second half of a sentence. */
export function faultOfWish(stream: PlatformStream, wanted: WantedStream, customization: Customization) {
  const { sync_mode: mode } = wanted;
  if (mode === undefined) return undefined;
  if (!stream.syncModes.includes(mode)) {
    return {
      field: 'sync_mode',
      msg: `the stream supports these sync modes: ${stream.syncModes.join(', ') || 'none'}`,
    };
  }
  const { cursorField = [], primaryKey = [] } = configure(stream, customization, wanted);
  if (mode.startsWith('incremental') && !stream.sourceDefinedCursor && cursorField.length === 0) {
    return { field: 'cursor_field', msg: 'this sync mode requires a cursor field, and the source defines none' };
  }
  if (mode.includes('dedup') && stream.sourceDefinedPrimaryKey.length === 0 && primaryKey.length === 0) {
    return { field: 'primary_key', msg: 'this sync mode requires a primary key, and the source defines none' };
  }
  return undefined;
}
