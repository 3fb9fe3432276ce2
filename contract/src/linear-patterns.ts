/**
 * Patterns of connectors' specifications, run in time that grows with the text and never more: anybody may write a
 * specification, and the engine of JavaScript takes years for some patterns. RE2 has no look-ahead, no look-behind and no
 * back-references. A pattern that RE2 does not take, and what is too long to be matched at once, is left to the connector's own
 * check.
 */
import { RE2JS, RE2JSException } from 're2js';

interface Pattern {
  test(text: string): boolean;
  /** Ajv tells patterns apart by this text. */
  toString(): string;
}

/** Of one validation: characters times the size of their patterns. A fraction of a second. */
const maxWork = 1_000_000;
const maxSize = 2_000;

let work = 0;

/** All patterns that `validate` runs, at once, share what one validation may take. */
export function withBoundedPatterns<T>(validate: () => T): T {
  work = 0;
  return validate();
}

/** In the form in which Ajv takes an engine (`code.regExp`). */
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

/** A repetition is as large as what it repeats, so many times. RE2 itself refuses more than a thousand of one thing. */
function sizeOf(pattern: string): number {
  let size = pattern.length;
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) size += Math.max(Number(from), Number(to ?? 0));
  return size;
}
