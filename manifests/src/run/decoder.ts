/* How the body of an answer becomes values. */
import type { Answer } from '../http/answer.ts';

export interface Decoder {
  /** Whether the body is decoded while it comes, so that it may be larger than memory. */
  isStreamed: boolean;
  /**
   * The values of a body, in batches. Throws an Error for a body that cannot be decoded, unless that yields nothing.
   */
  decode(answer: Answer): AsyncIterable<unknown[]>;
  /** What templates of the paginator know as `response`. */
  firstValue(answer: Answer): unknown;
}

/** Each item of a list is a separate value. A body that is not JSON yields one empty object. */
export const jsonDecoder: Decoder = {
  isStreamed: false,
  async *decode(answer) {
    yield jsonValues(answer.json);
  },
  firstValue: (answer) => jsonValues(answer.json)[0],
};

export function jsonValues(body: unknown): unknown[] {
  if (body === undefined) return [{}];
  if (!Array.isArray(body)) return [body];
  return body.length === 0 ? [{}] : body;
}
