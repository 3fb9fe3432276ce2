/**
 * Reads events by cursor: from a stream, or by polling where streams do not work.
 *
 * Invariants: every event is reported once, without gaps; where that cannot be guaranteed, `begins` says so. A stream on which
 * nothing arrives counts as failed, because a proxy may be buffering it.
 */
import type { EventPage } from '@inlay/contract/log/events';
import { ApiError, callApi, requestTo, searchOf } from '../api/client.ts';
import { basePath } from '../router/router.ts';
import { createParser, type StreamedEvent } from './event-stream.ts';
import type { Message } from './message.ts';

const broadcastMs = 250;
const pollMs = 5_000;
const pollLimit = 500;
/** Pause before a failed stream is retried. */
const retryMs = 2_000;
/** A stream cut sooner than this was probably cut by a proxy. */
const shortStreamMs = 5_000;
/** The service sends a first piece immediately, then one every 15 seconds. */
const firstPieceMs = 10_000;
const silenceMs = 45_000;
/** After this many short streams in a row, polling takes over. */
const maxShortStreams = 3;
/** Polls before a stream is tried again. */
const pollsBeforeStream = 24;

interface Reading {
  session: string;
  signal: AbortSignal;
  /** Where the previous reader stopped. */
  after: number | undefined;
  broadcast(message: Message): void;
}

/** Runs until aborted or until the session ends. */
export async function readOn({ session, signal, after, broadcast }: Reading): Promise<void> {
  const { begin, take, stop } = collect(after ?? 0, broadcast);
  signal.addEventListener('abort', stop);
  let shortStreams = 0;
  let polls = 0;
  let isAway = false;
  while (!signal.aborted) {
    const isStreaming = shortStreams < maxShortStreams;
    try {
      if (after === undefined) {
        after = await presentPosition(signal);
        begin(after);
        broadcast({ begins: after });
      }
      if (isStreaming) {
        const lastedMs = await readStream(after, signal, {
          onPiece: () => broadcast({ state: 'live' }),
          onEvents: (events) => {
            after = take(events);
          },
        });
        shortStreams = lastedMs < shortStreamMs ? shortStreams + 1 : 0;
        if (shortStreams > 0) await pause(retryMs, signal);
        continue;
      }
      const page: EventPage = await poll(after, signal);
      take(page.data.map(({ position, type, workspace_id }) => ({ position, type, workspaceId: workspace_id })));
      after = page.next;
      broadcast({ state: 'polling' });
      polls += 1;
      // The service is back, so streams may work again.
      if (isAway || polls % pollsBeforeStream === 0) shortStreams = maxShortStreams - 1;
      isAway = false;
      if (page.data.length < pollLimit) await pause(pollMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { status = 0, code = '' } = error instanceof ApiError ? error : {};
      if (status === 401) return broadcast({ ended: session });
      // The position has expired or belongs to another database.
      if (code === 'events_gone' || code === 'events_ahead') after = undefined;
      const hasPosition = after !== undefined;
      if (isStreaming && hasPosition) shortStreams += 1;
      else isAway = true;
      broadcast({ state: isStreaming && hasPosition ? 'connecting' : 'offline' });
      await pause(isStreaming ? retryMs : pollMs, signal);
    }
  }
}

/** Throttle: collects events and broadcasts them at most four times a second. */
function collect(from: number, broadcast: Reading['broadcast']) {
  let last = from;
  let broadcastAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  const ids = new Set<string>();
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    broadcastAt = performance.now();
    if (count === 0) return;
    broadcast({ workspaceIds: [...ids], count, position: last });
    ids.clear();
    count = 0;
  };
  return {
    begin(position: number): void {
      flush();
      last = position;
    },
    /** Returns the position of the last event. */
    take(events: readonly StreamedEvent[]): number {
      for (const { position, workspaceId } of events) {
        if (position <= last) continue;
        last = position;
        count += 1;
        // Events without a workspace concern the organization.
        ids.add(workspaceId ?? '');
      }
      const waitMs = broadcastMs - (performance.now() - broadcastAt);
      // Timers of a hidden page may be delayed by a minute, while another tab is visible.
      if (waitMs <= 0 || document.hidden) flush();
      else timer ??= setTimeout(flush, waitMs);
      return last;
    },
    stop: () => clearTimeout(timer),
  };
}

/** Asks for future events: the answer is empty and carries the current position. */
async function presentPosition(signal: AbortSignal): Promise<number> {
  const since = new Date(Date.now() + 60_000).toISOString();
  return (await callApi(requestTo('GET /events', { query: { since, limit: 1 } }), signal)).next;
}

async function poll(after: number, signal: AbortSignal): Promise<EventPage> {
  return await callApi(requestTo('GET /events', { query: { after, limit: pollLimit } }), signal);
}

interface Heard {
  /** Something has arrived, even if only a keep-alive. */
  onPiece(): void;
  onEvents(events: StreamedEvent[]): void;
}

/** Returns how long the stream lasted. Throws if there was none. */
async function readStream(after: number, signal: AbortSignal, { onPiece, onEvents }: Heard): Promise<number> {
  const startedMs = performance.now();
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), firstPieceMs);
  let hasBegun = false;
  try {
    const response = await fetch(`${basePath}api/v1/events/stream${searchOf({ after })}`, {
      credentials: 'same-origin',
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      throw new ApiError('', { status: response.status, code: response.headers.get('x-inlay-error') ?? '' });
    }
    const parse = createParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      if (!hasBegun) onPiece();
      hasBegun = true;
      onEvents(parse(value));
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    // A cut stream: the next one continues where it stopped. If nothing arrived at all, there was no stream.
    if (!hasBegun || silent.signal.aborted) throw new ApiError('', { status: 0, code: 'unreachable' });
  } finally {
    clearTimeout(timer);
  }
  return hasBegun ? performance.now() - startedMs : 0;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
