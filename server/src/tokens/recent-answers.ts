/**
 * What the store has said of tokens within the last two seconds. Nearly every request brings a token that another one
 * has just brought, and a read for each would be most of what it costs. Only a yes is kept. What ends tokens in this
 * process makes it forget everything, so that it is in force with the next request; elsewhere it is after two seconds.
 */
import { BoundedMap } from '../bounded-map.ts';

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

  /** The answer that is kept, or what `ask` gives; undefined is a no. An answer may be good for less than two seconds. */
  async get(
    key: string,
    ask: () => Promise<Answer | undefined>,
    goodForMs: (answer: Answer) => number = () => keptMs,
  ): Promise<Answer | undefined> {
    const askedAt = this.#elapsed();
    const kept = this.#kept.get(key);
    if (kept && askedAt < kept.until) return kept.answer;
    const timesForgotten = this.#timesForgotten;
    const answer = await ask();
    // An answer that was on its way while tokens were ended may be from before.
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
