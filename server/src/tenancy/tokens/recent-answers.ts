/**
 * Remembers for two seconds what the store said about a token. Nearly every request brings a token that an earlier
 * request has just brought, and reading the store for each would be most of the request's cost. Only valid tokens are
 * remembered. When this process ends a token, it forgets everything, so the next request is refused; other replicas
 * refuse it after two seconds.
 */
import { BoundedMap } from '@inlay/schedule/bounded-map';
import type { NowOrLater } from '../../kernel/now-or-later.ts';

const keptMs = 2_000;
/** Enough for the tokens that are in use at a time. */
const maxKept = 10_000;

export class RecentAnswers<Answer> {
  readonly #elapsed: () => number;
  readonly #kept = new BoundedMap<string, { answer: Answer; until: number }>(maxKept);
  #timesForgotten = 0;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * The remembered answer at once, or else the result of `ask`; undefined means no. An answer may be valid for less than
   * two seconds.
   */
  get(
    key: string,
    ask: () => Promise<Answer | undefined>,
    goodForMs: (answer: Answer) => number = () => keptMs,
  ): NowOrLater<Answer | undefined> {
    const askedAt = this.#elapsed();
    const kept = this.#kept.get(key);
    return kept && askedAt < kept.until ? kept.answer : this.#ask(key, askedAt, ask, goodForMs);
  }

  async #ask(
    key: string,
    askedAt: number,
    ask: () => Promise<Answer | undefined>,
    goodForMs: (answer: Answer) => number,
  ): Promise<Answer | undefined> {
    const timesForgotten = this.#timesForgotten;
    const answer = await ask();
    // If tokens were ended while we waited for this answer, the answer may be older than that.
    if (answer !== undefined && timesForgotten === this.#timesForgotten) {
      this.#kept.set(key, { answer, until: askedAt + Math.min(keptMs, goodForMs(answer)) });
    }
    return answer;
  }

  forget(): void {
    this.#timesForgotten++;
    this.#kept.clear();
  }
}
