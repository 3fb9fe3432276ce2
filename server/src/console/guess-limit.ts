/**
 * How often an address may try to sign in. Only wrong tries count; over the limit, right ones are refused as well, so that an
 * answer tells nothing. Tokens and codes have 256 bits, so what is limited is the work, not the chance.
 */
import { BoundedMap } from '../bounded-map.ts';

const windowMs = 60_000;
const wrongPerMinute = 10;
const maxAddresses = 10_000;

export class GuessLimit {
  readonly #elapsed: () => number;
  readonly #byAddress = new BoundedMap<string, { wrong: number; beganAt: number }>(maxAddresses);

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** The seconds to wait before the next try; undefined when this one counts. */
  waitSeconds(address: string): number | undefined {
    const window = this.#current(address);
    if (!window || window.wrong < wrongPerMinute) return undefined;
    return Math.max(1, Math.ceil((windowMs - (this.#elapsed() - window.beganAt)) / 1000));
  }

  recordWrong(address: string): void {
    const window = this.#current(address) ?? { wrong: 0, beganAt: this.#elapsed() };
    window.wrong++;
    this.#byAddress.set(networkOf(address), window);
  }

  #current(address: string) {
    const window = this.#byAddress.get(networkOf(address));
    return window && this.#elapsed() - window.beganAt < windowMs ? window : undefined;
  }
}

/** Who has one address of IPv6 usually has the 2^64 addresses around it, too. */
function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':');
}
