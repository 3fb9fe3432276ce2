/**
 * Validates JSON bytes without building values, several times faster than a parser. Used for texts that are passed on
 * unparsed. The bytes must be UTF-8, which the caller checks.
 */

// Written as numbers: computed from texts when the module is loaded, they would make the check a third slower.
const quote = 34; // "
const backslash = 92; // \
const comma = 44; // ,
const colon = 58; // :
const minus = 45; // -
const plus = 43; // +
const dot = 46; // .
const zero = 48; // 0
const nine = 57; // 9
const openBrace = 123; // {
const closeBrace = 125; // }
const openBracket = 91; // [
const closeBracket = 93; // ]
const t = 116;
const f = 102;
const n = 110;
const e = 101;
const u = 117;

/** Lookup table: 1 for bytes that need no escaping inside a JSON string. */
const inString = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 32 && byte !== quote && byte !== backslash),
);
/** Lookup table: 1 for bytes that may follow a backslash. */
const escaped = Uint8Array.from({ length: 256 }, (_, byte) => Number('"\\/bfnrt'.includes(String.fromCharCode(byte))));
const hexDigit = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[\da-f]/i.test(String.fromCharCode(byte))));

/** Maximum nesting depth. Deeper texts are left to a parser, because these functions are recursive. */
const maxDepth = 200;
const invalid = -1;

/**
 * The offset after the object that starts at `start`, or -1 if it is invalid or nested too deeply. A newline must
 * follow somewhere in the bytes: single-line JSON ends before it, so no function here checks for the end.
 */
export function endOfObject(bytes: Uint8Array, start: number): number {
  return bytes[start] === openBrace ? endOfMembers(bytes, start + 1, 1) : invalid;
}

/** The same for any value, including surrounding white space. */
export function endOfJson(bytes: Uint8Array, start: number): number {
  const end = endOfValue(bytes, skipSpace(bytes, start), 0);
  return end === invalid ? invalid : skipSpace(bytes, end);
}

function endOfValue(bytes: Uint8Array, start: number, depth: number): number {
  const first = bytes[start] as number;
  if (first === quote) return endOfString(bytes, start + 1);
  if (first === openBrace) return depth < maxDepth ? endOfMembers(bytes, start + 1, depth + 1) : invalid;
  if (first === openBracket) return depth < maxDepth ? endOfElements(bytes, start + 1, depth + 1) : invalid;
  if (first === t) return isWord(bytes, start, 'true') ? start + 4 : invalid;
  if (first === f) return isWord(bytes, start, 'false') ? start + 5 : invalid;
  if (first === n) return isWord(bytes, start, 'null') ? start + 4 : invalid;
  return endOfNumber(bytes, start);
}

/** `start` is after the opening brace. */
function endOfMembers(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start);
  if (bytes[at] === closeBrace) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) return invalid;
    at = endOfString(bytes, at + 1);
    if (at === invalid) return invalid;
    at = skipSpace(bytes, at);
    if (bytes[at] !== colon) return invalid;
    at = endOfValue(bytes, skipSpace(bytes, at + 1), depth);
    if (at === invalid) return invalid;
    at = skipSpace(bytes, at);
    if (bytes[at] === closeBrace) return at + 1;
    if (bytes[at] !== comma) return invalid;
    at = skipSpace(bytes, at + 1);
  }
}

/** `start` is after the opening bracket. */
function endOfElements(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start);
  if (bytes[at] === closeBracket) return at + 1;
  for (;;) {
    at = endOfValue(bytes, at, depth);
    if (at === invalid) return invalid;
    at = skipSpace(bytes, at);
    if (bytes[at] === closeBracket) return at + 1;
    if (bytes[at] !== comma) return invalid;
    at = skipSpace(bytes, at + 1);
  }
}

/** `start` is after the opening quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; ; ) {
    while (inString[bytes[at] as number] === 1) at++;
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] !== backslash) return invalid;
    if (escaped[bytes[at + 1] as number] === 1) at += 2;
    else if (bytes[at + 1] === u && areHexDigits(bytes, at + 2)) at += 6;
    else return invalid;
  }
}

/** Whether four hex digits follow. */
function areHexDigits(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + 4; at++) if (hexDigit[bytes[at] as number] !== 1) return false;
  return true;
}

/** The offset after the number that starts at `start`, or -1. */
export function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start;
  at = bytes[at] === zero ? at + 1 : skipDigits(bytes, at);
  if (at !== invalid && bytes[at] === dot) at = skipDigits(bytes, at + 1);
  if (at === invalid || ((bytes[at] as number) | 32) !== e) return at;
  const hasSign = bytes[at + 1] === plus || bytes[at + 1] === minus;
  return skipDigits(bytes, at + (hasSign ? 2 : 1));
}

/** Requires at least one digit. */
function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at++;
  return at === start ? invalid : at;
}

function isWord(bytes: Uint8Array, start: number, word: string): boolean {
  for (let index = 1; index < word.length; index++) {
    if (bytes[start + index] !== word.charCodeAt(index)) return false;
  }
  return true;
}

/** Skips all white space except the newline, which ends the line. */
function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 13) at++;
  return at;
}
