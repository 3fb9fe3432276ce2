/*
 * Parses rendered text as a Python literal, as the reference always does: `12` is a number, `[1, 2]` a list, `True`
 * true, and anything that is not a literal stays text. The result is plain data. A number keeps all its digits, and a
 * float without a fraction its point: both are the kit's exact numbers.
 */
import { ExactNumber, isJsonObject, isNumberText, survivesDouble } from '@inlay/protocol/json';
import { maxDepth } from './budget.ts';
import { floatRepr, pythonText } from './printing.ts';
import { unescapeString } from './string-escapes.ts';

/** The types that a place of a manifest accepts from the literal reading. `number` is one with a point. */
export type LiteralType = 'text' | 'list' | 'object' | 'boolean' | 'integer' | 'number';

export function isOfType(value: unknown, types: readonly LiteralType[]): boolean {
  return types.some((type) => typeChecks[type](value));
}

const typeChecks: Readonly<Record<LiteralType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  list: (value) => Array.isArray(value),
  object: isJsonObject,
  boolean: (value) => typeof value === 'boolean',
  // In Python, true is a number.
  integer: (value) => typeof value === 'boolean' || (isNumber(value) && !isFloat(value)),
  number: (value) => isNumber(value) && isFloat(value),
};

function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

function isFloat(value: number | ExactNumber): boolean {
  return typeof value === 'number' ? !Number.isInteger(value) : /[.eE]/.test(value.text);
}

/** First characters of literals. Most texts are not literals and are ruled out by their first character. */
const beginning = /^[\s\d'"([{+\-.#\\TFNrRuUs]/;

/** A date, a time or a path: begins as a number does, and is none. */
const almostNumber = /^[\d_.]+[-:/T]/;

/** The text itself if it is not a literal. */
export function readLiteral(text: string): unknown {
  if (!beginning.test(text) || almostNumber.test(text)) return text;
  try {
    return new LiteralReader(text.replace(/^[ \t]+/, '')).read();
  } catch (error) {
    if (error === notLiteral) return text;
    throw error;
  }
}

const notLiteral = new Error('not a literal');

/** A tuple of one item needs its comma: `(1)` is a number. */
interface Items {
  items: unknown[];
  hasComma: boolean;
}

const number =
  /0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*\.(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*|\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const word = /[\p{L}\p{N}_]+/uy;
const stringStart = /([rRuU]?)("""|'''|"|')/y;
const maxDigits = 4300;

class LiteralReader {
  private readonly text: string;
  private at = 0;
  /** Line ends mean nothing within brackets. */
  private open = 0;

  constructor(text: string) {
    // A line end of any kind is one for Python.
    this.text = text.replaceAll(/\r\n?/g, '\n');
    if (text.includes('\0')) throw notLiteral;
  }

  read(): unknown {
    this.skipBlankLines();
    const { items, hasComma } = this.items('');
    this.skipSpace();
    // Only blank lines and comments may follow.
    if (this.at < this.text.length && this.text[this.at] !== '\n') throw notLiteral;
    this.open = 1;
    this.skipSpace();
    if (this.at < this.text.length) throw notLiteral;
    return hasComma ? items : items[0];
  }

  /** Lines before the literal may be empty or comments. The literal itself must not be indented. */
  private skipBlankLines(): void {
    const lines = /(?:[ \t\f]*(?:#[^\n]*)?\n)*/y;
    lines.lastIndex = 0;
    this.at = lines.exec(this.text)?.[0].length ?? 0;
    if (this.at > 0 && /[ \t]/.test(this.text[this.at] ?? '')) throw notLiteral;
  }

  private skipSpace(): void {
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (character === ' ' || character === '\t' || character === '\f') continue;
      if (character === '\n' && this.open > 0) continue;
      if (character === '\\' && this.text[this.at + 1] === '\n') {
        this.at++;
        // An unfinished line needs another line.
        if (this.at + 1 >= this.text.length) throw notLiteral;
        continue;
      }
      if (character !== '#') return;
      const end = this.text.indexOf('\n', this.at);
      if (end === -1) {
        this.at = this.text.length;
        return;
      }
      this.at = end - 1;
    }
  }

  private skip(character: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found) this.at += found[0].length;
    return found;
  }

  /** Values with commas between them, up to a closing bracket or the end. */
  private items(end: string): Items {
    const items: unknown[] = [];
    let hasComma = false;
    for (;;) {
      this.skipSpace();
      if (end !== '' && this.text[this.at] === end) break;
      if (end === '' && items.length > 0 && (this.at >= this.text.length || this.text[this.at] === '\n')) break;
      items.push(this.value());
      if (!this.skip(',')) break;
      hasComma = true;
    }
    if (end !== '' && !this.skip(end)) throw notLiteral;
    return { items, hasComma };
  }

  private value(): unknown {
    this.skipSpace();
    const character = this.text[this.at] ?? '';
    if (character === '(' || character === '[' || character === '{') return this.container(character);
    if (character === '+' || character === '-') {
      this.at++;
      return this.signed(character);
    }
    if (/[\d.]/.test(character)) return this.number('');
    if (this.startsString()) return this.strings();
    switch (this.match(word)?.[0]) {
      case 'True':
        return true;
      case 'False':
        return false;
      case 'None':
        return null;
      case 'set':
        if (this.skip('(') && this.skip(')')) return [];
    }
    throw notLiteral;
  }

  private container(opening: string): unknown {
    this.at++;
    if (++this.open > maxDepth) throw notLiteral;
    let found: unknown;
    if (opening === '{') {
      found = this.dictOrSet();
    } else {
      const { items, hasComma } = this.items(opening === '(' ? ')' : ']');
      found = opening === '(' && !hasComma && items.length === 1 ? items[0] : items;
    }
    this.open--;
    return found;
  }

  private dictOrSet(): unknown {
    if (this.skip('}')) return {};
    const first = this.value();
    if (!this.skip(':')) {
      if (Array.isArray(first) || isJsonObject(first)) throw notLiteral;
      if (!this.skip(',')) {
        if (!this.skip('}')) throw notLiteral;
        return [first];
      }
      return [...new Set([first, ...this.items('}').items])];
    }
    const entries: [string, unknown][] = [[this.key(first), this.value()]];
    while (this.skip(',')) {
      this.skipSpace();
      if (this.text[this.at] === '}') break;
      const key = this.key(this.value());
      if (!this.skip(':')) throw notLiteral;
      entries.push([key, this.value()]);
    }
    if (!this.skip('}')) throw notLiteral;
    // Made with definitions of properties, so that `__proto__` is a key like any other.
    return Object.fromEntries(entries);
  }

  /** As Python's JSON writer writes keys, where they are to be JSON in the end. */
  private key(value: unknown): string {
    if (typeof value === 'string') return value;
    if (Array.isArray(value) || isJsonObject(value)) throw notLiteral;
    if (value === null) return 'null';
    return typeof value === 'boolean' ? String(value) : pythonText(value);
  }

  private signed(sign: string): unknown {
    this.skipSpace();
    // A sign may stand before a number in parentheses, too.
    if (this.text[this.at] === '(') {
      const inner = this.container('(');
      if (!isNumber(inner)) throw notLiteral;
      const digits = typeof inner === 'number' ? String(inner) : inner.text;
      if (/^-/.test(digits)) throw notLiteral;
      return sign === '-' ? plainNumber(`-${digits}`, isFloat(inner)) : inner;
    }
    if (!/[\d.]/.test(this.text[this.at] ?? '')) throw notLiteral;
    return this.number(sign === '-' ? '-' : '');
  }

  private number(sign: string): unknown {
    const found = this.match(number)?.[0];
    if (found === undefined) throw notLiteral;
    // Neither `5j`, which is a complex number, nor `5x`.
    if (/[\p{L}\p{N}_.]/u.test(this.text[this.at] ?? '')) throw notLiteral;
    const digits = found.replaceAll('_', '');
    if (/^0[xXoObB]/.test(digits)) {
      const value = BigInt(digits);
      if (digits.length > maxDigits) throw notLiteral;
      return plainNumber(`${value === 0n ? '' : sign}${value}`, false);
    }
    if (/[.eE]/.test(digits)) return plainNumber(sign + digits, true);
    // `007` is not a number, `00` is one.
    if (digits.length > maxDigits || /^0\d*[1-9]/.test(digits)) throw notLiteral;
    const value = digits.replace(/^0+(?=\d)/, '');
    return plainNumber(value === '0' ? value : sign + value, false);
  }

  private startsString(): boolean {
    stringStart.lastIndex = this.at;
    return stringStart.test(this.text);
  }

  /** Strings that stand next to each other are one. */
  private strings(): string {
    let result = '';
    do {
      result += this.string();
      this.skipSpace();
    } while (this.startsString());
    return result;
  }

  private string(): string {
    const start = this.match(stringStart);
    if (!start) throw notLiteral;
    const [, prefix = '', quote = ''] = start;
    const from = this.at;
    for (; ; this.at++) {
      if (this.at >= this.text.length) throw notLiteral;
      if (this.text[this.at] === '\\') this.at++;
      else if (this.text[this.at] === '\n' && quote.length === 1) throw notLiteral;
      else if (this.text.startsWith(quote, this.at)) break;
    }
    const inside = this.text.slice(from, this.at);
    this.at += quote.length;
    if (prefix === 'r' || prefix === 'R') return inside;
    const unescaped = unescapeString(inside);
    if (unescaped === undefined) throw notLiteral;
    return unescaped;
  }
}

/** A number as plain data: a double if it represents the number exactly. */
function plainNumber(text: string, isFloating: boolean): number | ExactNumber {
  const value = Number(text);
  if (!isFloating) return Number.isSafeInteger(value) ? value : new ExactNumber(text);
  const written = floatRepr(value);
  if (Number.isFinite(value) && (survivesDouble(jsonForm(text)) || written === text)) {
    return Number.isInteger(value) ? new ExactNumber(written) : value;
  }
  return new ExactNumber(jsonForm(text));
}

/** `.5` and `5.` are numbers in Python, not in JSON. */
function jsonForm(text: string): string {
  const form = text
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '.0')
    .replace(/^(-?)0+(?=\d)/, '$1');
  return isNumberText(form) ? form : text;
}
