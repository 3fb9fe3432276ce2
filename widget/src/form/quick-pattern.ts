/**
 * Whether a pattern of a specification is sure to be matched quickly by the browser's engine, which tries one way after
 * the other and takes years for some patterns. What is not sure is left to the service, which has an engine without that
 * fault; its message stands at the same field.
 */

/** Steps that nobody notices. */
const maxSteps = 10_000_000;

export function isQuick(pattern: string, textLength: number): boolean {
  const repetitions = countRepetitions(pattern);
  return repetitions !== undefined && (textLength + 1) ** Math.max(1, repetitions) <= maxSteps;
}

/** Undefined when something that repeats has a repetition or a choice inside: then the ways multiply. */
function countRepetitions(pattern: string): number | undefined {
  const plain = pattern.replace(/\\./gs, 'e').replace(/\[[^\]]*\]/g, 'c');
  /** For each open group, whether it has a repetition or a choice inside. */
  const groups = [false];
  let closed = false;
  let count = 0;
  for (let index = 0; index < plain.length; index++) {
    const character = plain[index];
    if (character === '(') {
      groups.push(false);
      // The question mark of `(?:` and the like repeats nothing.
      if (plain[index + 1] === '?') index++;
      closed = false;
      continue;
    }
    if (character === ')') {
      closed = groups.pop() ?? false;
      if (closed && groups.length > 0) groups[groups.length - 1] = true;
      continue;
    }
    const isRepetition = character === '*' || character === '+' || character === '{';
    if (isRepetition) {
      if (closed) return undefined;
      count++;
    }
    if ((isRepetition || character === '|' || character === '?') && groups.length > 0) groups[groups.length - 1] = true;
    closed = false;
  }
  return count;
}
