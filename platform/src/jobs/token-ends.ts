/**
 * Handles an access token that expires during a sync, for sources that cannot get another one while they run. The sync
 * continues from its last state with a new token, and nothing counts as failed. A stream that has made no progress by
 * the time the next token expires would loop forever, so it fails.
 */
import { createHash } from 'node:crypto';
import { type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import type { Failure } from '../runner/runner.ts';
import { displayName } from '../runner/stream-names.ts';

/** How far streams were, as digests of their states. */
interface TokenEnd {
  /** Hash of all states together. */
  all: string;
  /** The streams that were being read, by key. */
  unfinished: Record<string, string>;
}

export function noteTokenEnd(
  unfinished: readonly StreamDescriptor[],
  states: ReadonlyMap<string, string | null>,
  whole: string | undefined,
): TokenEnd {
  const digest = (state: unknown) => createHash('sha256').update(JSON.stringify(state)).digest('base64url');
  const of = (key: string) => digest([states.get(key) ?? null, whole ?? null]);
  return {
    all: digest([[...states], whole ?? null]),
    unfinished: Object.fromEntries(unfinished.map((stream) => [streamKey(stream), of(streamKey(stream))])),
  };
}

/** Why the job cannot continue; undefined if it has made progress since the last token expired. */
export function standstill(
  before: string | null,
  now: TokenEnd,
  unfinished: readonly StreamDescriptor[],
): Failure | undefined {
  if (before === null) return undefined;
  const last = JSON.parse(before) as TokenEnd;
  const stuck = unfinished.filter((stream) => {
    const key = streamKey(stream);
    return Object.hasOwn(last.unfinished, key) && last.unfinished[key] === now.unfinished[key];
  });
  if (stuck.length === 0 && last.all !== now.all) return undefined;
  const what = stuck.length > 0 ? stuck.map(displayName).join(', ') : 'the source';
  const message =
    `Reading ${what} takes longer than the provider's access tokens are valid. The token expired twice without a ` +
    'new state in between from which the sync could continue.';
  return { message, origin: 'platform', type: 'config_error' };
}
