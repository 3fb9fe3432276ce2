/**
 * Runs the patterns of connectors' specifications in linear time. Anybody may write a specification, and the engine of
 * JavaScript takes years for some patterns. RE2 has no look-ahead, no look-behind and no back-references. A pattern
 * that RE2 does not accept, and a text that is too long to be matched at once, are left to the connector's own check.
 */
import { RE2JS, RE2JSException } from 're2js';

export interface Pattern {
  test(text: string): boolean;
  /** Ajv uses this text to identify the pattern. */
  toString(): string;
}

/** The limit of one validation: characters times the size of their patterns. It is a fraction of a second. */
const maxWork = 1_000_000;
const maxSize = 2_000;

let work = 0;

/** All patterns that `validate` runs share the limit of one validation. `validate` must be synchronous. */
export function withBoundedPatterns<T>(validate: () => T): T {
  work = 0;
  return validate();
}

/** In the form that Ajv expects for `code.regExp`. */
export const linearRegExp = Object.assign(compile, { code: 'linearRegExp' });

const unchecked: Pattern = { test: () => true, toString: () => 'unchecked' };

function compile(pattern: string): Pattern {
  const size = sizeOf(pattern);
  if (size > maxSize) return unchecked;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return unchecked;
  }
  return {
    test(text) {
      work += (text.length + 1) * size;
      return work > maxWork || compiled.matcher(text).find();
    },
    toString: () => `/${pattern}/`,
  };
}

/**
 * The length of the pattern plus the number in each repetition `{…}`. RE2 itself refuses more than a thousand
 * repetitions.
 */
export function sizeOf(pattern: string): number {
  let size = pattern.length;
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) size += Math.max(Number(from), Number(to ?? 0));
  return size;
}
