/**
 * Limits guesses at the client's secret. Only wrong guesses count; above the limit, every guess is refused, right or
 * wrong, so that a refusal reveals nothing.
 *
 * Invariants: a caller who does not know the client id cannot lock out one who does, not even from the same address,
 * which may be a proxy's. Guesses from many addresses lock out only addresses that have not sent the right secret
 * within the last day. Calls within the process are not counted: they never reach this.
 */
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { GuessLimit, networkOf } from '@inlay/schedule/guess-limit';
import type { Runtime } from '../runtime.ts';

const wrongInAll = 100;
const rememberedForMs = 24 * 3_600_000;
const maxRemembered = 10_000;

export interface Guess {
  /** The caller's address. */
  address: string;
  /** Whether it names the right client. */
  knowsClient: boolean;
}

export class ClientGuesses {
  readonly #elapsed: Runtime['elapsed'];
  readonly #ofCallers: GuessLimit;
  readonly #inAll: GuessLimit;
  readonly #rightAt = new BoundedMap<string, number>(maxRemembered);

  constructor({ elapsed }: { elapsed: Runtime['elapsed'] }) {
    this.#elapsed = elapsed;
    this.#ofCallers = new GuessLimit(elapsed);
    this.#inAll = new GuessLimit(elapsed, wrongInAll);
  }

  /** The seconds to wait before the next guess; undefined when this one counts. */
  waitSeconds(guess: Guess): number | undefined {
    const ownSeconds = this.#ofCallers.waitSeconds(callerOf(guess));
    if (ownSeconds !== undefined) return ownSeconds;
    return guess.knowsClient && !this.#wasRight(guess) ? this.#inAll.waitSeconds('') : undefined;
  }

  recordWrong(guess: Guess): void {
    this.#ofCallers.recordWrong(callerOf(guess));
    if (guess.knowsClient) this.#inAll.recordWrong('');
  }

  recordRight(guess: Guess): void {
    this.#rightAt.set(callerOf(guess), this.#elapsed());
  }

  #wasRight(guess: Guess): boolean {
    const at = this.#rightAt.get(callerOf(guess));
    return at !== undefined && this.#elapsed() - at < rememberedForMs;
  }
}

function callerOf({ address, knowsClient }: Guess): string {
  return `${knowsClient ? 'client' : 'stranger'} ${networkOf(address)}`;
}
