/**
 * Live updates while the page is open. The tab that holds the lock reads events (see reading.ts) and broadcasts them to the
 * other tabs.
 *
 * Invariants: one stream per browser; watchers are notified at most four times a second, with the workspaces affected; while
 * updates are paused, notifications are held back and delivered together afterwards. Every message carries its position, so
 * the next tab that reads can continue there.
 */
import type { LiveState, Message } from './message.ts';
import { readOn } from './reading.ts';

/** The affected workspaces, or `everything` if events may have been missed. */
export type Happened = ReadonlySet<string> | 'everything';

export interface Live {
  state(): LiveState;
  isPaused(): boolean;
  /** Number of events since the pause began. */
  held(): number;
  pause(isPaused: boolean): void;
  watch(watcher: (happened: Happened) => void): () => void;
  /** Notified when the state, the pause or the count changes. */
  watchState(watcher: () => void): () => void;
  close(): void;
}

const name = 'inlay-console';

export function openLive(session: string, onSignedOut: () => void): Live {
  const closing = new AbortController();
  const channel = new BroadcastChannel(name);
  const watchers = new Set<(happened: Happened) => void>();
  const stateWatchers = new Set<() => void>();
  let present: LiveState = 'connecting';
  let position: number | undefined;
  let isPaused = false;
  let heldCount = 0;
  let held: Set<string> | 'everything' = new Set();

  function happen(happened: Happened, count: number): void {
    if (!isPaused) for (const watcher of [...watchers]) watcher(happened);
    else {
      heldCount += count;
      if (happened === 'everything') held = happened;
      else if (held !== 'everything') for (const id of happened) held.add(id);
    }
  }
  function hear(message: Message): void {
    if ('ended' in message) {
      if (message.ended !== session) return;
      // No tab may read with this session any more. The next sign-in reopens everything.
      closing.abort();
      onSignedOut();
      return;
    }
    if ('state' in message) {
      present = message.state;
      position = message.position ?? position;
    } else if ('begins' in message) {
      position = message.begins;
      happen('everything', 0);
    } else {
      position = message.position;
      happen(new Set(message.workspaceIds), message.count);
    }
    for (const watcher of stateWatchers) watcher();
  }
  const broadcast = (message: Message) => {
    if (closing.signal.aborted) return;
    channel.postMessage(message);
    hear(message);
  };
  let isLeading = false;
  channel.onmessage = ({ data }: MessageEvent<Message | 'hello'>) => {
    if (data === 'hello') {
      if (isLeading) channel.postMessage({ state: present, position } satisfies Message);
      // Late messages of the previous reader are ignored, because this tab reads those events itself.
    } else if (!isLeading || 'ended' in data) hear(data);
  };

  const lead = async () => {
    if (closing.signal.aborted) return;
    isLeading = true;
    await readOn({ session, signal: closing.signal, after: position, broadcast });
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
      const missed = held;
      held = new Set();
      heldCount = 0;
      if (!wanted && (missed === 'everything' || missed.size > 0)) happen(missed, 0);
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
