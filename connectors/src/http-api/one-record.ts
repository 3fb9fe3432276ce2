/*
 * Most APIs wrap their list: in `data`, in `results`, with a count next to it. Without a records path, the wrapper
 * would be read as a single record, and everything would seem to work with one row. The connection check warns about
 * this.
 */

import { isJsonObject, valueAt } from '@inlay/protocol/json';
import type { CheckWarning } from '@inlay/protocol/protocol';
import type { StreamConfiguration } from './configuration.ts';

const deepest = 4;

/** Empty where the answer has a list in the place that was named. */
export function oneRecordWarning(stream: StreamConfiguration, answer: unknown): CheckWarning[] {
  const { name, record_path = '' } = stream;
  const found = valueAt(answer, record_path);
  if (!isJsonObject(found)) return [];
  const [likely] = listsIn(found, record_path === '' ? [] : [record_path], 1).sort((a, b) => b.length - a.length);
  const what = `Stream ${name}: the API returns one object instead of a list, so only one record is read.`;
  const advice = likely
    ? `The list is probably at ${likely.path}. Enter it as the records path.`
    : 'If you expect more records, check the records path.';
  return [
    {
      code: 'one_record',
      message: `${what} ${advice}`,
      fields: ['streams'],
      stream: name,
      ...(likely && { record_path: likely.path }),
    },
  ];
}

/** Lists of objects, and empty lists, of which nobody knows. */
function listsIn(object: object, path: readonly string[], depth: number): { path: string; length: number }[] {
  return Object.entries(object).flatMap(([key, value]) => {
    // A path is written with dots.
    if (key.includes('.')) return [];
    const here = [...path, key];
    if (Array.isArray(value)) return value.every(isJsonObject) ? [{ path: here.join('.'), length: value.length }] : [];
    return isJsonObject(value) && depth < deepest ? listsIn(value, here, depth + 1) : [];
  });
}
