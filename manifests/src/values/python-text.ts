/* Python's rules about the characters of texts. */
import { spendMade } from './budget.ts';

const space = '\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const start = new RegExp(`^[${space}]+`, 'u');
const end = new RegExp(`[${space}]+$`, 'u');
const lineEnds = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const lineEnd = new RegExp(`\\r\\n|[${lineEnds}]`, 'g');
const spaces = new RegExp(`[${space}]+`, 'gu');

export function stripStart(text: string, characters?: string): string {
  if (characters === undefined) return text.replace(start, '');
  const points = [...text];
  let at = 0;
  while (at < points.length && characters.includes(points[at] ?? '')) at++;
  return points.slice(at).join('');
}

export function stripEnd(text: string, characters?: string): string {
  // From the end: a pattern anchored at the end would try every run of whitespace.
  const points = [...text];
  let at = points.length;
  while (at > 0) {
    const point = points[at - 1] ?? '';
    if (characters === undefined ? !end.test(point) : !characters.includes(point)) break;
    at--;
  }
  return at === points.length ? text : points.slice(0, at).join('');
}

export function strip(text: string, characters?: string): string {
  return stripEnd(stripStart(text, characters), characters);
}

/** Without a separator: at runs of white space, without empty parts. */
export function split(text: string, separator: string | undefined, limit: number): string[] {
  spendMade(text.length);
  if (separator !== undefined) {
    const parts = text.split(separator);
    if (limit < 0 || parts.length <= limit + 1) return parts;
    return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
  }
  const stripped = stripStart(text);
  const parts: string[] = [];
  let at = 0;
  for (const run of stripped.matchAll(spaces)) {
    if (limit >= 0 && parts.length >= limit) break;
    parts.push(stripped.slice(at, run.index));
    at = run.index + run[0].length;
  }
  if (at < stripped.length) parts.push(stripped.slice(at));
  return limit >= 0 && parts.length > limit ? [...parts.slice(0, -1), stripEndOfRest(parts.at(-1) ?? '')] : parts;
}

function stripEndOfRest(rest: string): string {
  return stripEnd(rest);
}

export function splitFromEnd(text: string, separator: string | undefined, limit: number): string[] {
  if (limit < 0) return split(text, separator, limit);
  if (separator !== undefined) {
    const parts = text.split(separator);
    if (parts.length <= limit + 1) return parts;
    return [parts.slice(0, parts.length - limit).join(separator), ...parts.slice(parts.length - limit)];
  }
  const reversed = (part: string) => [...part].reverse().join('');
  return split(reversed(text), undefined, limit).map(reversed).reverse();
}

export function splitLines(text: string, keepsEnds: boolean): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const end of text.matchAll(lineEnd)) {
    lines.push(text.slice(at, end.index) + (keepsEnds ? end[0] : ''));
    at = end.index + end[0].length;
  }
  if (at < text.length) lines.push(text.slice(at));
  return lines;
}

export function capitalize(text: string): string {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

/** Python's `title`: the first letter of every run of letters is large. */
export function titleCase(text: string): string {
  return text.toLowerCase().replaceAll(/\p{Cased}[\p{Cased}]*/gu, (word) => {
    const [first = '', ...rest] = word;
    return first.toUpperCase() + rest.join('');
  });
}

export function isUpper(text: string): boolean {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text);
}

export function isLower(text: string): boolean {
  return /\p{Ll}/u.test(text) && !/\p{Lu}/u.test(text);
}

export function isSpace(text: string): boolean {
  return new RegExp(`^[${space}]+$`, 'u').test(text);
}
