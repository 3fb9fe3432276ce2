/*
 * Runs Python's regular expressions in linear time, with RE2: the text comes from an API, and the engine of JavaScript
 * takes years for some patterns. RE2 has no look-ahead, no look-behind and no back-references; a pattern with one is
 * an error that says so.
 */
import { type Matcher, RE2JS, RE2JSException } from 're2js';
import { spendMade, spendStep } from './budget.ts';
import { valueError } from './values.ts';

/** What Python's classes mean for texts, within a class of characters. */
const classes: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  w: '\\p{L}\\p{N}_',
  s: '\\s\\x0b\\x1c-\\x1f\\x{85}\\p{Z}',
};

const compiled = new Map<string, RE2JS>();
const maxCompiled = 1000;
const maxPatternLength = 2000;

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > maxPatternLength) throw valueError('A regular expression of the template is too long');
  try {
    const made = RE2JS.compile(translate(pattern));
    if (compiled.size >= maxCompiled) compiled.clear();
    compiled.set(pattern, made);
    return made;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw valueError(`The regular expression '${pattern}' cannot be used: ${error.message}`);
  }
}

/** Converts Python syntax to RE2 where they differ. */
function translate(pattern: string): string {
  let result = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    if (character === '\\') {
      at++;
      result += translateEscape(pattern[at] ?? '', isInClass);
    } else if (isInClass) {
      if (character === ']') isInClass = false;
      // Python treats an opening bracket within a class literally.
      result += character === '[' ? '\\[' : character;
    } else if (character === '[') {
      isInClass = true;
      result += character;
      if (pattern[at + 1] === '^') result += pattern[++at];
      if (pattern[at + 1] === ']') {
        at++;
        result += '\\]';
      }
    } else if (character === '{' && /^\{,\d+\}/.test(pattern.slice(at))) {
      result += '{0';
    } else {
      result += character;
    }
  }
  return result;
}

function translateEscape(letter: string, isInClass: boolean): string {
  if (Object.hasOwn(classes, letter)) return isInClass ? (classes[letter] ?? '') : `[${classes[letter]}]`;
  const lower = letter.toLowerCase();
  if (letter !== lower && Object.hasOwn(classes, lower)) return isInClass ? `\\${letter}` : `[^${classes[lower]}]`;
  if (letter === 'Z') return '\\z';
  // Python treats a needlessly escaped character literally, RE2 only if it is not a letter.
  return /^[\s\S]$/.test(letter) && !/[\x21-\x7e]/.test(letter) ? letter : `\\${letter}`;
}

function matcherOf(pattern: string, text: string): Matcher {
  spendStep(Math.ceil(((text.length + 1) * (pattern.length + 1)) / 100));
  return compile(pattern).matcher(text);
}

/** The first group of the first match; undefined if there is no match or the pattern has no group. */
export function searchPattern(pattern: string, text: string): string | null | undefined {
  const matcher = matcherOf(pattern, text);
  if (!matcher.find() || matcher.groupCount() === 0) return undefined;
  return matcher.group(1) ?? null;
}

export function replacePattern(pattern: string, replacement: string, text: string): string {
  const matcher = matcherOf(pattern, text);
  const parts = parseReplacement(replacement, matcher);
  let result = '';
  let copied = 0;
  while (matcher.find()) {
    spendStep();
    let replaced = '';
    for (const part of parts) replaced += typeof part === 'number' ? (matcher.group(part) ?? '') : part;
    result += text.slice(copied, matcher.start()) + replaced;
    spendMade(replaced.length);
    copied = matcher.end();
  }
  return result + text.slice(copied);
}

const replacementPart = /\\(?:(\d{1,2})|g<([^>]*)>|([\s\S]))|[^\\]+|\\/g;
const controls: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  f: '\f',
  v: '\v',
  b: '\b',
  '\\': '\\',
};

/** Texts, and numbers of groups. */
function parseReplacement(replacement: string, matcher: Matcher): (string | number)[] {
  return [...replacement.matchAll(replacementPart)].map(([all, digits, name, letter]) => {
    if (digits === '0') return '\0';
    if (digits !== undefined || name !== undefined) return groupNumber(digits ?? name ?? '', matcher);
    if (letter === undefined) return all;
    if (Object.hasOwn(controls, letter)) return controls[letter] ?? '';
    if (/[a-zA-Z]/.test(letter)) throw valueError(`bad escape \\${letter}`);
    return all;
  });
}

function groupNumber(name: string, matcher: Matcher): number {
  const number = /^\d+$/.test(name) ? Number(name) : (matcher.namedGroups[name] ?? Number.NaN);
  if (!(number <= matcher.groupCount())) throw valueError(`invalid group reference ${name}`);
  return number;
}
