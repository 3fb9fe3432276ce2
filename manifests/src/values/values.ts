/*
 * Template values. Plain data is what the kit's JSON reader returns: text, numbers, true, false, null, lists, objects
 * and exact numbers. A number without a fraction is Python's `int`. This file defines what Python has and JSON lacks:
 * floats without a fraction (`2.0`), large integers (bigint), tuples, dictionaries with any keys, and so on.
 */
import { ExactNumber } from '@inlay/protocol/json';
import { CalendarDate, DateTime } from '../dates/date-time.ts';
import { Duration, Timedelta } from '../dates/durations.ts';
import { TemplateError, type TemplateFault } from './template-error.ts';

/** Python's `float`. A JavaScript number with a fraction is one too. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export class Tuple {
  readonly items: readonly unknown[];
  /** Names of the items: `groupby` returns groups with a `grouper` and a `list`. */
  readonly names: readonly string[] | undefined;

  constructor(items: readonly unknown[], names?: readonly string[]) {
    this.items = items;
    this.names = names;
  }
}

/** A dictionary that a template made. Dictionaries of data are plain objects. */
export class Dict {
  /** By a text that equal keys share. */
  readonly map = new Map<string, [key: unknown, value: unknown]>();

  static of(entries: Iterable<readonly [unknown, unknown]>): Dict {
    const dict = new Dict();
    for (const [key, value] of entries) dict.set(key, value);
    return dict;
  }

  set(key: unknown, value: unknown): void {
    const hash = hashOf(key);
    const entry = this.map.get(hash);
    if (entry) entry[1] = value;
    else this.map.set(hash, [key, value]);
  }
}

/** A set is only what a literal such as `{1, 2}` reads as. */
export class PythonSet {
  readonly items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    this.items = items;
  }
}

/** `dict.keys()`, `dict.values()` and `dict.items()`. */
export class View {
  readonly kind: 'keys' | 'values' | 'items';
  readonly dict: Mapping;

  constructor(kind: View['kind'], dict: Mapping) {
    this.kind = kind;
    this.dict = dict;
  }
}

/** A generator: can be gone through once, has no length, and is always true. */
export class Generator {
  readonly iterator: Iterator<unknown>;

  constructor(items: Iterable<unknown>) {
    this.iterator = items[Symbol.iterator]();
  }

  [Symbol.iterator](): Iterator<unknown> {
    return { next: () => this.iterator.next() };
  }
}

/** Jinja's undefined value: prints as an empty string, is false, and any other use is an error. */
export class Undefined {
  readonly message: string;
  readonly fault: TemplateFault;

  constructor(message: string, fault: TemplateFault = 'missing') {
    this.message = message;
    this.fault = fault;
  }

  fail(): never {
    throw new TemplateError(this.fault, this.message);
  }
}

/** A function, a method or a macro. */
export class Callable {
  readonly name: string;
  readonly call: (args: readonly unknown[], kwargs: ReadonlyMap<string, unknown>) => unknown;

  constructor(name: string, call: Callable['call']) {
    this.name = name;
    this.call = call;
  }
}

/** `namespace()`: attributes that a template may set. */
export class Namespace {
  readonly attributes: Map<string, unknown>;

  constructor(attributes: Map<string, unknown>) {
    this.attributes = attributes;
  }
}

/** An object with fixed attributes, such as `loop`. */
export class Attributes {
  readonly name: string;
  readonly get: (name: string) => unknown;
  readonly call: Callable | undefined;

  constructor(name: string, get: (name: string) => unknown, call?: Callable) {
    this.name = name;
    this.get = get;
    this.call = call;
  }
}

export type Mapping = Dict | Readonly<Record<string, unknown>>;

export function typeError(message: string): TemplateError {
  return new TemplateError('type', message);
}

export function valueError(message: string): TemplateError {
  return new TemplateError('value', message);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function isMapping(value: unknown): value is Mapping {
  return value instanceof Dict || isPlainObject(value);
}

export function mappingHas(mapping: Mapping, key: unknown): boolean {
  if (mapping instanceof Dict) return mapping.map.has(hashOf(key));
  if (typeof key !== 'string') {
    // A key that cannot be hashed is an error even where it cannot be found.
    hashOf(key);
    return false;
  }
  return Object.hasOwn(mapping, key);
}

/** JavaScript's undefined if there is no such key. */
export function mappingGet(mapping: Mapping, key: unknown): unknown {
  if (mapping instanceof Dict) return mapping.map.get(hashOf(key))?.[1];
  return mappingHas(mapping, key) ? mapping[key as string] : undefined;
}

export function mappingEntries(mapping: Mapping): (readonly [unknown, unknown])[] {
  return mapping instanceof Dict ? [...mapping.map.values()] : Object.entries(mapping);
}

export function mappingSize(mapping: Mapping): number {
  return mapping instanceof Dict ? mapping.map.size : Object.keys(mapping).length;
}

/** Sets a key without ever reaching a prototype. */
export function mappingSet(mapping: Mapping, key: unknown, value: unknown): void {
  if (mapping instanceof Dict) {
    mapping.set(key, value);
    return;
  }
  if (typeof key !== 'string') throw valueError('Data takes only texts as keys');
  if (Object.isFrozen(mapping)) throw valueError('This value cannot be changed');
  Object.defineProperty(mapping, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A text that two values have in common exactly if they are equal keys. Throws for values that Python cannot hash. */
export function hashOf(value: unknown): string {
  if (typeof value === 'string') return `s${value}`;
  if (value === null) return 'None';
  const number = numberOf(value);
  if (number !== undefined) return `n${number instanceof Float ? number.value : number}`;
  if (value instanceof Tuple) return `t${JSON.stringify(value.items.map(hashOf))}`;
  if (value instanceof DateTime) return `d${value.epochSeconds}.${value.microsecond}${value.zone ? 'z' : ''}`;
  if (value instanceof CalendarDate) return `c${value.days}`;
  if (value instanceof Timedelta || value instanceof Duration) return `p${value}`;
  if (value instanceof Undefined) return 'undefined';
  throw typeError(`unhashable type: '${typeName(value)}'`);
}

/** An integer that a double represents is a number, any other a bigint. */
export type Integer = number | bigint;

/** JavaScript's undefined for a value that is not a number. True is 1. */
export function numberOf(value: unknown): Integer | Float | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return Object.is(value, -0) ? 0 : value;
    // Integers from 1e21 on were written with an exponent, and so as floats.
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? BigInt(value) : new Float(value);
  }
  if (typeof value === 'bigint' || value instanceof Float) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof ExactNumber) {
    return /[.eE]/.test(value.text) ? new Float(Number(value.text)) : shrink(BigInt(value.text));
  }
  return undefined;
}

export function shrink(value: bigint): Integer {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

export function isFloat(value: unknown): boolean {
  return numberOf(value) instanceof Float;
}

export function isInteger(value: unknown): boolean {
  const number = numberOf(value);
  return number !== undefined && !(number instanceof Float);
}

/** The name that Python has for the type. */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  const number = numberOf(value);
  if (number !== undefined) return number instanceof Float ? 'float' : 'int';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Tuple) return 'tuple';
  if (isMapping(value)) return 'dict';
  if (value instanceof View) return `dict_${value.kind}`;
  if (value instanceof Generator) return 'generator';
  if (value instanceof DateTime) return 'datetime.datetime';
  if (value instanceof CalendarDate) return 'datetime.date';
  if (value instanceof Timedelta) return 'datetime.timedelta';
  if (value instanceof Duration) return 'Duration';
  if (value instanceof Callable) return 'builtin_function_or_method';
  if (value instanceof Namespace) return 'Namespace';
  if (value instanceof Attributes) return value.name;
  if (value instanceof PythonSet) return 'set';
  if (value instanceof Undefined) return 'Undefined';
  return 'object';
}
