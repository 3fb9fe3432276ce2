/*
 * Casts values to the types declared for their fields if nothing is lost: `"12"` becomes 12 in a numeric field, and `"a
 * dozen"` is unchanged. The destination reports values that do not fit.
 */
import type { Transformation } from '@inlay/manifests/components/transformations';
import { ExactNumber, isNumberText, survivesDouble } from '@inlay/protocol/json';
import type { DeclaredField, StreamConfiguration } from './configuration.ts';

export function castDeclared({ fields = [] }: StreamConfiguration): Transformation {
  return (record) => {
    for (const { name, type } of fields) {
      if (!Object.hasOwn(record, name)) continue;
      const value = record[name];
      const cast = castTo(type, value);
      if (cast !== value) Object.defineProperty(record, name, { ...entry, value: cast });
    }
  };
}

/** An assignment to `__proto__` would not make a property. */
const entry = { writable: true, enumerable: true, configurable: true };

export function castTo(type: DeclaredField['type'], value: unknown): unknown {
  switch (type) {
    case 'text':
      return typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber
        ? String(value)
        : value;
    case 'integer':
    case 'number':
      return typeof value === 'string' ? castNumber(type, value) : value;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    default:
      return value;
  }
}

function castNumber(type: 'integer' | 'number', text: string): unknown {
  const trimmed = text.trim();
  if (!isNumberText(trimmed) || (type === 'integer' && /[.eE]/.test(trimmed))) return text;
  return survivesDouble(trimmed) ? Number(trimmed) : new ExactNumber(trimmed);
}
