/** A value, or a promise of one. What most requests need is in memory, so they don't have to wait for a promise. */
export type NowOrLater<T> = T | Promise<T>;

export function whenThere<T, R>(value: NowOrLater<T>, use: (value: T) => NowOrLater<R>): NowOrLater<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** For hooks with a callback: calls `done` with the error or with the value, at once where the value is there. */
export function settle<T>(work: () => NowOrLater<T>, done: (error?: Error) => void, use: (value: T) => void): void {
  let value: NowOrLater<T>;
  try {
    value = work();
    if (!(value instanceof Promise)) use(value);
  } catch (error) {
    done(error as Error);
    return;
  }
  if (!(value instanceof Promise)) done();
  else value.then(use).then(() => done(), done);
}
