/**
 * Whether the browser's engine certainly matches a pattern of a specification quickly. The engine tries one way after
 * the other and takes years for some patterns. Other patterns are left to the service, whose engine is always quick;
 * its message is shown at the same field.
 */

/** So few steps that nobody notices the time. */
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
