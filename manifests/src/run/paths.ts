/*
 * Finds, sets and removes values at paths of keys, by the rules of the Python package `dpath`: a key may be a pattern
 * with `*`, `?` and `[…]`, and `**` matches any number of keys. A number is a list index.
 */
import { isJsonObject } from '@inlay/protocol/json';

type Container = Record<string, unknown> | unknown[];

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isJsonObject(value);
}

export function isPattern(key: string): boolean {
  return /[*?[]/.test(key);
}

function childOf(value: unknown, key: string): { value: unknown } | undefined {
  if (Array.isArray(value)) {
    const index = /^\d+$/.test(key) ? Number(key) : -1;
    return index >= 0 && index < value.length ? { value: value[index] } : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, key) ? { value: value[key] } : undefined;
}

/** Undefined if there is nothing at the path. Throws an Error if a pattern has more than one match. */
export function valueAtPath(root: unknown, path: readonly string[]): { value: unknown } | undefined {
  if (path.some(isPattern)) {
    const found = matchesOf(root, path).slice(0, 2);
    if (found.length > 1) throw new Error(`The path ${path.join('.')} matches more than once.`);
    return found[0];
  }
  let found: { value: unknown } | undefined = { value: root };
  for (const key of path) {
    found = childOf(found.value, key);
    if (!found) return undefined;
  }
  return found;
}

interface Match {
  parent: Container;
  key: string;
  value: unknown;
}

/** All values whose path matches, in the order in which dpath walks: the entries of an object before what is inside. */
export function matchesOf(root: unknown, path: readonly string[]): Match[] {
  const matches: Match[] = [];
  const patterns = path.map((key) => (key === '**' ? undefined : matcherOf(key)));
  // Without `**` only the places at one depth can match.
  const depth = path.includes('**') ? Number.POSITIVE_INFINITY : path.length;
  walk(root, [], (keys, match) => {
    if (fits(keys, patterns)) matches.push(match);
    return keys.length < depth && couldFit(keys, patterns);
  });
  return matches;
}

function walk(
  value: unknown,
  keys: readonly string[],
  visit: (keys: readonly string[], match: Match) => boolean,
): void {
  if (!isContainer(value)) return;
  const inside: [unknown, string[]][] = [];
  for (const [key, child] of Object.entries(value)) {
    const childKeys = [...keys, key];
    if (visit(childKeys, { parent: value, key, value: child })) inside.push([child, childKeys]);
  }
  for (const [child, childKeys] of inside) walk(child, childKeys, visit);
}

type Matcher = ((key: string) => boolean) | undefined;

/** `undefined` among the patterns means `**`. */
function fits(keys: readonly string[], patterns: readonly Matcher[]): boolean {
  if (patterns.length === 0) return keys.length === 0;
  const [first, ...rest] = patterns;
  if (first === undefined) {
    for (let taken = 0; taken <= keys.length; taken++) if (fits(keys.slice(taken), rest)) return true;
    return false;
  }
  const [key, ...others] = keys;
  return key !== undefined && first(key) && fits(others, rest);
}

/** Whether something inside may still match. */
function couldFit(keys: readonly string[], patterns: readonly Matcher[]): boolean {
  for (let index = 0; index < keys.length; index++) {
    const pattern = patterns[index];
    if (index >= patterns.length) return false;
    if (pattern === undefined) return true;
    if (!pattern(keys[index] as string)) return false;
  }
  return true;
}

/** A pattern as in a shell. Written without regular expressions: patterns come from manifests. */
function matcherOf(pattern: string): (key: string) => boolean {
  if (!isPattern(pattern)) return (key) => key === pattern;
  return (key) => matchesPattern(key, 0, pattern, 0);
}

function matchesPattern(key: string, at: number, pattern: string, from: number): boolean {
  let [keyAt, patternAt] = [at, from];
  let star = -1;
  let resume = 0;
  while (keyAt < key.length) {
    const symbol = pattern[patternAt];
    const set = symbol === '[' ? readSet(pattern, patternAt) : undefined;
    if (symbol === '*') {
      star = patternAt++;
      resume = keyAt;
    } else if (set ? set.has(key[keyAt] as string) : symbol === '?' || symbol === key[keyAt]) {
      patternAt = set ? set.end : patternAt + 1;
      keyAt++;
    } else if (star >= 0) {
      patternAt = star + 1;
      keyAt = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[patternAt] === '*') patternAt++;
  return patternAt === pattern.length;
}

/** `[abc]`, `[a-z]` or `[!a]`. Undefined for an unclosed bracket, which is literal. */
function readSet(pattern: string, start: number): { has(character: string): boolean; end: number } | undefined {
  const end = pattern.indexOf(']', start + (pattern[start + 1] === '!' ? 3 : 2));
  if (end === -1) return undefined;
  const isNegated = pattern[start + 1] === '!';
  const content = pattern.slice(start + (isNegated ? 2 : 1), end);
  const has = (character: string) => {
    for (let index = 0; index < content.length; index++) {
      const [from, until] = [content[index] as string, content[index + 2]];
      if (content[index + 1] === '-' && until !== undefined) {
        if (character >= from && character <= until) return true;
        index += 2;
      } else if (character === from) return true;
    }
    return false;
  };
  return { has: (character) => has(character) !== isNegated, end: end + 1 };
}

/** Makes the objects on the way. A number as the next key makes a list, which is filled with null up to there. */
export function setAtPath(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let container: Container = root;
  const last = path.length - 1;
  for (let index = 0; index < last; index++) {
    const key = path[index] as string;
    const existing: { value: unknown } | undefined = childOf(container, key);
    if (isContainer(existing?.value)) container = existing.value;
    else if (existing)
      throw new Error(`Cannot set a field: there is no object at ${path.slice(0, index + 1).join('.')}.`);
    else {
      const made: Container = isPlace(path[index + 1] ?? '') ? [] : {};
      setChild(container, key, made);
      container = made;
    }
  }
  if (last >= 0) setChild(container, path[last] as string, value);
}

/** Lists of a record are never grown beyond this by a path. */
const mostItems = 10_000;

function isPlace(key: string): boolean {
  return /^\d{1,4}$/.test(key);
}

function setChild(container: Container, key: string, value: unknown): void {
  if (!Array.isArray(container)) {
    // An assignment to `__proto__` would not create a property. For any other key it is ten times as fast.
    if (key !== '__proto__') container[key] = value;
    else Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const index = Number(key);
  if (!Number.isInteger(index) || index < 0 || index >= mostItems) {
    throw new Error(`"${key}" is not a valid list index.`);
  }
  while (container.length < index) container.push(null);
  container[index] = value;
}

/** Removes what matches. An item within a list becomes null, so that the others keep their places; the last one goes. */
export function removeAtPath(root: Record<string, unknown>, path: readonly string[]): void {
  for (const match of matchesOf(root, path)) remove(match);
}

/** Removes every single value that is wanted, wherever it is. */
export function removeValues(root: Record<string, unknown>, isWanted: (value: unknown) => boolean): void {
  for (const match of matchesOf(root, ['**'])) if (!isContainer(match.value) && isWanted(match.value)) remove(match);
}

function remove({ parent, key }: Match): void {
  if (!Array.isArray(parent)) delete parent[key];
  else if (Number(key) === parent.length - 1) parent.pop();
  else if (Number(key) < parent.length) parent[Number(key)] = null;
}
