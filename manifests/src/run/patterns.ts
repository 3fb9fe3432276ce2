/* Regular expressions of manifests, in time linear in the length of the text. */
import { RE2JS } from 're2js';

const compiled = new Map<string, RE2JS>();

function compile(pattern: string): RE2JS {
  let known = compiled.get(pattern);
  if (!known) {
    known = RE2JS.compile(pattern);
    if (compiled.size > 1000) compiled.clear();
    compiled.set(pattern, known);
  }
  return known;
}

/** What of the text matches from its beginning; undefined if nothing does. Throws an Error for a pattern that is none. */
export function matchAtStart(pattern: string, text: string): string | undefined {
  const matcher = compile(pattern).matcher(text);
  return matcher.lookingAt() ? (matcher.group() ?? '') : undefined;
}

export function isFoundIn(pattern: string, text: string): boolean {
  return compile(pattern).matcher(text).find();
}
