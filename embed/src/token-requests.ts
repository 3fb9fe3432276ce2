/** Requests widget tokens from the page, single-flight. Answers to abandoned requests are ignored. */
import { readWidgetToken, type WidgetToken } from './widget-token.ts';

export interface TokenRequests {
  /** Does nothing while a request is pending. */
  ask(): void;
  forget(): void;
}

export function createTokenRequests(
  getToken: () => Promise<string>,
  listener: { onToken(token: WidgetToken): void; onFailure(cause: unknown): void },
): TokenRequests {
  let latest: object | undefined;

  return {
    ask() {
      if (latest) return;
      const mine = {};
      latest = mine;
      const settle =
        <T>(tell: (outcome: T) => void) =>
        (outcome: T) => {
          if (latest !== mine) return;
          latest = undefined;
          tell(outcome);
        };
      // Inside a promise, so that a synchronous throw of `getToken` is handled like a rejection.
      new Promise<string>((resolve) => resolve(getToken()))
        .then(readWidgetToken)
        .then(settle(listener.onToken), settle(listener.onFailure));
    },
    forget() {
      latest = undefined;
    },
  };
}
