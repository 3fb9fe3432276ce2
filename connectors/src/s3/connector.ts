/*
 * The destination `s3`: JSON Lines, compressed with gzip, as objects in a bucket of any S3-compatible store.
 *
 * A state is confirmed when the earlier records of its stream are in complete objects; for an `overwrite` stream, when
 * the stream is complete. Objects are not completed at every state, which would create thousands of tiny ones, but only
 * after enough bytes or time, and at the end. Memory does not grow with the number of streams: over budget, the fullest
 * objects are sent to the store.
 */
import { randomUUID } from 'node:crypto';
import {
  ConnectorError,
  type DestinationConnector,
  type DestinationInput,
  type Emitter,
} from '@inlay/protocol/connector';
import { type ConfiguredCatalog, type State, streamKey } from '@inlay/protocol/protocol';
import { Slots } from '@inlay/protocol/slots';
import { attemptOf } from '../kit/attempts.ts';
import { Holdings } from '../kit/holdings.ts';
import { type S3Client, s3Client } from './client.ts';
import { streamFolder } from './keys.ts';
import { claimFolder } from './owners.ts';
import { readSettings } from './settings.ts';
import { specification } from './specification.ts';
import { type ObjectLimits, StreamWriter } from './stream-writer.ts';

export interface Limits extends ObjectLimits {
  /** States are confirmed when this much can be stored with them … */
  flushBytes: number;
  /** … or when they have waited this long. */
  flushAfterMs: number;
  /** Limit for all open objects together. */
  heldBytes: number;
  uploads: number;
}

const mebibyte = 1024 * 1024;
const usualLimits: Limits = {
  partBytes: 8 * mebibyte,
  objectBytes: 512 * mebibyte,
  flushBytes: 8 * mebibyte,
  flushAfterMs: 30_000,
  heldBytes: 64 * mebibyte,
  uploads: 4,
  tries: 9,
};

/** Someone waits for the answer of a check, so it does not insist as long as a sync does. */
const triesOfCheck = 3;

export const connector = s3Destination();

/** The limits are given by tests, which do not want to wait for megabytes or seconds. */
export function s3Destination(given: Partial<Limits> = {}): DestinationConnector {
  const limits = { ...usualLimits, ...given };
  return {
    kind: 'destination',
    specification,

    async check(config, surroundings) {
      const settings = readSettings(config);
      const client = s3Client(settings, surroundings, triesOfCheck);
      try {
        const key = `${settings.prefix}inlay-check-${randomUUID()}`;
        await client.put(key, Buffer.from('Written by a connection check, which also deletes it.\n'));
        await client.listKeys(key).next();
        await client.delete(key);
      } finally {
        await client.close();
      }
    },

    async write(config, catalog, input, emit, surroundings) {
      refuseKeys(catalog);
      const settings = readSettings(config);
      const client = s3Client(settings, surroundings, limits.tries);
      // The same clock for all machines, so that a run knows which objects are older than its own.
      const startedAtMs = attemptOf(catalog)?.epoch ?? Date.now();
      // They run concurrently with the reading of records, and each keeps a part in memory.
      const slots = new Slots(limits.uploads);
      const place = { bucketUrl: settings.bucketUrl, prefix: settings.prefix, startedAtMs };
      const streams = new Map(
        catalog.streams.map((stream) => [
          streamKey(stream.stream),
          new StreamWriter(stream, client, slots, limits, place),
        ]),
      );
      const all = [...streams.values()];
      try {
        for (const { stream } of catalog.streams) {
          await claimFolder(client, streamFolder(settings.prefix, stream), surroundings.workspaceId);
        }
        if (await isAnyLost(all, emit)) return;
        await removeLeftovers(client, settings.prefix, all, emit);
        await writeStreams(streams, input, new Holdings(catalog, emit), emit, limits);
      } finally {
        await abortUnfinished(all, emit);
        await client.close();
      }
    },
  };
}

/** True: states rely on objects that are not here. The platform forgets the states first, and comes again. */
async function isAnyLost(streams: readonly StreamWriter[], emit: Emitter): Promise<boolean> {
  let isAny = false;
  for (const writer of streams) {
    const { stream: stream_descriptor } = writer.stream;
    const loss = await writer.findLoss();
    if (loss === 'gone') await emit.holding?.({ stream_descriptor, lost: loss });
    if (loss === 'emptied') await emit.holding?.({ stream_descriptor, is_emptied: true });
    isAny ||= loss === 'gone';
  }
  return isAny;
}

function refuseKeys({ streams }: ConfiguredCatalog): void {
  const keyed = streams.find(({ destination_sync_mode: mode }) => mode !== 'append' && mode !== 'overwrite');
  if (!keyed) return;
  throw new ConnectorError(
    `${keyed.stream.name} cannot use ${keyed.destination_sync_mode}, because objects have no keys. Choose another sync mode.`,
  );
}

async function writeStreams(
  streams: ReadonlyMap<string, StreamWriter>,
  input: AsyncIterable<DestinationInput[]>,
  holdings: Holdings,
  emit: Emitter,
  limits: Limits,
): Promise<void> {
  const all = [...streams.values()];
  const replacing = new Set([...streams].filter(([, stream]) => stream.isReplaced).map(([key]) => key));
  let unconfirmed: State[] = [];
  let flushedAtMs = performance.now();

  /** A state without a stream is one of all streams. */
  const isCovered = ({ stream }: State) =>
    stream ? !replacing.has(streamKey(stream.stream_descriptor)) : replacing.size === 0;

  async function flush(): Promise<void> {
    const outcomes = await Promise.allSettled(all.map((stream) => stream.flush()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    for (const { stream, held } of all) await holdings.tell(stream, held);
    for (const state of unconfirmed.filter(isCovered)) await emit.state(state);
    unconfirmed = unconfirmed.filter((state) => !isCovered(state));
    flushedAtMs = performance.now();
  }

  for await (const batch of input) {
    const touched = new Set<StreamWriter>();
    const completed: string[] = [];
    for (const message of batch) {
      if (message.type === 'RECORD') {
        const { stream: name, namespace } = message.record;
        const stream = getStream(streams, streamKey(namespace === undefined ? { name } : { name, namespace }));
        stream.add(message.record);
        touched.add(stream);
      } else if (message.type === 'STATE') {
        unconfirmed.push(message.state);
      } else if (message.trace.stream_status?.status === 'COMPLETE') {
        completed.push(streamKey(message.trace.stream_status.stream_descriptor));
      }
    }
    for (const stream of touched) await stream.write();
    // After the batch, because a stream gets no record after its COMPLETE.
    for (const key of completed) {
      await getStream(streams, key).complete();
      replacing.delete(key);
    }
    await keepWithin(limits.heldBytes, all);
    const isDue =
      performance.now() - flushedAtMs >= limits.flushAfterMs ||
      all.reduce((sum, stream) => sum + stream.unflushedBytes, 0) >= limits.flushBytes;
    if (isDue && unconfirmed.some(isCovered)) await flush();
  }
  await flush();
  for (const stream of all) await emit.report(stream.report);
}

function getStream(streams: ReadonlyMap<string, StreamWriter>, key: string): StreamWriter {
  const stream = streams.get(key);
  if (!stream) throw new Error(`The stream ${key} is not in the catalog.`);
  return stream;
}

/** The fullest go first: they free the most memory per request. */
async function keepWithin(heldBytes: number, streams: readonly StreamWriter[]): Promise<void> {
  let held = streams.reduce((sum, stream) => sum + stream.heldBytes, 0);
  if (held <= heldBytes) return;
  for (const stream of streams.toSorted((a, b) => b.heldBytes - a.heldBytes)) {
    held -= stream.heldBytes;
    await stream.release();
    if (held <= heldBytes) return;
  }
}

/** A killed run leaves parts of objects that nobody will ever complete and someone pays for. */
async function removeLeftovers(client: S3Client, prefix: string, streams: readonly StreamWriter[], emit: Emitter) {
  const uploads = await client.findUploads(prefix);
  if (!uploads) {
    emit.log(
      'WARN',
      'Unfinished uploads of earlier runs were not removed, because the store or the key does not allow listing them.',
    );
    return;
  }
  const own = uploads.filter(({ key }) => streams.some((stream) => stream.owns(key)));
  for (const upload of own) await client.abortUpload(upload);
  if (own.length > 0) emit.log('INFO', `Removed ${own.length} unfinished uploads of an earlier run.`);
}

/** The next run removes the rest, so a failure here must not hide why this run ends. */
async function abortUnfinished(streams: readonly StreamWriter[], emit: Emitter): Promise<void> {
  try {
    for (const stream of streams) await stream.abort();
  } catch (error) {
    emit.log('WARN', `Failed to remove unfinished uploads; the next run retries: ${(error as Error).message}`);
  }
}
