/*
 * The sign-in whose access token a run uses. The token can expire during the run, so a fresh one is requested from the
 * platform: ahead of expiry, and when the API rejects the token. Nothing is refreshed here.
 */

import { ConnectorError, type SignedIn } from './connector.ts';
import type { OfferedCredential, TokenAnswer, TokenRequest } from './protocol.ts';

/** A token is replaced so long before its end, or a fifth of its life if that is shorter. */
const mostMarginMs = 60_000;
const marginOfLife = 0.2;
/** After an answer that did not help, and while the token is still valid. */
const askAgainMs = 5_000;

export type AskForToken = (request: Omit<TokenRequest, 'type'>) => Promise<TokenAnswer>;

export class SignIn implements SignedIn {
  readonly fields: OfferedCredential['fields'];
  readonly #ask: AskForToken;
  readonly #elapsed: () => number;
  readonly #listeners: ((values: Readonly<Record<string, string>>) => void)[] = [];
  #accessToken: string | undefined;
  #generation: number;
  #endsAt = Number.POSITIVE_INFINITY;
  #askAt = Number.POSITIVE_INFINITY;
  /** A generation that took the place of a refused one. Until the API accepts it, it is not replaced in turn. */
  #unproven: number | undefined;
  #asking: Promise<unknown> = Promise.resolve();

  constructor(offered: OfferedCredential, ask: AskForToken, elapsed: () => number = () => performance.now()) {
    this.fields = offered.fields;
    this.#ask = ask;
    this.#elapsed = elapsed;
    this.#generation = offered.generation;
    this.#accessToken = offered.access_token;
    this.#noteLife(offered.expires_in_ms);
  }

  get generation(): number {
    return this.#generation;
  }

  get accessToken(): string | undefined {
    return this.#accessToken;
  }

  onFresh(listener: (values: Readonly<Record<string, string>>) => void): void {
    this.#listeners.push(listener);
  }

  async ready(): Promise<number> {
    await this.#inTurn(async () => {
      if (this.#elapsed() < this.#askAt) return;
      const hasEnded = this.#elapsed() >= this.#endsAt;
      const answer = await this.#ask({});
      if (!('failure' in answer)) return this.#take(answer);
      if (hasEnded) throw failureOf(answer.failure);
      this.#askAt = Math.min(this.#endsAt, this.#elapsed() + askAgainMs);
    });
    return this.#generation;
  }

  async replace(generation: number): Promise<boolean> {
    return await this.#inTurn(async () => {
      if (this.#generation !== generation) return true;
      if (this.#unproven === generation) return false;
      const answer = await this.#ask({ not_generation: generation });
      if ('failure' in answer) throw failureOf(answer.failure);
      this.#take(answer);
      if (this.#generation === generation) return false;
      this.#unproven = this.#generation;
      return true;
    });
  }

  accepted(generation: number): void {
    if (this.#unproven === generation) this.#unproven = undefined;
  }

  /** Requests at the same time share one fresh token. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#asking.then(work);
    this.#asking = mine.catch(() => {});
    return await mine;
  }

  #take({ values, generation, expires_in_ms }: Exclude<TokenAnswer, { failure: unknown }>): void {
    this.#noteLife(expires_in_ms);
    // The same token again: no fresh one is available yet, or none can be obtained.
    if (generation === this.#generation) {
      this.#askAt = this.#endsAt === Number.POSITIVE_INFINITY ? this.#endsAt : this.#elapsed() + askAgainMs;
      return;
    }
    this.#generation = generation;
    this.#accessToken = values.access_token ?? this.#accessToken;
    for (const listener of this.#listeners) listener(values);
  }

  #noteLife(expiresInMs: number | null): void {
    const lifeMs = expiresInMs ?? Number.POSITIVE_INFINITY;
    this.#endsAt = this.#elapsed() + lifeMs;
    this.#askAt = this.#endsAt - Math.min(mostMarginMs, Math.max(0, lifeMs) * marginOfLife);
  }
}

function failureOf({ message, failure_type, inlay_fields }: Extract<TokenAnswer, { failure: unknown }>['failure']) {
  return new ConnectorError(message, { failureType: failure_type, fields: inlay_fields });
}
