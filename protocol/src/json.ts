/*
 * Reads and writes JSON without changing what it says, and finds values in it.
 *
 * JavaScript reads every number as a double, which has about 17 digits. A number that a double cannot represent becomes
 * an `ExactNumber`, which keeps the text; every other value is a plain one. A quick test shows whether a text may
 * contain such a number; most don't and go through JSON.parse alone. Reading takes linear time, for valid and invalid
 * text (docs/adr/0012-exact-numbers.md).
 */

/**
 * A JSON number that a double cannot represent, exactly as written; or `5.0` for readers that distinguish it from 5.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** JSON.stringify cannot write a number by its text. On its own it writes a string, which has the same digits. */
  toJSON(): string {
    if (!waiting) return this.text;
    waiting.push(this.text);
    return mark();
  }
}

let madeMark: string | undefined;

/**
 * Stands for a number where JSON.parse and JSON.stringify cannot have the number. Nobody outside can know it. Made when
 * a number needs it: to load what makes random texts is a tenth of the start of a connector.
 */
function mark(): string {
  madeMark ??= `${crypto.randomUUID()}:`;
  return madeMark;
}

/** The numbers that `stringifyJson` has yet to put in, while it runs. */
let waiting: string[] | undefined;

/** Throws a SyntaxError, as JSON.parse does. */
export function parseJson(text: string): unknown {
  return mayHaveExactNumber(text) ? parseMarked(text, markExactNumbers(text)) : JSON.parse(text);
}

/** The same for a reader to whom `5.0` is not 5, as to Python: such a number becomes an exact one, too. */
export function parseJsonWithFloats(text: string): unknown {
  if (!wholeFloat.test(text)) return parseJson(text);
  return parseMarked(
    text,
    markExactNumbers(text, (number) => survivesDouble(number) && !/\.0+$/.test(number)),
  );
}

/** A whole number with a point: `5.0`. Dates and versions have that in strings, where no comma or bracket comes behind. */
const wholeFloat = /\.0+[,\]}\s]/;

function parseMarked(text: string, marked: string): unknown {
  if (marked === text) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch {
    // Fails in the same place, and with words that fit the text.
    return JSON.parse(text);
  }
  return unmark(value);
}

/** Like JSON.stringify, with every exact number in full. */
export function stringifyJson(value: unknown): string {
  const before = waiting;
  waiting = [];
  try {
    const text = JSON.stringify(value);
    if (waiting.length === 0) return text;
    const parts = text.split(JSON.stringify(mark()));
    let whole = parts[0] ?? '';
    for (let index = 1; index < parts.length; index++) whole += `${waiting[index - 1]}${parts[index]}`;
    return whole;
  } finally {
    waiting = before;
  }
}

/*
 * Every number that a double may not represent has at least 16 digits (possibly with a point among them), an exponent
 * of at least two digits, or is negative zero. Searching for patterns of fixed length is fast; with {16}, the first one
 * would take ten times as long.
 */
const manyDigits = new RegExp('[0-9.]'.repeat(16));
const longExponent = /[0-9][eE][0-9+-][0-9][0-9]/;
// Behind what may come before a number: texts such as UUIDs have a hyphen and a zero, too.
const negativeZero = /[[:,\s]-0(?:[^0-9]|$)/;

function mayHaveExactNumber(text: string): boolean {
  return manyDigits.test(text) || longExponent.test(text) || negativeZero.test(text) || text.startsWith('-0');
}

/** What is read of a string, for a test that counts the reading. */
export type ReadableText = Pick<string, 'length' | 'charCodeAt' | 'indexOf' | 'slice'>;

const [quote, backslash, plus, minus, point, zero, nine, bigE, smallE] = [...'"\\+-.09Ee'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number, number, number];

/** Puts each number that a double cannot represent in quotes, after the mark. A single pass over the text. */
export function markExactNumbers<Text extends ReadableText>(
  text: Text,
  survives: (number: string) => boolean = survivesDouble,
): string | Text {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at);
      if ((end - at > 2 || code === minus) && !survives(text.slice(at, end))) {
        marked += `${text.slice(copied, at)}"${mark()}${text.slice(at, end)}"`;
        copied = end;
      }
      at = end;
    } else {
      at++;
    }
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

const isDigit = (code: number) => code >= zero && code <= nine;

/** Behind its closing quote; the end of the text if it has none. */
function endOfString(text: ReadableText, start: number): number {
  for (let from = start + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end === -1) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    // An odd number of backslashes escapes the quote.
    if ((end - before) % 2 === 1) return end + 1;
    from = end + 1;
  }
}

function endOfNumber(text: ReadableText, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isPart =
      isDigit(code) || code === point || code === smallE || code === bigE || code === minus || code === plus;
    if (!isPart) return at;
  }
  return text.length;
}

/** Text that is not a number passes: JSON.parse rejects it. */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether the double for a number, as JSON.stringify writes it, is the same number: in value, and in the sign of zero. */
export function survivesDouble(text: string): boolean {
  // A double represents every number with 15 digits.
  if (text.length <= 15 && !/^-0|[eE]/.test(text)) return true;
  const value = Number(text);
  // Most long ones were written from a double.
  if (String(value) === text || !numberForm.test(text)) return true;
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  if (Number.isSafeInteger(value) && !/[.eE]/.test(text)) return true;
  return sameDecimal(text, String(value));
}

/** Whether two texts of numbers say the same number, whatever their spelling. The sign of zero does not count. */
export function sameDecimal(one: string, other: string): boolean {
  return compareNumberTexts(one, other) === 0;
}

export function isNumberText(text: string): boolean {
  return numberForm.test(text);
}

/** Below, at or above zero as the first number is below, at or above the second, by all their digits. */
export function compareNumberTexts(one: string, other: string): number {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  const signOf = (text: string, { digits }: { digits: string }) => (digits === '' ? 0 : text.startsWith('-') ? -1 : 1);
  const [sign, otherSign] = [signOf(one, a), signOf(other, b)];
  if (sign !== otherSign || sign === 0) return sign - otherSign;
  if (a.point !== b.point) return a.point > b.point ? sign : -sign;
  // The digits are those behind a point, so that they compare as text.
  return a.digits === b.digits ? 0 : a.digits > b.digits ? sign : -sign;
}

/** Without its sign: 0.`digits` times ten to the power of `point`. No digits: zero. */
function decimalOf(text: string): { digits: string; point: number } {
  const [mantissa = '', exponent = '0'] = text.slice(text.startsWith('-') ? 1 : 0).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (start < end && all.charCodeAt(start) === zero) start++;
  while (end > start && all.charCodeAt(end - 1) === zero) end--;
  return { digits: all.slice(start, end), point: Number(exponent) + whole.length - start };
}

/** Puts exact numbers where marked strings are. Without recursion: a value may be nested deeper than the stack. */
function unmark(root: unknown): unknown {
  if (typeof root === 'string') return unmarkString(root);
  const open = [root as Record<string, unknown>];
  for (let container = open.pop(); container; container = open.pop()) {
    for (const key of Object.keys(container)) {
      const value = container[key];
      if (typeof value === 'string' && value.startsWith(mark())) {
        // An assignment to `__proto__` would not make a property.
        Object.defineProperty(container, key, {
          value: unmarkString(value),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      } else if (typeof value === 'object' && value !== null) {
        open.push(value as Record<string, unknown>);
      }
    }
  }
  return root;
}

function unmarkString(text: string): string | ExactNumber {
  return text.startsWith(mark()) ? new ExactNumber(text.slice(mark().length)) : text;
}

/** The value at a dot path, such as `data.items`; an empty path is the value itself. A number is a place in a list. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  let found = value;
  for (const key of path.split('.')) {
    if (!isJsonObject(found) && !Array.isArray(found)) return undefined;
    if (!Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}
