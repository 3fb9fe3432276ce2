/* Whether a column of PostgreSQL holds a number, which is given by its text. */
import { survivesDouble } from '../kit/json.ts';

const integerForm = /^-?(?:0|[1-9]\d{0,18})$/;
const decimalForm = /^-?(?:(0|[1-9]\d*)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,6}))?$/;

/** Of the type numeric: digits before the point and after it. */
const maxWholeDigits = 131_072;
const maxFractionDigits = 16_383;

export function fitsBigint(text: string): boolean {
  if (!integerForm.test(text)) return false;
  if (text.length < 19) return true;
  const integer = BigInt(text);
  return BigInt.asIntN(64, integer) === integer;
}

/** A leading zero, as in 007, is no part of a number: such a text would come back without it. */
export function fitsNumeric(text: string): boolean {
  const match = decimalForm.exec(text);
  if (!match) return isSpecialNumber(text);
  const [, whole = '', afterPoint, withoutWhole, exponent = '0'] = match;
  const fraction = afterPoint ?? withoutWhole ?? '';
  const shift = Number(exponent);
  return whole.length + shift <= maxWholeDigits && fraction.length - shift <= maxFractionDigits;
}

/** Whether PostgreSQL gives the same number back from a column of doubles. */
export function fitsDouble(text: string): boolean {
  return isSpecialNumber(text) || (decimalForm.test(text) && survivesDouble(text) && !isHalfway(text));
}

/**
 * Whether a number is exactly between two doubles. JavaScript writes a double by such a number if that is the shortest;
 * PostgreSQL never does, and would give other digits back. Only whole numbers beyond 2^53 can be both short and halfway.
 */
function isHalfway(text: string): boolean {
  const value = Math.abs(Number(text));
  if (value <= Number.MAX_SAFE_INTEGER || !Number.isFinite(value)) return false;
  const double = BigInt(value);
  const distance = wholeNumber(text.replace(/^-/, '')) - double;
  const spacing = 1n << BigInt(double.toString(2).length - 53);
  const isPowerOfTwo = (double & (double - 1n)) === 0n;
  return distance * 2n === spacing || distance * -2n === spacing || (isPowerOfTwo && distance * -4n === spacing);
}

/** Its fraction, if it has one, is zeros. */
function wholeNumber(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** What JSON cannot write as a number is written as a string. */
export function isSpecialNumber(value: unknown): value is string {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}
