/**
 * What happens in the organization while the page is open. One tab of the browser reads the stream (the tab that holds
 * the lock) and tells the others.
 *
 * What always holds: one stream per browser; watchers hear at most four times a second which workspaces something has
 * happened to, however much that is; while somebody has paused, they hear nothing, and everything at once afterwards.
 */
import type { EventPage } from '@inlay/contract/events';
import { ApiError, callApi, searchOf } from '../api/client.ts';
import { basePath } from '../router/router.ts';
import { createParser, type StreamedEvent } from './event-stream.ts';

export type LiveState = 'connecting' | 'live' | 'polling' | 'offline';

export interface Live {
  state(): LiveState;
  isPaused(): boolean;
  /** How much has happened since the pause began. */
  held(): number;
  pause(isPaused: boolean): void;
  /** Told with the workspaces that something has happened to. */
  watch(watcher: (workspaceIds: ReadonlySet<string>) => void): () => void;
  /** Told when the state, the pause or the count has changed. */
  watchState(watcher: () => void): () => void;
  close(): void;
}

const name = 'inlay-console';
const tellMs = 250;
const pollMs = 5_000;
/** A stream that is cut sooner than this is probably cut by something between. */
const shortStreamMs = 5_000;
/** After so many short streams in a row, the service is asked from time to time instead. */
const maxShortStreams = 3;
/** Then a stream is tried again after so many looks. */
const pollsBeforeStream = 24;

type Message = { state: LiveState } | { workspaceIds: string[]; count: number };

export function openLive(onSignedOut: () => void): Live {
  const closing = new AbortController();
  const channel = new BroadcastChannel(name);
  const watchers = new Set<(workspaceIds: ReadonlySet<string>) => void>();
  const stateWatchers = new Set<() => void>();
  let present: LiveState = 'connecting';
  let isPaused = false;
  let heldCount = 0;
  const heldIds = new Set<string>();

  function hear(message: Message): void {
    if ('state' in message) present = message.state;
    else if (isPaused) {
      heldCount += message.count;
      for (const id of message.workspaceIds) heldIds.add(id);
    } else for (const watcher of watchers) watcher(new Set(message.workspaceIds));
    for (const watcher of stateWatchers) watcher();
  }
  const tell = (message: Message) => {
    if (closing.signal.aborted) return;
    hear(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message | 'hello'>) => {
    if (data !== 'hello') hear(data);
    else if (isLeading) channel.postMessage({ state: present });
  };

  let isLeading = false;
  const lead = async () => {
    if (closing.signal.aborted) return;
    isLeading = true;
    await readOn({ signal: closing.signal, tell, onSignedOut });
  };
  if (navigator.locks) {
    navigator.locks.request(name, { signal: closing.signal }, lead).catch(() => {
      // Closed while another tab had the lock.
    });
  } else void lead();
  channel.postMessage('hello');

  return {
    state: () => present,
    isPaused: () => isPaused,
    held: () => heldCount,
    pause(wanted) {
      isPaused = wanted;
      const missed = new Set(heldIds);
      heldIds.clear();
      heldCount = 0;
      if (!wanted && missed.size > 0) for (const watcher of watchers) watcher(missed);
      for (const watcher of stateWatchers) watcher();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    watchState(watcher) {
      stateWatchers.add(watcher);
      return () => stateWatchers.delete(watcher);
    },
    close() {
      closing.abort();
      channel.close();
    },
  };
}

interface Reading {
  signal: AbortSignal;
  tell(message: Message): void;
  onSignedOut(): void;
}

async function readOn({ signal, tell, onSignedOut }: Reading): Promise<void> {
  let after: number | undefined;
  let shortStreams = 0;
  let polls = 0;
  const collected = { ids: new Set<string>(), count: 0 };
  const take = (events: readonly StreamedEvent[]) => {
    for (const { position, workspaceId } of events) {
      after = Math.max(after ?? 0, position);
      collected.count += 1;
      // Without a workspace, it is about the organization.
      collected.ids.add(workspaceId ?? '');
    }
  };
  const timer = setInterval(() => {
    if (collected.count === 0) return;
    tell({ workspaceIds: [...collected.ids], count: collected.count });
    collected.ids.clear();
    collected.count = 0;
  }, tellMs);
  signal.addEventListener('abort', () => clearInterval(timer));

  while (!signal.aborted) {
    try {
      after ??= await presentPosition(signal);
      if (shortStreams < maxShortStreams) {
        const startedMs = performance.now();
        tell({ state: 'live' });
        await readStream(after, signal, take);
        shortStreams = performance.now() - startedMs < shortStreamMs ? shortStreams + 1 : 0;
      } else {
        tell({ state: 'polling' });
        take(await poll(after, signal));
        polls += 1;
        if (polls % pollsBeforeStream === 0) shortStreams = 0;
        await pause(pollMs, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      const { status = 0 } = error instanceof ApiError ? error : {};
      if (status === 401) onSignedOut();
      // The position is no longer kept, or of another database: what happened between is seen by loading anew.
      if (status === 410 || status === 409) after = undefined;
      if (status !== 0 && status !== 401) shortStreams += 1;
      tell({ state: 'offline' });
      await pause(pollMs, signal);
    }
  }
}

/** Nothing has happened after now, and the answer names where reading goes on. */
async function presentPosition(signal: AbortSignal): Promise<number> {
  const since = new Date(Date.now() + 60_000).toISOString();
  return (await callApi<EventPage>({ method: 'GET', path: '/events', query: { since, limit: 1 } }, signal)).next;
}

async function poll(after: number, signal: AbortSignal): Promise<StreamedEvent[]> {
  const { data } = await callApi<EventPage>({ method: 'GET', path: '/events', query: { after, limit: 500 } }, signal);
  return data.map(({ position, type, workspace_id }) => ({ position, type, workspaceId: workspace_id }));
}

/** Ends when the stream ends; throws when there is none. */
async function readStream(after: number, signal: AbortSignal, take: (events: StreamedEvent[]) => void): Promise<void> {
  const response = await fetch(`${basePath}api/v1/events/stream${searchOf({ after })}`, {
    credentials: 'same-origin',
    headers: { accept: 'text/event-stream' },
    signal,
  }).catch(() => undefined);
  if (!response) throw new ApiError('', { status: 0, code: 'unreachable' });
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    throw new ApiError('', { status: response.status, code: response.headers.get('x-inlay-error') ?? '' });
  }
  const parse = createParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      take(parse(value));
    }
  } catch (error) {
    // Cut on the way: the next stream goes on where this one was.
    if (signal.aborted) throw error;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
