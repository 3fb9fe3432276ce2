/**
 * How often somebody may guess at the client's secret. Only wrong guesses count; what is over the limit is refused
 * whether it is right or wrong, so that it tells nothing.
 *
 * What always holds: a caller who does not know the client id keeps out nobody who does, not even from the same address,
 * which may be that of a proxy. Guesses from many addresses keep out only addresses that have not given the right secret
 * within the last day. Calls within the process are not counted at all: they do not come here.
 */
import type { Runtime } from '../runtime.ts';

const windowMs = 60_000;
const wrongPerAddress = 10;
const wrongInAll = 100;
const rememberedForMs = 24 * 3_600_000;
/** Enough for the addresses that guess within one minute; the limit in all holds for any number of them. */
const maxAddresses = 10_000;

interface Window {
  wrong: number;
  beganAt: number;
}

export interface Guess {
  /** Where it comes from. */
  address: string;
  /** Whether it names the right client. */
  knowsClient: boolean;
}

export class GuessLimit {
  readonly #elapsed: Runtime['elapsed'];
  readonly #byCaller = new Map<string, Window>();
  readonly #rightAt = new Map<string, number>();
  #inAll: Window = { wrong: 0, beganAt: 0 };

  constructor({ elapsed }: Pick<Runtime, 'elapsed'>) {
    this.#elapsed = elapsed;
  }

  /** The seconds to wait before the next guess; undefined when this one counts. */
  waitSeconds(guess: Guess): number | undefined {
    const own = this.#current(this.#byCaller.get(callerOf(guess)));
    if (own && own.wrong >= wrongPerAddress) return this.#secondsLeft(own);
    if (!guess.knowsClient || this.#wasRight(guess)) return undefined;
    const inAll = this.#current(this.#inAll);
    return inAll && inAll.wrong >= wrongInAll ? this.#secondsLeft(inAll) : undefined;
  }

  recordWrong(guess: Guess): void {
    const caller = callerOf(guess);
    const own = this.#current(this.#byCaller.get(caller)) ?? { wrong: 0, beganAt: this.#elapsed() };
    own.wrong++;
    keep(this.#byCaller, caller, own);
    if (!guess.knowsClient) return;
    this.#inAll = this.#current(this.#inAll) ?? { wrong: 0, beganAt: this.#elapsed() };
    this.#inAll.wrong++;
  }

  recordRight(guess: Guess): void {
    keep(this.#rightAt, callerOf(guess), this.#elapsed());
  }

  #wasRight(guess: Guess): boolean {
    const at = this.#rightAt.get(callerOf(guess));
    return at !== undefined && this.#elapsed() - at < rememberedForMs;
  }

  /** Undefined when its minute is over. */
  #current(window: Window | undefined): Window | undefined {
    return window && window.wrong > 0 && this.#elapsed() - window.beganAt < windowMs ? window : undefined;
  }

  #secondsLeft({ beganAt }: Window): number {
    return Math.max(1, Math.ceil((windowMs - (this.#elapsed() - beganAt)) / 1000));
  }
}

function callerOf({ address, knowsClient }: Guess): string {
  return `${knowsClient ? 'client' : 'stranger'} ${networkOf(address)}`;
}

/** A caller with one address of IPv6 usually has the 2^64 addresses around it too. */
function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':');
}

/** Of more than there is room for, those that were kept first are forgotten. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key) && map.size >= maxAddresses) map.delete(map.keys().next().value as string);
  map.set(key, value);
}
