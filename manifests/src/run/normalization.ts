/* Casts the values of a record to the types of its schema, as far as they can be cast. */
import { ExactNumber, isJsonObject } from '@inlay/protocol/json';
import { floatRepr, pythonText } from '../values/printing.ts';

type Schema = Record<string, unknown>;

/** Changes the record in place. */
export function normalizeBySchema(record: unknown, schema: Schema): void {
  visit(record, schema, schema, 0);
}

const deepest = 100;

function visit(value: unknown, schema: Schema, root: Schema, depth: number): void {
  if (depth > deepest) return;
  const { properties, items } = schema;
  if (isJsonObject(value) && isJsonObject(properties)) {
    for (const [key, inner] of Object.entries(properties)) {
      if (!isJsonObject(inner) || !Object.hasOwn(value, key)) continue;
      const resolved = resolve(inner, root);
      value[key] = cast(value[key], resolved);
      visit(value[key], resolved, root, depth + 1);
    }
  } else if (Array.isArray(value) && isJsonObject(items)) {
    const resolved = resolve(items, root);
    for (const [index, item] of value.entries()) {
      value[index] = cast(item, resolved);
      visit(value[index], resolved, root, depth + 1);
    }
  }
}

function resolve(schema: Schema, root: Schema): Schema {
  const reference = schema.$ref;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema;
  let found: unknown = root;
  for (const key of reference.slice(2).split('/')) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return schema;
    found = found[key];
  }
  return isJsonObject(found) ? found : schema;
}

const truths = ['y', 'yes', 't', 'true', 'on', '1'];
const untruths = ['n', 'no', 'f', 'false', 'off', '0'];
const simpleTypes = ['string', 'number', 'integer', 'boolean', 'null'];

function cast(value: unknown, { type, items }: Schema): unknown {
  const types = Array.isArray(type) ? type : typeof type === 'string' ? [type] : [];
  if (value === null && types.includes('null')) return null;
  const wanted = types.filter((name) => name !== 'null');
  if (Array.isArray(type) ? wanted.length !== 1 : wanted.length === 0) return value;
  switch (wanted[0]) {
    case 'string':
      return typeof value === 'string' ? value : pythonText(value);
    case 'number':
      return asFloat(castNumber(value)) ?? value;
    case 'integer': {
      const number = castInteger(value);
      return number ?? value;
    }
    case 'boolean':
      return castBoolean(value);
    case 'array': {
      const itemType = isJsonObject(items) ? items.type : [];
      const itemTypes = Array.isArray(itemType) ? itemType : [];
      const isSimple = itemTypes.every((name) => simpleTypes.includes(String(name))) && !isContainer(value);
      return isSimple && typeof itemType !== 'string' ? [value] : value;
    }
    default:
      return value;
  }
}

function isContainer(value: unknown): boolean {
  return Array.isArray(value) || isJsonObject(value);
}

function castNumber(value: unknown): unknown {
  if (typeof value === 'number' || value instanceof ExactNumber) return value;
  if (typeof value === 'boolean') return Number(value);
  if (
    typeof value !== 'string' ||
    !/^\s*[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+)?\s*$/.test(value)
  ) {
    return undefined;
  }
  const number = Number(value.replaceAll('_', ''));
  // JSON has no infinity: the text says more than null.
  return Number.isFinite(number) ? number : undefined;
}

/** The reference casts to a float, and writes a whole one with its point. An exact number keeps its digits. */
function asFloat(value: unknown): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value)) return value;
  return new ExactNumber(floatRepr(value));
}

function castInteger(value: unknown): unknown {
  if (typeof value === 'number') return Math.trunc(value);
  if (value instanceof ExactNumber) return wholePart(value);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string' || !/^\s*[+-]?\d+(_\d+)*\s*$/.test(value)) return undefined;
  const text = value.trim().replaceAll('_', '').replace(/^\+/, '');
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : new ExactNumber(String(BigInt(text)));
}

/** Whole numbers keep every digit. */
function wholePart(value: ExactNumber): unknown {
  const number = Math.trunc(Number(value.text));
  return /[.eE]/.test(value.text) && Number.isSafeInteger(number) ? number : value;
}

function castBoolean(value: unknown): unknown {
  if (typeof value === 'string') {
    const word = value.trim().toLowerCase();
    return truths.includes(word) ? true : untruths.includes(word) ? false : value;
  }
  if (isJsonObject(value) || Array.isArray(value)) return Object.keys(value).length > 0;
  return value instanceof ExactNumber ? Number(value.text) !== 0 : Boolean(value);
}
