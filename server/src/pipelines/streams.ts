/** Which streams of a source a connection carries, and how each is synced. Pure. */
import type { Customization } from '@inlay/contract/source-templates';
import type { PlatformStream, StreamSelection } from '../platform/pipelines-port.ts';
import { type FailureTexts, operatorsOnly, sameForBoth } from './two-texts.ts';

type StreamChoice = { streams: StreamSelection[] } | { problem: FailureTexts };

/** `suggested`: what the connector's maker suggests; none means all. */
export function chooseStreams(
  available: readonly PlatformStream[],
  customization: Customization,
  suggested: readonly string[],
): StreamChoice {
  const { stream_selection_mode: mode, stream_whitelist: whitelist = [] } = customization;
  const wanted = new Set(mode === 'whitelist' ? whitelist : mode === 'suggested' ? suggested : []);
  const chosen = wanted.size === 0 ? available : available.filter(({ name }) => wanted.has(name));
  if (available.length === 0) return { problem: sameForBoth('The source has no streams, so it has no data to read.') };
  // The template says which streams are wanted.
  if (chosen.length === 0) {
    return { problem: operatorsOnly(`The source has none of the streams ${[...wanted].join(', ')}.`) };
  }
  return { streams: chosen.map((stream) => configure(stream, customization)) };
}

/**
 * Takes the best sync mode that both sides know: new records only, each kept once; else new records only; else
 * everything anew. Without a key and a cursor nobody could tell which of two records is newer, so such a stream is read
 * anew.
 */
function configure(stream: PlatformStream, { stream_customizations: customizations = {} }: Customization) {
  const { name, namespace, syncModes } = stream;
  const { primary_key_fields, cursor_field } = Object.hasOwn(customizations, name) ? (customizations[name] ?? {}) : {};
  const primaryKey = primary_key_fields ?? stream.sourceDefinedPrimaryKey;
  const cursorField = cursor_field ?? stream.defaultCursorField;
  const canFollow = stream.sourceDefinedCursor || cursorField.length > 0;
  const preferences = [
    ...(canFollow && primaryKey.length > 0 ? ['incremental_deduped_history'] : []),
    ...(canFollow && (primaryKey.length > 0 || cursorField.length > 0) ? ['incremental_append'] : []),
    'full_refresh_overwrite',
    'full_refresh_append',
  ];
  const syncMode =
    preferences.find((preferred) => syncModes.includes(preferred)) ?? syncModes[0] ?? 'full_refresh_overwrite';
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
