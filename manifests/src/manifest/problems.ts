/* What is wrong with a manifest, in words for its author. */

/** An `error` leaves out the streams that the place belongs to; a `warning` leaves out nothing. */
export interface Problem {
  level: 'error' | 'warning';
  /** Path in the manifest, such as `streams[3].retriever.requester`. Empty for the whole manifest. */
  path: string;
  message: string;
}

/** A manifest of which nothing can run. */
export class ManifestError extends Error {
  override name = 'ManifestError';
  readonly #words: string;
  #path = '';

  constructor(message: string) {
    super(message);
    this.#words = message;
  }

  /** Names the place around the place that is named so far. */
  within(key: string | number): this {
    const rest = this.#path === '' || this.#path.startsWith('[') ? this.#path : `.${this.#path}`;
    this.#path = typeof key === 'number' ? `[${key}]${rest}` : `${key}${rest}`;
    this.message = `${this.#path}: ${this.#words}`;
    return this;
  }
}

/** A value that should have been a text: never `[object Object]`. */
export function asText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

export function describeProblem({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}
