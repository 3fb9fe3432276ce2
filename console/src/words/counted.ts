/** Numbers in texts, and the words that follow them: one stream, two streams. */
import type { Formatting } from '@inlay/ui/words/formatting.ts';

/** As text, the number is written as in the person's region. */
export interface Counted {
  readonly count: number;
  toString(): string;
}

export function counted({ number }: Pick<Formatting, 'number'>, count: number): Counted {
  return { count, toString: () => number(count) };
}

/** As English, German and Spanish have it. Japanese has no plural. */
export function isOne({ count }: Counted): boolean {
  return count === 1;
}

/** As French has it: zéro ligne, une ligne, deux lignes. */
export function isOneInFrench({ count }: Counted): boolean {
  return count < 2;
}
