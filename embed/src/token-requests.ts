/** Asks the page for widget tokens, one request at a time. The answer to a request that was given up is ignored. */
import { readWidgetToken, type WidgetToken } from './widget-token.ts';

export interface TokenRequests {
  /** Does nothing while a request is under way. */
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
      // Within a promise, so that a `getToken` that throws at once fails like any other.
      new Promise<string>((resolve) => resolve(getToken()))
        .then(readWidgetToken)
        .then(settle(listener.onToken), settle(listener.onFailure));
    },
    forget() {
      latest = undefined;
    },
  };
}
