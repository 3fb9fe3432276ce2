/**
 * Limits guesses at a secret. Only wrong guesses count; above the limit, right ones are refused too, so that a refusal
 * reveals nothing.
 */
import { BoundedMap } from './bounded-map.ts';

const windowMs = 60_000;
/** Enough for the callers that guess within one minute. */
const maxCallers = 10_000;

export class GuessLimit {
  readonly #elapsed: () => number;
  readonly #perMinute: number;
  readonly #byCaller = new BoundedMap<string, { wrong: number; beganAt: number }>(maxCallers);

  /** `elapsed`: milliseconds of a clock that never goes back. */
  constructor(elapsed: () => number, perMinute = 10) {
    this.#elapsed = elapsed;
    this.#perMinute = perMinute;
  }

  /** The seconds to wait before the next guess; undefined when this one counts. */
  waitSeconds(caller: string): number | undefined {
    const window = this.#current(caller);
    if (!window || window.wrong < this.#perMinute) return undefined;
    return Math.max(1, Math.ceil((windowMs - (this.#elapsed() - window.beganAt)) / 1000));
  }

  recordWrong(caller: string): void {
    const window = this.#current(caller) ?? { wrong: 0, beganAt: this.#elapsed() };
    window.wrong++;
    this.#byCaller.set(caller, window);
  }

  /** Undefined when its minute is over. */
  #current(caller: string) {
    const window = this.#byCaller.get(caller);
    return window && this.#elapsed() - window.beganAt < windowMs ? window : undefined;
  }
}

/** A caller with one address of IPv6 usually has the 2^64 addresses around it too. */
export function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':');
}
