/**
 * Whether a specification's pattern is safe for the browser's backtracking engine, which takes exponential time for some
 * patterns. Other patterns are left to the service, whose engine runs in linear time; its message appears at the same field.
 */

/** Few enough steps to be imperceptible. */
const maxSteps = 10_000_000;

export function isQuick(pattern: string, textLength: number): boolean {
  const repetitions = countRepetitions(pattern);
  return repetitions !== undefined && (textLength + 1) ** Math.max(1, repetitions) <= maxSteps;
}

/** Undefined when a repeated part has a repetition or a choice inside: then the number of ways multiplies. */
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
