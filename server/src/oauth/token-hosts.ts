/**
 * How many requests for tokens each host gets from this process: a few at a time, so that a thousand customers whose tokens
 * end together do not overload a provider. A host that fails is left alone for a while, and then asked by one.
 */
import type { Runtime } from '../runtime.ts';
import { backoffMs } from './refresh-times.ts';

const atATime = 5;
/**
 * How long after a failure that the provider told nobody sends a refresh token a second time there, unless the provider has
 * worked since. An outage must not use up both times.
 */
const secondTimeMs = 10 * 60_000;
const remembered = 1_000;

/** What came of a request: `definite` is an answer to it, `failed` says that the provider failed, `lost` is none. */
export type HostOutcome = 'definite' | 'failed' | 'lost' | 'not_sent';

interface Host {
  active: number;
  waiting: (() => void)[];
  failures: number;
  pausedUntil: number;
  noSecondTimeUntil: number;
}

export class TokenHosts {
  readonly #runtime: Pick<Runtime, 'elapsed' | 'random'>;
  readonly #hosts = new Map<string, Host>();

  constructor(runtime: Pick<Runtime, 'elapsed' | 'random'>) {
    this.#runtime = runtime;
  }

  /** Resolves when it is the caller's turn, who must leave again; undefined: the host is to be left alone for now. */
  async enter(
    name: string,
    { isSecondTime }: { isSecondTime: boolean },
  ): Promise<((outcome: HostOutcome | undefined) => void) | undefined> {
    const host = this.#of(name);
    for (;;) {
      const now = this.#runtime.elapsed();
      if (now < host.pausedUntil || (isSecondTime && now < host.noSecondTimeUntil)) return undefined;
      // A host that has failed is asked by one at a time, until it works.
      if (host.active < (host.failures > 0 ? 1 : atATime)) break;
      await new Promise<void>((turn) => host.waiting.push(turn));
    }
    host.active++;
    return (outcome) => this.#leave(name, host, outcome);
  }

  #leave(name: string, host: Host, outcome: HostOutcome | undefined): void {
    host.active--;
    if (outcome === 'definite') {
      host.failures = 0;
      host.noSecondTimeUntil = 0;
    } else if (outcome !== undefined) {
      host.failures++;
      const now = this.#runtime.elapsed();
      host.pausedUntil = now + Math.min(backoffMs(host.failures, this.#runtime.random()), 5 * 60_000);
      if (outcome === 'failed') host.noSecondTimeUntil = now + secondTimeMs;
    }
    if (host.active === 0 && host.failures === 0 && host.waiting.length === 0) this.#hosts.delete(name);
    // Everybody looks again: the host may work again, or be paused.
    for (const turn of host.waiting.splice(0)) turn();
  }

  #of(name: string): Host {
    const known = this.#hosts.get(name);
    if (known) return known;
    if (this.#hosts.size >= remembered) this.#forgetIdle();
    const host = { active: 0, waiting: [], failures: 0, pausedUntil: 0, noSecondTimeUntil: 0 };
    this.#hosts.set(name, host);
    return host;
  }

  #forgetIdle(): void {
    for (const [name, { active, waiting }] of this.#hosts) {
      if (active === 0 && waiting.length === 0) this.#hosts.delete(name);
    }
  }
}
