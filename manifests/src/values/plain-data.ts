/*
 * Detects plain data among template values. The reference prints every value and parses the text; for plain data the
 * result is a copy, created here without the text.
 */
import { ExactNumber } from '@inlay/protocol/json';
import { maxDepth, spendMade } from './budget.ts';
import { floatRepr } from './printing.ts';
import { Dict, Float, isPlainObject, shrink, Tuple } from './values.ts';

/** Undefined for a value that would not be parsed as it was printed: strings (`'12'` becomes 12), dates, and so on. */
export function plainCopy(value: unknown): { value: unknown } | undefined {
  if (typeof value === 'string') return undefined;
  const copy = copied(value, 0);
  return copy === notPlain ? undefined : { value: copy };
}

const notPlain = Symbol('not plain');

function copied(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return notPlain;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : notPlain;
  if (value instanceof ExactNumber) return value;
  if (typeof value === 'bigint')
    return typeof shrink(value) === 'number' ? Number(value) : new ExactNumber(String(value));
  if (value instanceof Float) {
    if (!Number.isFinite(value.value)) return notPlain;
    return Number.isInteger(value.value) ? new ExactNumber(floatRepr(value.value)) : value.value;
  }
  if (Array.isArray(value)) return copiedList(value, depth);
  if (value instanceof Tuple) return copiedList(value.items, depth);
  if (value instanceof Dict) {
    const entries = [...value.map.values()];
    return entries.every(([key]) => typeof key === 'string')
      ? copiedEntries(entries as [string, unknown][], depth)
      : notPlain;
  }
  return isPlainObject(value) ? copiedEntries(Object.entries(value), depth) : notPlain;
}

function copiedList(items: readonly unknown[], depth: number): unknown {
  spendMade(items.length);
  const copies: unknown[] = [];
  for (const item of items) {
    const copy = copied(item, depth + 1);
    if (copy === notPlain) return notPlain;
    copies.push(copy);
  }
  return copies;
}

function copiedEntries(entries: readonly (readonly [string, unknown])[], depth: number): unknown {
  spendMade(entries.length);
  const copies: [string, unknown][] = [];
  for (const [key, value] of entries) {
    const copy = copied(value, depth + 1);
    if (copy === notPlain) return notPlain;
    copies.push([key, copy]);
  }
  return Object.fromEntries(copies);
}
