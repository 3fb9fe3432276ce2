/* Whether a PostgreSQL column can store a number, given as text, and how it spells it as text. */
import { sameDecimal } from '@inlay/protocol/json';

const integerForm = /^-?(?:0|[1-9]\d{0,18})$/;
const decimalForm = /^-?(?:(0|[1-9]\d*)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,6}))?$/;
const negativeZero = /^-(?:0+\.?0*|\.0+)(?:[eE][+-]?\d+)?$/;

/** Limits of the type numeric: digits before and after the point. */
const maxWholeDigits = 131_072;
const maxFractionDigits = 16_383;

export function fitsBigint(text: string): boolean {
  if (!integerForm.test(text)) return false;
  if (text.length < 19) return true;
  const integer = BigInt(text);
  return BigInt.asIntN(64, integer) === integer;
}

/** A leading zero, as in 007, is not part of a number: such a text would come back without it. */
export function fitsNumeric(text: string): boolean {
  const match = decimalForm.exec(text);
  if (!match) return isSpecialNumber(text);
  const [, whole = '', afterPoint, withoutWhole, exponent = '0'] = match;
  const fraction = afterPoint ?? withoutWhole ?? '';
  const shift = Number(exponent);
  return whole.length + shift <= maxWholeDigits && fraction.length - shift <= maxFractionDigits;
}

/**
 * Whether a number is what some program writes for the double nearest to it: the fewest digits from which the double is
 * read again. JavaScript and PostgreSQL disagree about them for a few doubles, and the spelling is nobody's business.
 */
export function fitsDouble(text: string): boolean {
  if (isSpecialNumber(text)) return true;
  if (!decimalForm.test(text)) return false;
  // A double represents every number with 15 digits.
  if (text.length <= 15 && !/[eE]/.test(text)) return true;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  return sameDecimal(text, String(value)) || sameDecimal(text, canonicalDouble(text));
}

/** Only a column of doubles, and a text, know the sign of zero. */
export function isNegativeZero(text: string): boolean {
  return text.startsWith('-') && negativeZero.test(text);
}

/** What JSON cannot write as a number is written as a string. */
export function isSpecialNumber(value: unknown): boolean {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}

/** The digits that PostgreSQL writes for a double, in the notation of JavaScript. */
export function canonicalDouble(text: string): string {
  if (isSpecialNumber(text)) return text;
  const value = Number(text);
  if (Object.is(value, -0)) return '-0';
  const shortest = String(value);
  if (!isHalfway(shortest)) return shortest;
  const digits = inNotationOfJavaScript(fewestDigits(BigInt(Math.abs(value))));
  return value < 0 ? `-${digits}` : digits;
}

/**
 * Whether a number is exactly between two doubles. JavaScript writes a double by such a number if that is the shortest;
 * PostgreSQL never does. Only whole numbers beyond 2^53 can be both short and halfway.
 */
function isHalfway(text: string): boolean {
  const value = Math.abs(Number(text));
  if (value <= Number.MAX_SAFE_INTEGER || !Number.isFinite(value)) return false;
  const [low, high] = halfwayQuarters(BigInt(value));
  const quarters = 4n * wholeNumber(text.replace(/^-/, ''));
  return quarters === low || quarters === high;
}

/** The numbers halfway to the next doubles, in quarters: below a power of two the doubles are twice as dense. */
function halfwayQuarters(double: bigint): [low: bigint, high: bigint] {
  const spacing = 1n << BigInt(double.toString(2).length - 53);
  const isPowerOfTwo = (double & (double - 1n)) === 0n;
  return [4n * double - (isPowerOfTwo ? 1n : 2n) * spacing, 4n * double + 2n * spacing];
}

/** Shortest round-trip: of the numbers with the fewest digits that are closest to this double, the nearest. */
function fewestDigits(double: bigint): bigint {
  const [low, high] = halfwayQuarters(double);
  for (let unit = 10n ** BigInt(double.toString().length); unit > 1n; unit /= 10n) {
    const below = double - (double % unit);
    const above = below + unit;
    const fits = [below, above].filter((one) => 4n * one > low && 4n * one < high);
    if (fits.length === 0) continue;
    const distance = 2n * (double % unit) - unit;
    const isBelow = distance < 0n || (distance === 0n && (below / unit) % 2n === 0n);
    return fits.length === 1 ? (fits[0] as bigint) : isBelow ? below : above;
  }
  return double;
}

/** Its fraction, if it has one, is zeros. */
function wholeNumber(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** Without an exponent below 10^21. */
function inNotationOfJavaScript(whole: bigint): string {
  const digits = whole.toString();
  if (digits.length <= 21) return digits;
  const significant = digits.replace(/0+$/, '');
  const fraction = significant.length > 1 ? `.${significant.slice(1)}` : '';
  return `${significant[0]}${fraction}e+${digits.length - 1}`;
}

/** As PostgreSQL writes a numeric: without an exponent, and with the zeros at the end that the number came with. */
export function canonicalNumeric(text: string): string {
  const match = decimalForm.exec(text);
  if (!match) return text;
  const [, whole = '', afterPoint, withoutWhole, exponent = '0'] = match;
  const fraction = afterPoint ?? withoutWhole ?? '';
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = digits.padStart(digits.length + Math.max(1 - point, 0), '0');
  const wholeLength = Math.max(point, 1);
  const before = padded
    .slice(0, wholeLength)
    .padEnd(wholeLength, '0')
    .replace(/^0+(?=\d)/, '');
  const after = padded.slice(wholeLength);
  const sign = text.startsWith('-') && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${before}${after && `.${after}`}`;
}

export function withoutZerosAtEnd(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
