/*
 * What Python's operators do with values of templates.
 * Long because every operator has rules for every pair of types.
 */

import { DateError } from '../dates/date-error.ts';
import { CalendarDate, DateTime } from '../dates/date-time.ts';
import { Duration, roundHalfEven, Timedelta } from '../dates/durations.ts';
import { spendMade, spendStep } from '../values/budget.ts';
import { formatPercent } from '../values/percent-format.ts';
import { viewItems } from '../values/printing.ts';
import { TemplateError } from '../values/template-error.ts';
import {
  Attributes,
  Callable,
  Float,
  Generator,
  hashOf,
  type Integer,
  isMapping,
  mappingEntries,
  mappingHas,
  mappingSize,
  numberOf,
  PythonSet,
  shrink,
  Tuple,
  typeError,
  typeName,
  Undefined,
  View,
  valueError,
} from '../values/values.ts';
import type { ArithmeticOperator, ComparisonOperator } from './syntax-tree.ts';

export function isTruthy(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value !== '';
  if (value === null || value instanceof Undefined) return false;
  const number = numberOf(value);
  if (number !== undefined) return number instanceof Float ? number.value !== 0 : Number(number) !== 0;
  if (value instanceof Timedelta) return value.days !== 0 || value.seconds !== 0 || value.microseconds !== 0;
  const length = lengthOf(value);
  return length === undefined || length > 0;
}

/** Undefined for values without a length. Texts have the length of their characters. */
export function lengthOf(value: unknown): number | undefined {
  if (typeof value === 'string') return textLength(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple || value instanceof PythonSet) return value.items.length;
  if (isMapping(value)) return mappingSize(value);
  if (value instanceof View) return mappingSize(value.dict);
  if (value instanceof Undefined) return 0;
  return undefined;
}

const surrogate = /[\ud800-\udfff]/;

/** Python counts characters, JavaScript counts a character outside the basic plane as two. */
export function textLength(text: string): number {
  return surrogate.test(text) ? [...text].length : text.length;
}

/** The characters of a text; the text itself where each has one unit, which is quicker. */
export function characters(text: string): string | string[] {
  return surrogate.test(text) ? [...text] : text;
}

export function* iterate(value: unknown): Generator_ {
  for (const item of iterableOf(value)) {
    spendStep();
    yield item;
  }
}

type Generator_ = globalThis.Generator<unknown, void, undefined>;

/** Throws a type error for values that cannot be gone through. */
export function iterableOf(value: unknown): Iterable<unknown> {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Generator) return value;
  if (value instanceof Tuple || value instanceof PythonSet) return value.items;
  if (isMapping(value)) return mappingEntries(value).map(([key]) => key);
  if (value instanceof View) return viewItems(value);
  if (value instanceof Undefined) return [];
  throw typeError(`'${typeName(value)}' object is not iterable`);
}

export function isIterable(value: unknown): boolean {
  return lengthOf(value) !== undefined || value instanceof Generator;
}

export function listOf(value: unknown): unknown[] {
  const items = [...iterate(value)];
  spendMade(items.length);
  return items;
}

export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one === 'string' || typeof other === 'string') return false;
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a !== undefined && b !== undefined) return compareNumbers(a, b) === 0;
  if (a !== undefined || b !== undefined || one === null || other === null) return false;
  if (Array.isArray(one) || one instanceof Tuple) {
    const isSameType = Array.isArray(one) ? Array.isArray(other) : other instanceof Tuple;
    return isSameType && areItemsEqual(itemsOf(one), itemsOf(other as unknown[] | Tuple));
  }
  if (isMapping(one) && isMapping(other)) {
    if (mappingSize(one) !== mappingSize(other)) return false;
    spendStep(mappingSize(one));
    const others = new Map(mappingEntries(other).map(([key, value]) => [hashOf(key), value]));
    return mappingEntries(one).every(([key, value]) => {
      const hash = hashOf(key);
      return others.has(hash) && isEqual(value, others.get(hash));
    });
  }
  if (one instanceof DateTime && other instanceof DateTime) {
    return (one.zone === undefined) === (other.zone === undefined) && one.compare(other) === 0;
  }
  if (one instanceof CalendarDate && other instanceof CalendarDate) return one.days === other.days;
  if (one instanceof Duration && (other instanceof Duration || other instanceof Timedelta)) return one.equals(other);
  if (one instanceof Timedelta && other instanceof Duration) return other.equals(one);
  if (one instanceof Timedelta && other instanceof Timedelta) return one.compare(other) === 0;
  return one instanceof Undefined && other instanceof Undefined;
}

function itemsOf(value: unknown[] | Tuple): readonly unknown[] {
  return value instanceof Tuple ? value.items : value;
}

function areItemsEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  spendStep(one.length);
  return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
}

function compareNumbers(one: Integer | Float, other: Integer | Float): number {
  const [a, b] = [one instanceof Float ? one.value : one, other instanceof Float ? other.value : other];
  // JavaScript compares integers and doubles by their exact values.
  return a < b ? -1 : a > b ? 1 : a <= b ? 0 : Number.NaN;
}

/** Below, at or above zero; NaN if neither. Throws a type error for values without an order. */
export function compareValues(one: unknown, other: unknown, operator: string): number {
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other);
  if (one instanceof Undefined) one.fail();
  if (other instanceof Undefined) other.fail();
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a !== undefined && b !== undefined) return compareNumbers(a, b);
  if ((Array.isArray(one) && Array.isArray(other)) || (one instanceof Tuple && other instanceof Tuple)) {
    const [items, others] = [itemsOf(one), itemsOf(other)];
    spendStep(items.length);
    const at = items.findIndex((item, index) => index >= others.length || !isEqual(item, others[index]));
    if (at === -1 || at >= others.length) return items.length - others.length;
    return compareValues(items[at], others[at], operator);
  }
  if (one instanceof DateTime && other instanceof DateTime) {
    if ((one.zone === undefined) !== (other.zone === undefined)) {
      throw typeError("can't compare offset-naive and offset-aware datetimes");
    }
    return one.compare(other);
  }
  if (one instanceof CalendarDate && other instanceof CalendarDate) return one.days - other.days;
  if (one instanceof Timedelta && other instanceof Timedelta) return one.compare(other);
  throw typeError(`'${operator}' not supported between instances of '${typeName(one)}' and '${typeName(other)}'`);
}

/** By code points, like Python: JavaScript compares by code units. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  if (!surrogate.test(one) && !surrogate.test(other)) return one < other ? -1 : 1;
  const [a, b] = [[...one], [...other]];
  const at = a.findIndex((character, index) => character !== b[index]);
  if (at === -1) return -1;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}

export function compare(operator: ComparisonOperator, one: unknown, other: unknown): boolean {
  switch (operator) {
    case '==':
      return isEqual(one, other);
    case '!=':
      return !isEqual(one, other);
    case 'in':
      return contains(other, one);
    case 'not in':
      return !contains(other, one);
    case '<':
      return compareValues(one, other, operator) < 0;
    case '<=':
      return compareValues(one, other, operator) <= 0;
    case '>':
      return compareValues(one, other, operator) > 0;
    case '>=':
      return compareValues(one, other, operator) >= 0;
  }
}

export function contains(container: unknown, value: unknown): boolean {
  if (typeof container === 'string') {
    if (typeof value === 'string') return container.includes(value);
    throw typeError(`'in <string>' requires string as left operand, not ${typeName(value)}`);
  }
  if (isMapping(container)) return mappingHas(container, value);
  if (container instanceof View && container.kind === 'keys') return mappingHas(container.dict, value);
  if (!isIterable(container)) throw typeError(`argument of type '${typeName(container)}' is not iterable`);
  for (const item of iterate(container)) if (isEqual(item, value)) return true;
  return false;
}

export function calculate(operator: ArithmeticOperator, left: unknown, right: unknown): unknown {
  if (typeof left === 'number' && typeof right === 'number' && Number.isInteger(left) && Number.isInteger(right)) {
    // The usual case.
    const quick =
      operator === '+' ? left + right : operator === '-' ? left - right : operator === '*' ? left * right : NaN;
    if (Number.isSafeInteger(quick) && Math.abs(quick) < 2 ** 50) return quick === 0 ? 0 : quick;
  }
  if (left instanceof Undefined) left.fail();
  if (operator === '%' && typeof left === 'string') return formatPercent(left, right);
  if (right instanceof Undefined) right.fail();
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return calculateNumbers(operator, a, b);
  const result = asDateError(() => calculateOthers(operator, left, right));
  if (result !== undefined) return result;
  if (operator === '+' && typeof left === 'string') {
    throw typeError(`can only concatenate str (not "${typeName(right)}") to str`);
  }
  throw typeError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

/** Date operations raise their own errors. */
export function asDateError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DateError) throw valueError(error.message);
    throw error;
  }
}

function calculateOthers(operator: ArithmeticOperator, left: unknown, right: unknown): unknown {
  if (operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') {
      spendMade(left.length + right.length);
      return left + right;
    }
    if (Array.isArray(left) && Array.isArray(right)) {
      spendMade(left.length + right.length);
      return [...left, ...right];
    }
    if (left instanceof Tuple && right instanceof Tuple) {
      spendMade(left.items.length + right.items.length);
      return new Tuple([...left.items, ...right.items]);
    }
    if (isLength(right)) {
      if (left instanceof DateTime || left instanceof CalendarDate) return left.plus(right);
      if (left instanceof Timedelta) return right instanceof Duration ? right.plus(left) : left.plus(right);
      if (left instanceof Duration) return left.plus(right);
    }
    if (isLength(left) && (right instanceof DateTime || right instanceof CalendarDate)) return right.plus(left);
  }
  if (operator === '-') {
    if (isLength(right)) {
      if (left instanceof DateTime || left instanceof CalendarDate) return left.minus(right);
      if (left instanceof Duration) return left.plus(right.negated());
      if (left instanceof Timedelta)
        return right instanceof Duration ? right.negated().plus(left) : left.plus(right.negated());
    }
    if (left instanceof DateTime && right instanceof DateTime) {
      if ((left.zone === undefined) !== (right.zone === undefined)) {
        throw typeError("can't subtract offset-naive and offset-aware datetimes");
      }
      return left.since(right);
    }
    if (left instanceof CalendarDate && right instanceof CalendarDate) {
      return Timedelta.of({ days: left.days - right.days });
    }
  }
  if (operator === '*') return repeat(left, right) ?? repeat(right, left);
  if (left instanceof Timedelta) return divideLength(operator, left, right);
  return undefined;
}

function isLength(value: unknown): value is Timedelta | Duration {
  return value instanceof Timedelta || value instanceof Duration;
}

function repeat(value: unknown, times: unknown): unknown {
  const number = numberOf(times);
  if (number === undefined) return undefined;
  if (value instanceof Timedelta) {
    if (number instanceof Float) return scaled(value.totalMicroseconds, number.value);
    return Timedelta.fromMicroseconds(value.totalMicroseconds * BigInt(number));
  }
  if (number instanceof Float) return undefined;
  if (value instanceof Duration) {
    const count = Number(number);
    return new Duration(
      value.years * count,
      value.months * count,
      Timedelta.fromMicroseconds(value.time.totalMicroseconds * BigInt(number)),
    );
  }
  const count = Math.max(0, Math.min(Number(number), 1e9));
  if (typeof value === 'string') {
    spendMade(value.length * count);
    return value.repeat(count);
  }
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  if (!items) return undefined;
  spendMade(items.length * count);
  const repeated = Array.from({ length: count }, () => items).flat(1);
  return Array.isArray(value) ? repeated : new Tuple(repeated);
}

function scaled(micros: bigint, factor: number): Timedelta {
  const product = Number(micros) * factor;
  if (!Number.isFinite(product)) throw valueError('A length of time is out of range');
  return Timedelta.fromMicroseconds(BigInt(roundHalfEven(product)));
}

function divideLength(operator: ArithmeticOperator, left: Timedelta, right: unknown): unknown {
  const micros = left.totalMicroseconds;
  if (right instanceof Timedelta) {
    const others = right.totalMicroseconds;
    if (operator !== '/' && operator !== '//' && operator !== '%') return undefined;
    if (others === 0n) throw valueError('division by zero');
    if (operator === '/') return new Float(Number(micros) / Number(others));
    const quotient = floorDivide(micros, others);
    return operator === '//' ? shrink(quotient) : Timedelta.fromMicroseconds(micros - quotient * others);
  }
  const number = numberOf(right);
  if (number === undefined || (operator !== '/' && operator !== '//')) return undefined;
  if (number instanceof Float) {
    if (operator === '//') return undefined;
    if (number.value === 0) throw valueError('division by zero');
    return scaled(micros, 1 / number.value);
  }
  const divisor = BigInt(number);
  if (divisor === 0n) throw valueError('division by zero');
  if (operator === '//') return Timedelta.fromMicroseconds(floorDivide(micros, divisor));
  return Timedelta.fromMicroseconds(divideHalfEven(micros, divisor));
}

function floorDivide(left: bigint, right: bigint): bigint {
  const quotient = left / right;
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
}

function divideHalfEven(left: bigint, right: bigint): bigint {
  const floor = floorDivide(left, right);
  const twice = (left - floor * right) * 2n;
  const [rest, whole] = right < 0n ? [-twice, -right] : [twice, right];
  return rest > whole || (rest === whole && floor % 2n !== 0n) ? floor + 1n : floor;
}

/** Integers may have as many digits as Python prints. */
const largest = 10n ** 4300n;

function integer(value: bigint): Integer {
  if (value > largest || value < -largest) throw new TemplateError('limit', 'A number of the template is too large');
  return shrink(value);
}

function calculateNumbers(operator: ArithmeticOperator, left: Integer | Float, right: Integer | Float): unknown {
  if (left instanceof Float || right instanceof Float || operator === '/')
    return calculateFloats(operator, left, right);
  const [a, b] = [BigInt(left), BigInt(right)];
  switch (operator) {
    case '+':
      return integer(a + b);
    case '-':
      return integer(a - b);
    case '*':
      return integer(a * b);
    case '//':
    case '%': {
      if (b === 0n)
        throw valueError(operator === '%' ? 'integer modulo by zero' : 'integer division or modulo by zero');
      const quotient = floorDivide(a, b);
      return operator === '//' ? integer(quotient) : integer(a - quotient * b);
    }
    case '**':
      if (b < 0n) return calculateFloats(operator, left, right);
      if (a === 0n || a === 1n) return b === 0n ? 1 : Number(a);
      if (a === -1n) return b % 2n === 0n ? 1 : -1;
      if (BigInt(a.toString(2).length) * b > 20_000n) {
        throw new TemplateError('limit', 'A number of the template is too large');
      }
      return integer(a ** b);
  }
}

function asDouble(value: Integer | Float): number {
  const double = value instanceof Float ? value.value : Number(value);
  if (!Number.isFinite(double) && typeof value === 'bigint') throw valueError('int too large to convert to float');
  return double;
}

function calculateFloats(operator: ArithmeticOperator, left: Integer | Float, right: Integer | Float): Float {
  const [a, b] = [asDouble(left), asDouble(right)];
  switch (operator) {
    case '+':
      return new Float(a + b);
    case '-':
      return new Float(a - b);
    case '*':
      return new Float(a * b);
    case '/':
      if (b === 0) throw valueError('division by zero');
      if (typeof left === 'bigint' || typeof right === 'bigint') return new Float(divideExactly(left, right, a / b));
      return new Float(a / b);
    case '//':
      if (b === 0) throw valueError('float floor division by zero');
      return new Float(floorOf(a, b));
    case '%': {
      if (b === 0) throw valueError('float modulo');
      return new Float(remainder(a, b));
    }
    case '**': {
      if (a === 0 && b < 0) throw valueError('0.0 cannot be raised to a negative power');
      // Python knows the exceptions of C, which JavaScript does not have.
      if (a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b))) return new Float(1);
      if (a < 0 && !Number.isInteger(b)) throw valueError('complex numbers are not supported');
      const power = a ** b;
      if (!Number.isFinite(power) && Number.isFinite(a) && Number.isFinite(b))
        throw valueError('Numerical result out of range');
      return new Float(power);
    }
  }
}

/** Large integers that divide evenly: their quotient is exact if a double can represent it. */
function divideExactly(left: Integer | Float, right: Integer | Float, double: number): number {
  if (left instanceof Float || right instanceof Float) return double;
  const [a, b] = [BigInt(left), BigInt(right)];
  return a % b === 0n ? Number(a / b) : double;
}

function remainder(a: number, b: number): number {
  let rest = a % b;
  if (rest !== 0) {
    if (b < 0 !== rest < 0) rest += b;
  } else {
    rest = b < 0 ? -0 : 0;
  }
  return rest;
}

function floorOf(a: number, b: number): number {
  let rest = a % b;
  let quotient = (a - rest) / b;
  if (rest !== 0 && b < 0 !== rest < 0) {
    rest += b;
    quotient -= 1;
  }
  if (quotient === 0) return Object.is(a / b, -0) || a / b < 0 ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

export function negate(value: unknown): unknown {
  if (value instanceof Undefined) value.fail();
  const number = numberOf(value);
  if (number instanceof Float) return new Float(-number.value);
  if (number !== undefined) return typeof number === 'bigint' ? shrink(-number) : 0 - number;
  if (isLength(value)) return asDateError(() => value.negated());
  throw typeError(`bad operand type for unary -: '${typeName(value)}'`);
}

export function affirm(value: unknown): unknown {
  if (value instanceof Undefined) value.fail();
  const number = numberOf(value);
  if (number !== undefined) return number;
  if (value instanceof Timedelta) return value;
  throw typeError(`bad operand type for unary +: '${typeName(value)}'`);
}

export function isCallable(value: unknown): boolean {
  return value instanceof Callable || (value instanceof Attributes && value.call !== undefined);
}

/** An index of a list or a text. Throws a type error for anything else. */
export function indexOf(value: unknown): number {
  const number = numberOf(value);
  if (number === undefined || number instanceof Float) {
    throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  }
  return Number(number);
}

/** The places that a slice takes of a sequence. */
export function sliceIndexes(length: number, start: unknown, stop: unknown, step: unknown): number[] {
  const part = (value: unknown) => (value === undefined || value === null ? undefined : indexOf(value));
  const by = part(step) ?? 1;
  if (by === 0) throw valueError('slice step cannot be zero');
  const clamp = (value: number | undefined, fallback: number) => {
    if (value === undefined) return fallback;
    const at = value < 0 ? value + length : value;
    return by > 0 ? Math.max(0, Math.min(at, length)) : Math.max(-1, Math.min(at, length - 1));
  };
  const from = clamp(part(start), by > 0 ? 0 : length - 1);
  const to = clamp(part(stop), by > 0 ? length : -1);
  const indexes: number[] = [];
  for (let at = from; by > 0 ? at < to : at > to; at += by) indexes.push(at);
  spendMade(indexes.length);
  return indexes;
}
