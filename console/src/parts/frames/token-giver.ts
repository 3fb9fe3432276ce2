/**
 * Supplies a frame with its view token and renews it: shortly before it expires, and when the frame reports that it was
 * rejected.
 *
 * Invariants: a new token reaches the frame immediately; a token that never worked is not renewed in a loop.
 */
import type { Send } from './sandboxed-frame.tsx';

/** A token works for 15 minutes. */
export const renewAfterMs = 12 * 60_000;
/** A token rejected this soon never worked, so renewing it again would not help. */
export const soonMs = 2_000;

interface Owner {
  /** Requests a new token, which is then passed to `use`. */
  renew(): void;
  /** A token was rejected right after it was renewed. */
  onRefused(): void;
  isSeen(): boolean;
}

export interface TokenGiver {
  /** Sets the first or a renewed token. */
  use(token: string): void;
  /** The frame has no working token, as when it has just loaded. */
  asked(send: Send): void;
  /** The frame is gone. */
  stop(): void;
}

export function createTokenGiver({ renew, onRefused, isSeen }: Owner): TokenGiver {
  let present: string | undefined;
  let given: { token: string; renewedAtMs: number; send: Send } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function give(token: string, send: Send): void {
    const isFirst = given === undefined || given.token === token;
    given = { token, renewedAtMs: isFirst ? Number.NEGATIVE_INFINITY : performance.now(), send };
    send({ inlay: 1, type: 'token', token });
  }

  return {
    use(token) {
      if (token === present) return;
      present = token;
      if (given) give(token, given.send);
      clearTimeout(timer);
      // A hidden widget sends no requests. Once visible, it asks for a token when it needs one.
      timer = setTimeout(() => isSeen() && renew(), renewAfterMs);
    },
    asked(send) {
      if (present === undefined) return;
      if (given?.token !== present || given.send !== send) give(present, send);
      else if (performance.now() - given.renewedAtMs < soonMs) onRefused();
      else renew();
    },
    stop: () => clearTimeout(timer),
  };
}
