/**
 * Gives a frame its view token, and has it renewed: shortly before it ends, and when the frame says that it does not work.
 *
 * What always holds: a new token goes to the frame at once; a token that never worked is not renewed again and again.
 */
import type { Send } from './sandboxed-frame.tsx';

/** A token works for 15 minutes. */
export const renewAfterMs = 12 * 60_000;
/** A new token that is refused this soon never worked: asking again and again would not help. */
export const soonMs = 2_000;

interface Owner {
  /** Asks the service for another token, which `use` is told when it is there. */
  renew(): void;
  /** A token that was just renewed does not work. */
  onRefused(): void;
  isSeen(): boolean;
}

export interface TokenGiver {
  /** There is a token: the first, or another one. */
  use(token: string): void;
  /** A frame says that it has no token that works. One that has just loaded says so, too. */
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
      // While nobody looks, the widget asks nothing. It says when it needs another token.
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
