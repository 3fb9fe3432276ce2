/** Events as server-sent events. The id of each is its position, so that readers can resume. */
import type { Event } from '@inlay/contract/log/events';
import { type EventsContext, followerOf, type PageRequest, type Reader, readPage } from './events.ts';

/** Often enough that proxies keep the connection, and that a reader notices a dead one. */
const heartbeatMs = 15_000;
/**
 * A stream ends within five seconds after its token was revoked or its session ended, whichever replica did that: answers about
 * tokens are remembered for two seconds.
 */
const checkMs = 2_500;
const atOnce = 100;
/** How long a reader waits before it connects again. */
const retryMs = 2_000;

interface StreamOptions {
  /** Undefined: from the oldest that is kept. */
  after: PageRequest['after'];
  ended: AbortSignal;
  /** Throws if the reader's token has expired. Checked before every write. */
  assertStillAllowed(): Promise<void>;
}

/** Ends when the signal says so, or when the token of the reader stops working. */
export async function* streamEvents(
  ctx: EventsContext,
  reader: Reader,
  { after, ended, assertStillAllowed }: StreamOptions,
): AsyncGenerator<string> {
  // The first page is read before anything is sent, so a position that cannot be read is an answer and no broken stream.
  let page = await readPage(ctx, reader, { after, limit: atOnce });
  const follow = followerOf(ctx, reader);
  yield `retry: ${retryMs}\n\n`;
  while (!ended.aborted) {
    if (page.data.length > 0) yield page.data.map(asServerSent).join('');
    // After a long gap without matching events, the reader still learns its current position.
    else yield `: heartbeat\nid: ${page.next}\n\n`;
    let hasMore = page.data.length === atOnce;
    if (hasMore) await assertStillAllowed();
    for (let waitedMs = 0; !hasMore && waitedMs < heartbeatMs; waitedMs += checkMs) {
      hasMore = await ctx.arrivals.wait(reader.organizationId, page.next, checkMs, ended);
      if (ended.aborted) return;
      await assertStillAllowed();
    }
    page = await follow({ after: page.next, limit: atOnce });
  }
}

const served = new WeakMap<Event, string>();

/** JSON has no line breaks outside of texts, so it is one line. Streams that share an event share its text. */
function asServerSent(event: Event): string {
  const text = served.get(event) ?? `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  served.set(event, text);
  return text;
}
