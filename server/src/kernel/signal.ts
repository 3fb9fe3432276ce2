/** A signal from parts that are opened early to parts that are opened later. */
export class Signal<Value = void> {
  readonly #listeners: ((value: Value) => void)[] = [];

  subscribe(listener: (value: Value) => void): void {
    this.#listeners.push(listener);
  }

  readonly give = (value: Value): void => {
    for (const listener of this.#listeners) listener(value);
  };
}
