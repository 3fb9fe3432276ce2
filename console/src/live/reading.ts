/**
 * Reads events by the cursor: from a stream, or again and again where streams do not work.
 *
 * What always holds: what was told once is not told again, and nothing between is left out; where that cannot be known,
 * `begins` says so. A stream of which nothing arrives does not count as one: something between may be keeping it back.
 */
import type { EventPage } from '@inlay/contract/log/events';
import { ApiError, callApi, requestTo, searchOf } from '../api/client.ts';
import { basePath } from '../router/router.ts';
import { createParser, type StreamedEvent } from './event-stream.ts';
import type { Message } from './message.ts';

const tellMs = 250;
const pollMs = 5_000;
const pollLimit = 500;
/** Before a stream that failed is tried again. */
const retryMs = 2_000;
/** A stream that is cut sooner than this is probably cut by something between. */
const shortStreamMs = 5_000;
/** The service sends something at once, and then every 15 seconds. */
const firstPieceMs = 10_000;
const silenceMs = 45_000;
/** After so many short streams in a row, the service is asked from time to time instead. */
const maxShortStreams = 3;
/** Then a stream is tried again after so many looks. */
const pollsBeforeStream = 24;

interface Reading {
  session: string;
  signal: AbortSignal;
  /** Where the tab that read before has stopped. */
  after: number | undefined;
  tell(message: Message): void;
}

/** Ends when the signal says so, and when the session has ended. */
export async function readOn({ session, signal, after, tell }: Reading): Promise<void> {
  const { begin, take, stop } = collect(after ?? 0, tell);
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
        tell({ begins: after });
      }
      if (isStreaming) {
        const lastedMs = await readStream(after, signal, {
          onPiece: () => tell({ state: 'live' }),
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
      tell({ state: 'polling' });
      polls += 1;
      // The service is back: perhaps streams are as well.
      if (isAway || polls % pollsBeforeStream === 0) shortStreams = maxShortStreams - 1;
      isAway = false;
      if (page.data.length < pollLimit) await pause(pollMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { status = 0, code = '' } = error instanceof ApiError ? error : {};
      if (status === 401) return tell({ ended: session });
      // The position is no longer kept, or of another database.
      if (code === 'events_gone' || code === 'events_ahead') after = undefined;
      const hasPosition = after !== undefined;
      if (isStreaming && hasPosition) shortStreams += 1;
      else isAway = true;
      tell({ state: isStreaming && hasPosition ? 'connecting' : 'offline' });
      await pause(isStreaming ? retryMs : pollMs, signal);
    }
  }
}

/** Tells what was taken at most four times a second. */
function collect(from: number, tell: Reading['tell']) {
  let last = from;
  let toldAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  const ids = new Set<string>();
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    toldAt = performance.now();
    if (count === 0) return;
    tell({ workspaceIds: [...ids], count, position: last });
    ids.clear();
    count = 0;
  };
  return {
    begin(position: number): void {
      flush();
      last = position;
    },
    /** Gives the position of the last one. */
    take(events: readonly StreamedEvent[]): number {
      for (const { position, workspaceId } of events) {
        if (position <= last) continue;
        last = position;
        count += 1;
        // Without a workspace, it is about the organization.
        ids.add(workspaceId ?? '');
      }
      const waitMs = tellMs - (performance.now() - toldAt);
      // Timers of a page that nobody sees may wait for a minute, and other tabs may be seen.
      if (waitMs <= 0 || document.hidden) flush();
      else timer ??= setTimeout(flush, waitMs);
      return last;
    },
    stop: () => clearTimeout(timer),
  };
}

/** Nothing has happened after now, and the answer names where reading goes on. */
async function presentPosition(signal: AbortSignal): Promise<number> {
  const since = new Date(Date.now() + 60_000).toISOString();
  return (await callApi(requestTo('GET /events', { query: { since, limit: 1 } }), signal)).next;
}

async function poll(after: number, signal: AbortSignal): Promise<EventPage> {
  return await callApi(requestTo('GET /events', { query: { after, limit: pollLimit } }), signal);
}

interface Heard {
  /** Something has arrived, and be it only that nothing has happened. */
  onPiece(): void;
  onEvents(events: StreamedEvent[]): void;
}

/** Gives for how long there was a stream. Throws when there is none. */
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
    // Cut on the way: the next stream goes on where this one was. If nothing has come at all, there was none.
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
