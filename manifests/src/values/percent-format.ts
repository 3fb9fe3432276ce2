/* Python's `'%s of %d' % (…)`. */
import { spendMade } from './budget.ts';
import { floatDigits } from './number-format.ts';
import { pythonRepr, pythonText } from './printing.ts';
import {
  Float,
  isMapping,
  mappingGet,
  mappingHas,
  numberOf,
  Tuple,
  typeError,
  typeName,
  valueError,
} from './values.ts';

const conversion = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?(.)?/gs;

export function formatPercent(format: string, values: unknown): string {
  const args = values instanceof Tuple ? values.items : [values];
  let used = 0;
  let isByName = false;
  const take = (): unknown => {
    if (used >= args.length) throw typeError('not enough arguments for format string');
    return args[used++];
  };
  const text = format.replaceAll(conversion, (_all, key: string | undefined, flags: string, width, precision, type) => {
    if (type === undefined) throw valueError('incomplete format');
    if (type === '%') return '%';
    const wide = width === '*' ? Number(numberOf(take())) : Number(width ?? 0);
    const exact =
      precision === undefined ? undefined : precision === '*' ? Number(numberOf(take())) : Number(precision);
    spendMade(wide + (exact ?? 0));
    let value: unknown;
    if (key === undefined) {
      value = take();
    } else {
      isByName = true;
      if (!isMapping(values)) throw typeError('format requires a mapping');
      if (!mappingHas(values, key)) throw valueError(`KeyError: '${key}'`);
      value = mappingGet(values, key);
    }
    return padded(convert(value, type, exact, flags), flags, wide, type);
  });
  if (!isByName && used < args.length && !(isMapping(values) || Array.isArray(values))) {
    throw typeError('not all arguments converted during string formatting');
  }
  return text;
}

function convert(value: unknown, type: string, precision: number | undefined, flags: string): string {
  if (type === 's' || type === 'r' || type === 'a') {
    const text = type === 's' ? pythonText(value) : pythonRepr(value);
    return precision === undefined ? text : [...text].slice(0, precision).join('');
  }
  if (type === 'c') {
    if (typeof value === 'string' && [...value].length === 1) return value;
    const point = numberOf(value);
    if (point === undefined || point instanceof Float) throw typeError('%c requires int or char');
    return String.fromCodePoint(Number(point));
  }
  const number = numberOf(value);
  if (number === undefined) throw typeError(`%${type} format: a real number is required, not ${typeName(value)}`);
  const isNegative = (number instanceof Float ? number.value : number) < 0;
  const sign = isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if ('diu'.includes(type) || 'xXo'.includes(type)) {
    if (number instanceof Float && 'xXo'.includes(type))
      throw typeError(`%${type} format: an integer is required, not float`);
    if (number instanceof Float && !Number.isFinite(number.value)) throw valueError('cannot convert float to integer');
    const whole = BigInt(number instanceof Float ? Math.trunc(number.value) : number);
    const size = whole < 0n ? -whole : whole;
    const digits = size.toString('xX'.includes(type) ? 16 : type === 'o' ? 8 : 10).padStart(precision ?? 0, '0');
    const prefix = flags.includes('#') && 'xXo'.includes(type) ? `0${type}` : '';
    return (whole < 0n ? '-' : isNegative ? '' : sign) + prefix + (type === 'X' ? digits.toUpperCase() : digits);
  }
  if (!'eEfFgG'.includes(type)) throw valueError(`unsupported format character '${type}'`);
  const double = number instanceof Float ? number.value : Number(number);
  const digits = floatDigits(Math.abs(double), type, precision, flags.includes('#'));
  const text = (double < 0 || Object.is(double, -0) ? '-' : sign) + digits;
  return type === type.toUpperCase() ? text.toUpperCase() : text;
}

function padded(text: string, flags: string, width: number, type: string): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  if (!flags.includes('0') || 'srac'.includes(type)) return ' '.repeat(missing) + text;
  const sign = /^[-+ ]?(?:0[xXo])?/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
}
