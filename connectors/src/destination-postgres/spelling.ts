/*
 * How a widened column spells the values of records. A date column does not store how a date was written; when it
 * becomes text, its values get one spelling (`conversion` in column-types.ts). Later values that the column would have
 * accepted before get the same spelling: otherwise, a key that is sent again would become a second row. Values that the
 * column would not have accepted are unchanged, and so is every value of a column that has always been wide.
 */
import { ExactNumber } from '@inlay/protocol/json';
import type { ColumnType } from './column-types.ts';
import { canonicalDate, canonicalTime, canonicalTimestamp, fitsDate, fitsTime, fitsTimestamp } from './date-values.ts';
import {
  canonicalDouble,
  canonicalNumeric,
  fitsBigint,
  fitsDouble,
  fitsNumeric,
  isSpecialNumber,
  withoutZerosAtEnd,
} from './numbers.ts';

/** What decides about the spelling in a column. */
export interface Spelled {
  /** The types that the column had before, in their order. */
  was?: readonly ColumnType[];
  /** Whether it is part of the key. */
  isKey?: boolean;
}

export function respelled(value: unknown, { was = [], isKey = false }: Spelled): unknown {
  return was.reduce((spelled, type) => inType(spelled, type, isKey), value);
}

function inType(value: unknown, type: ColumnType, isKey: boolean): unknown {
  if (typeof value === 'object' && !(value instanceof ExactNumber)) return value;
  const text = String(value);
  const isString = typeof value === 'string';
  const isNumber = isString || typeof value === 'number' || value instanceof ExactNumber;
  switch (type) {
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : value;
    case 'bigint':
      return isNumber && fitsBigint(text) ? new ExactNumber(canonicalNumeric(text)) : value;
    case 'double precision':
      return isNumber && fitsDouble(text) ? doubleOf(text, isKey) : value;
    case 'numeric':
      return isNumber && fitsNumeric(text) ? numericOf(text, isKey) : value;
    case 'date':
      return isString && fitsDate(text) ? canonicalDate(text) : value;
    case 'timestamp without time zone':
      return isString && fitsTimestamp(text, 'without zone') ? canonicalTimestamp(text, 'without zone') : value;
    case 'timestamp with time zone':
      return isString && fitsTimestamp(text, 'with zone') ? canonicalTimestamp(text, 'with zone') : value;
    case 'time without time zone':
      return isString && fitsTime(text, 'without zone') ? canonicalTime(text) : value;
    case 'time with time zone':
      return isString && fitsTime(text, 'with zone') ? canonicalTime(text) : value;
    case 'text':
      return text;
    default:
      return value;
  }
}

function doubleOf(text: string, isKey: boolean): unknown {
  const spelled = canonicalDouble(text);
  if (isSpecialNumber(spelled)) return spelled;
  // A column of doubles takes both zeros for one.
  return new ExactNumber(isKey && spelled === '-0' ? '0' : spelled);
}

function numericOf(text: string, isKey: boolean): unknown {
  const spelled = canonicalNumeric(text);
  if (isSpecialNumber(spelled)) return spelled;
  return new ExactNumber(isKey ? withoutZerosAtEnd(spelled) : spelled);
}
