/**
 * A map with a limited size: when it is full, it forgets the entry that was set first. An entry that is set again
 * counts as new.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #room: number;

  constructor(room: number) {
    super();
    this.#room = room;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#room) {
      const [first = key] = this.keys();
      this.delete(first);
    }
    return this;
  }
}
