/* What Python's `int`, `float`, `round` and `json.dumps` make of values. */
import { ExactNumber } from '@inlay/protocol/json';
import { maxDepth, spendMade } from './budget.ts';
import { fixed } from './number-format.ts';
import { exactNumberText, floatRepr, integerText } from './printing.ts';
import { strip } from './python-text.ts';
import {
  Float,
  type Integer,
  isMapping,
  mappingEntries,
  numberOf,
  shrink,
  Tuple,
  typeError,
  typeName,
  Undefined,
  valueError,
} from './values.ts';

const digitsByBase: Readonly<Record<number, { pattern: RegExp; prefix: string }>> = {
  2: { pattern: /^(?:0[bB]_?)?([01](?:_?[01])*)$/, prefix: '0b' },
  8: { pattern: /^(?:0[oO]_?)?([0-7](?:_?[0-7])*)$/, prefix: '0o' },
  16: { pattern: /^(?:0[xX]_?)?([\da-fA-F](?:_?[\da-fA-F])*)$/, prefix: '0x' },
};

/** Python's `int(value)`. Throws its type and value errors. */
export function toInteger(value: unknown, base = 10): Integer {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') return integerOfText(value, base);
  const number = numberOf(value);
  if (number === undefined) {
    throw typeError(`int() argument must be a string or a real number, not '${typeName(value)}'`);
  }
  if (!(number instanceof Float)) return number;
  if (!Number.isFinite(number.value)) throw valueError('cannot convert float infinity or NaN to integer');
  return shrink(BigInt(Math.trunc(number.value)));
}

function integerOfText(text: string, base: number): Integer {
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/s.exec(strip(text)) ?? [];
  const fail = () => valueError(`invalid literal for int() with base ${base}: '${text}'`);
  let found: bigint;
  if (base === 10) {
    if (!/^\d(?:_?\d)*$/.test(digits) || digits.length > 4300) throw fail();
    found = BigInt(digits.replaceAll('_', ''));
  } else if (Object.hasOwn(digitsByBase, base)) {
    const { pattern, prefix } = digitsByBase[base] as { pattern: RegExp; prefix: string };
    const match = pattern.exec(digits);
    if (!match || digits.length > 4300) throw fail();
    found = BigInt(prefix + (match[1] ?? '').replaceAll('_', ''));
  } else {
    if (base !== 0 && (base < 2 || base > 36)) throw valueError('int() base must be >= 2 and <= 36, or 0');
    const number = base === 0 ? Number(digits) : Number.parseInt(digits, base);
    if (!Number.isSafeInteger(number) || !/^[\da-zA-Z]+$/.test(digits)) throw fail();
    found = BigInt(number);
  }
  return shrink(sign === '-' ? -found : found);
}

/** Python's `float(value)`. */
export function toFloat(value: unknown): Float {
  if (value instanceof Undefined) value.fail();
  if (typeof value !== 'string') {
    const number = numberOf(value);
    if (number === undefined)
      throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
    return number instanceof Float ? number : new Float(Number(number));
  }
  const text = strip(value).toLowerCase();
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(text);
  if (special) {
    const size = special[2] === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY;
    return new Float(special[1] === '-' ? -size : size);
  }
  if (!/^[+-]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:e[+-]?\d(?:_?\d)*)?$/.test(text)) {
    throw valueError(`could not convert string to float: '${value}'`);
  }
  return new Float(Number(text.replaceAll('_', '')));
}

/** Python's `round(value, digits)`. */
export function round(value: unknown, digits: number): unknown {
  const number = numberOf(value);
  if (number === undefined) throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
  if (number instanceof Float) {
    if (!Number.isFinite(number.value)) return number;
    if (digits >= 0) return new Float(digits > 22 ? number.value : Number(fixed(number.value, digits)));
    if (digits < -308) return new Float(0);
    return new Float(Number(roundInteger(BigInt(Math.round(number.value)), -digits)));
  }
  if (digits >= 0) return number;
  return digits < -4300 ? 0 : shrink(roundInteger(BigInt(number), -digits));
}

/** Rounds to a multiple of a power of ten, exact halves to the even one. */
function roundInteger(value: bigint, zeros: number): bigint {
  const unit = 10n ** BigInt(zeros);
  const size = value < 0n ? -value : value;
  const [quotient, rest] = [size / unit, (size % unit) * 2n];
  const rounded = (rest > unit || (rest === unit && quotient % 2n === 1n) ? quotient + 1n : quotient) * unit;
  return value < 0n ? -rounded : rounded;
}

/** Python's `json.dumps(value)`: with blanks behind commas and colons, and without characters outside ASCII. */
export function toJson(value: unknown, options: { sortsKeys?: boolean; indent?: number } = {}): string {
  const { sortsKeys = false, indent } = options;
  const write = (item: unknown, depth: number): string => {
    if (depth > maxDepth) throw valueError('A value is nested too deeply for JSON');
    if (item === null) return 'null';
    if (typeof item === 'string') return jsonText(item);
    if (typeof item === 'boolean') return String(item);
    if (item instanceof ExactNumber) return exactNumberText(item);
    const number = numberOf(item);
    if (number instanceof Float) return floatRepr(number.value).replace('inf', 'Infinity').replace('nan', 'NaN');
    if (number !== undefined) return integerText(number);
    if (Array.isArray(item))
      return between(
        '[',
        item.map((one) => write(one, depth + 1)),
        ']',
        depth,
      );
    if (item instanceof Tuple)
      return between(
        '[',
        item.items.map((one) => write(one, depth + 1)),
        ']',
        depth,
      );
    if (isMapping(item)) {
      const entries = mappingEntries(item).map(([key, one]) => [jsonKey(key), one] as const);
      if (sortsKeys) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      const parts = entries.map(([key, one]) => `${jsonText(key)}: ${write(one, depth + 1)}`);
      return between('{', parts, '}', depth);
    }
    throw typeError(`Object of type ${typeName(item)} is not JSON serializable`);
  };
  const between = (open: string, parts: string[], close: string, depth: number): string => {
    spendMade(parts.length);
    if (indent === undefined || parts.length === 0) return `${open}${parts.join(', ')}${close}`;
    const line = (level: number) => `\n${' '.repeat(Math.max(0, indent) * level)}`;
    return open + line(depth + 1) + parts.join(`,${line(depth + 1)}`) + line(depth) + close;
  };
  const text = write(value, 0);
  spendMade(text.length);
  return text;
}

function jsonKey(key: unknown): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  const number = numberOf(key);
  if (number === undefined) throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  return number instanceof Float ? floatRepr(number.value) : integerText(number);
}

function jsonText(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007f-\uffff]/g, (unit) => {
    return unit === '\x7f' ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
