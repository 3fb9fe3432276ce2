/* Writes numbers and texts by Python's format specifications, such as `{:>8.2f}`. */
import { spendMade } from './budget.ts';
import { floatRepr, pythonText } from './printing.ts';
import { Float, numberOf, typeError, typeName, Undefined, valueError } from './values.ts';

/** With a fixed number of decimals; exact halves round to the even digit, as in Python. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return floatRepr(value);
  if (digits > 100) throw valueError('precision too big');
  if (Math.abs(value) >= 1e21) return BigInt(value).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
  const scaled = Math.abs(value) * 10 ** digits;
  const floor = Math.floor(scaled);
  // Only a number with few binary places can be exactly between two decimals.
  const isHalf = scaled - floor === 0.5 && Number.isInteger(value * 2 ** (digits + 1));
  if (!isHalf || !Number.isSafeInteger(floor)) return keepSign(value, Math.abs(value).toFixed(digits));
  const even = String(floor % 2 === 0 ? floor : floor + 1).padStart(digits + 1, '0');
  return keepSign(value, digits === 0 ? even : `${even.slice(0, -digits)}.${even.slice(-digits)}`);
}

function keepSign(value: number, text: string): string {
  return value < 0 || Object.is(value, -0) ? `-${text}` : text;
}

function exponential(value: number, digits: number): string {
  if (!Number.isFinite(value)) return floatRepr(value);
  const [mantissa = '', exponent = '+0'] = value.toExponential(Math.min(digits, 100)).split('e');
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

function general(value: number, digits: number, keepsZeros: boolean): string {
  if (!Number.isFinite(value)) return floatRepr(value);
  const places = Math.max(1, Math.min(digits, 100));
  if (value === 0) return keepSign(value, keepsZeros && places > 1 ? `0.${'0'.repeat(places - 1)}` : '0');
  const power = Number(value.toExponential(places - 1).split('e')[1]);
  const isExponential = power < -4 || power >= places;
  const text = isExponential ? exponential(value, places - 1) : fixed(value, places - 1 - power);
  if (keepsZeros) return text;
  const [mantissa = '', exponent] = text.split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return exponent === undefined ? short : `${short}e${exponent}`;
}

/** The digits of a float in one of the forms of a format. */
export function floatDigits(value: number, form: string, precision: number | undefined, keepsZeros = false): string {
  const digits = precision ?? 6;
  switch (form.toLowerCase()) {
    case 'f':
      return fixed(value, digits);
    case 'e':
      return exponential(value, digits);
    case '%':
      return `${fixed(value * 100, digits)}%`;
    default:
      return general(value, digits, keepsZeros);
  }
}

const specification = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

/** Python's `format(value, specification)` for texts and numbers. */
export function formatValue(value: unknown, text: string): string {
  if (value instanceof Undefined) value.fail();
  const number = typeof value === 'boolean' && text === '' ? undefined : numberOf(value);
  if (text === '') return pythonText(value);
  const isText = typeof value === 'string';
  if (number === undefined && !isText) {
    throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  }
  const match = specification.exec(text);
  if (!match) throw valueError(`Invalid format specifier '${text}'`);
  const [, fillGiven, alignGiven, sign = '-', , alternate, zero, widthText, group, precisionText, type] = match;
  const width = Number(widthText ?? 0);
  const precision = precisionText === undefined ? undefined : Number(precisionText);
  spendMade(width + (precision ?? 0));
  const fill = fillGiven ?? (zero && !alignGiven ? '0' : zero && !fillGiven ? '0' : ' ');
  if (isText) {
    if (type !== undefined && type !== 's') throw valueError(`Unknown format code '${type}' for object of type 'str'`);
    if (group || alignGiven === '=' || match[3]) throw valueError('Not allowed in a format of a text');
    const cut = precision === undefined ? (value as string) : [...(value as string)].slice(0, precision).join('');
    return pad(cut, '', width, fill, alignGiven ?? '<');
  }
  const { negative, prefix, digits } = numberParts(number as number | bigint | Float, type, precision, alternate);
  const shown = group ? grouped(digits, group, type) : digits;
  const signText = negative ? '-' : sign === '-' ? '' : sign;
  return pad(shown, signText + prefix, width, fill, alignGiven ?? (zero ? '=' : '>'));
}

function numberParts(
  number: number | bigint | Float,
  type: string | undefined,
  precision: number | undefined,
  alternate?: string,
) {
  if (!(number instanceof Float) && (type === undefined || 'dbxXocn'.includes(type))) {
    if (precision !== undefined) throw valueError('Precision not allowed in integer format specifier');
    const value = BigInt(number);
    const size = value < 0n ? -value : value;
    const radix = type === 'b' ? 2 : type === 'o' ? 8 : type === 'x' || type === 'X' ? 16 : 10;
    const digits = type === 'c' ? String.fromCodePoint(Number(size)) : size.toString(radix);
    return {
      negative: value < 0n,
      prefix: alternate && radix !== 10 ? `0${type}` : '',
      digits: type === 'X' ? digits.toUpperCase() : digits,
    };
  }
  if (type !== undefined && !'eEfFgGn%'.includes(type)) {
    throw valueError(`Unknown format code '${type}' for object of type '${number instanceof Float ? 'float' : 'int'}'`);
  }
  const value = number instanceof Float ? number.value : Number(number);
  const negative = value < 0 || Object.is(value, -0);
  let digits: string;
  if (type === undefined && precision === undefined) {
    digits = floatRepr(Math.abs(value));
  } else if (type === undefined) {
    digits = general(Math.abs(value), precision ?? 6, false);
    // Without a letter the text is always one of a float.
    if (!/[.en]/.test(digits)) digits += '.0';
  } else {
    digits = floatDigits(Math.abs(value), type, precision, alternate !== undefined);
    if (type === 'E' || type === 'F' || type === 'G') digits = digits.toUpperCase();
  }
  return { negative, prefix: '', digits };
}

function grouped(digits: string, group: string, type: string | undefined): string {
  const [, whole = '', rest = ''] = /^([0-9a-fA-F]*)(.*)$/s.exec(digits) ?? [];
  const size = type === 'b' || type === 'o' || type === 'x' || type === 'X' ? 4 : 3;
  return whole.replaceAll(new RegExp(`\\B(?=(?:.{${size}})+$)`, 'g'), group) + rest;
}

function pad(text: string, sign: string, width: number, fill: string, align: string): string {
  const missing = width - [...text].length - sign.length;
  if (missing <= 0) return sign + text;
  if (align === '<') return sign + text + fill.repeat(missing);
  if (align === '=') return sign + fill.repeat(missing) + text;
  const left = align === '^' ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + sign + text + fill.repeat(missing - left);
}
