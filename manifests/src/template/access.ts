/* `a.b` and `a['b']`, as Jinja's sandbox looks them up: own keys of data and the methods of Python's types, no others. */
import { formatBraces } from '../values/brace-format.ts';
import {
  Attributes,
  Callable,
  Float,
  isMapping,
  mappingGet,
  mappingHas,
  Namespace,
  numberOf,
  Tuple,
  typeError,
  typeName,
  Undefined,
} from '../values/values.ts';
import { methodOf } from './methods.ts';
import { characters, indexOf, sliceIndexes, textLength } from './operators.ts';

/** `a.b`: a method or an attribute first, then a key. */
export function attributeOf(value: unknown, name: string): unknown {
  if (value instanceof Undefined) value.fail();
  const found = ownAttribute(value, name);
  if (found !== undefined) return found;
  if (isMapping(value) && mappingHas(value, name)) return mappingGet(value, name);
  return missing(value, name);
}

/** `a['b']`: a key first, then a method or an attribute. */
export function itemOf(value: unknown, key: unknown): unknown {
  if (value instanceof Undefined) value.fail();
  if (isMapping(value)) {
    // A key that cannot be hashed is as good as missing.
    if (typeof key === 'string' ? mappingHas(value, key) : isHashable(key) && mappingHas(value, key)) {
      return mappingGet(value, key);
    }
  } else {
    const found = itemOfSequence(value, key);
    if (found !== undefined) return found;
  }
  if (typeof key === 'string') {
    const found = ownAttribute(value, key);
    if (found !== undefined) return found;
  }
  return missing(value, typeof key === 'string' ? key : String(key));
}

function isHashable(key: unknown): boolean {
  return key === null || numberOf(key) !== undefined || (key instanceof Tuple && key.items.every(isHashable));
}

function itemOfSequence(value: unknown, key: unknown): unknown {
  const items = sequenceOf(value);
  const number = items === undefined ? undefined : numberOf(key);
  if (items === undefined || number === undefined || number instanceof Float) return undefined;
  const length = typeof items === 'string' ? textLength(items) : items.length;
  const at = indexOf(number) < 0 ? indexOf(number) + length : indexOf(number);
  if (at < 0 || at >= length) return undefined;
  return typeof items === 'string' ? characters(items)[at] : items[at];
}

function sequenceOf(value: unknown): string | readonly unknown[] | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value;
  return value instanceof Tuple ? value.items : undefined;
}

/** `a[1:]`. A value that has no parts is a type error here, not a missing key. */
export function sliceOf(value: unknown, start: unknown, stop: unknown, step: unknown): unknown {
  if (value instanceof Undefined) value.fail();
  const items = sequenceOf(value);
  if (items === undefined) throw typeError(`'${typeName(value)}' object is not subscriptable`);
  const from = typeof items === 'string' ? characters(items) : items;
  const taken = sliceIndexes(from.length, start, stop, step).map((at) => from[at]);
  if (typeof items === 'string') return taken.join('');
  return Array.isArray(value) ? taken : new Tuple(taken);
}

function ownAttribute(value: unknown, name: string): unknown {
  // Names with an underscore are Python's own affairs.
  if (name.startsWith('_')) return undefined;
  if (value instanceof Namespace) return value.attributes.get(name);
  if (value instanceof Attributes) return value.get(name);
  if (value instanceof Tuple && value.names) {
    const at = value.names.indexOf(name);
    if (at !== -1) return value.items[at];
  }
  if (typeof value === 'string' && name === 'format') {
    return new Callable(name, (args, kwargs) => formatBraces(value, args, kwargs, { attributeOf, itemOf }));
  }
  return methodOf(value, name);
}

function missing(value: unknown, name: string): Undefined {
  return new Undefined(
    isMapping(value) ? `There is no '${name}'` : `A value of the type ${typeName(value)} has no '${name}'`,
  );
}
