/* The tests that `is` knows. */

import { pythonText } from '../values/printing.ts';
import { isLower, isUpper } from '../values/python-text.ts';
import { isFloat, isInteger, isMapping, numberOf, Tuple, Undefined } from '../values/values.ts';
import { calculate, compare, isCallable, isEqual, isIterable, lengthOf } from './operators.ts';
import type { ComparisonOperator } from './syntax-tree.ts';

interface ValueTest {
  /** How many arguments the test takes. */
  count: number;
  check(value: unknown, argument: unknown): boolean;
}

const isRest = (value: unknown, divisor: unknown, rest: number) => isEqual(calculate('%', value, divisor), rest);
const comparison = (operator: ComparisonOperator): ValueTest => ({
  count: 1,
  check: (value, argument) => compare(operator, value, argument),
});
const plain = (check: (value: unknown) => boolean): ValueTest => ({ count: 0, check });

export const valueTests: ReadonlyMap<string, ValueTest> = new Map(
  Object.entries({
    odd: plain((value) => isRest(value, 2, 1)),
    even: plain((value) => isRest(value, 2, 0)),
    divisibleby: { count: 1, check: (value, divisor) => isRest(value, divisor, 0) },
    defined: plain((value) => !(value instanceof Undefined)),
    undefined: plain((value) => value instanceof Undefined),
    none: plain((value) => value === null),
    boolean: plain((value) => typeof value === 'boolean'),
    false: plain((value) => value === false),
    true: plain((value) => value === true),
    integer: plain((value) => typeof value !== 'boolean' && isInteger(value)),
    float: plain(isFloat),
    lower: plain((value) => isLower(pythonText(value))),
    upper: plain((value) => isUpper(pythonText(value))),
    string: plain((value) => typeof value === 'string'),
    mapping: plain(isMapping),
    number: plain((value) => numberOf(value) !== undefined),
    sequence: plain(
      (value) => typeof value === 'string' || Array.isArray(value) || value instanceof Tuple || isMapping(value),
    ),
    iterable: plain(isIterable),
    callable: plain(isCallable),
    sameas: { count: 1, check: (value, other) => isSame(value, other) },
    escaped: plain(() => false),
    in: { count: 1, check: (value, container) => compare('in', value, container) },
    '==': comparison('=='),
    eq: comparison('=='),
    equalto: comparison('=='),
    '!=': comparison('!='),
    ne: comparison('!='),
    '>': comparison('>'),
    gt: comparison('>'),
    greaterthan: comparison('>'),
    '>=': comparison('>='),
    ge: comparison('>='),
    '<': comparison('<'),
    lt: comparison('<'),
    lessthan: comparison('<'),
    '<=': comparison('<='),
    le: comparison('<='),
  } satisfies Record<string, ValueTest>),
);

/** Python's `is`: the same object. Small numbers and texts are the same object where they are equal. */
function isSame(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  return (
    typeof value === typeof other &&
    typeof value === 'object' &&
    isFloat(value) &&
    isEqual(value, other) &&
    lengthOf(value) === undefined
  );
}
