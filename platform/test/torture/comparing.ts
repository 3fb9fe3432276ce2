/*
 * Whether a value has arrived: it is the same value, whatever type its column has at the destination. A number may stand
 * in a column of text, a text that is a number in a column of numbers, and a time may be written in another zone.
 */
import { ExactNumber, parseJson } from '@inlay/protocol/json';
import { canonicalSignedNumber } from '../../../protocol/test/number-texts.ts';

/** One spelling for one value: keys sorted, numbers as digits and a power of ten; a zero keeps its sign. */
export function canonical(value: unknown): string {
  if (typeof value === 'number' || value instanceof ExactNumber) return canonicalSignedNumber(String(value));
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`;
  }
  return JSON.stringify(value);
}

/** Both as JSON text. */
export function hasArrived(sent: string, found: string | undefined): boolean {
  const wanted = parseJson(sent);
  if (found === undefined) return wanted === null;
  const stored = parseJson(found);
  if (canonical(wanted) === canonical(stored) || isSameDouble(wanted, stored)) return true;
  if (typeof stored === 'string') return isWrittenAs(wanted, stored);
  // A text that means a value of another type, in a column of that type.
  return typeof wanted === 'string' && isWrittenAs(stored, wanted);
}

/** PostgreSQL writes a few doubles with other digits than JavaScript. Either number is read as the same double. */
function isSameDouble(wanted: unknown, stored: unknown): boolean {
  if (typeof wanted !== 'number' || !(typeof stored === 'number' || stored instanceof ExactNumber)) return false;
  return Object.is(wanted, Number(String(stored)));
}

/** Whether the text says the value: as JSON, or as a time in another zone or with another number of digits. */
function isWrittenAs(value: unknown, text: string): boolean {
  if (typeof value === 'string') return isSameTime(value, text);
  try {
    return canonical(parseJson(text)) === canonical(value);
  } catch {
    return false;
  }
}

const timeForm = /^\d{4,}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?[+-]\d\d(:?\d\d)?|Z)?( BC)?$/;

function isSameTime(one: string, other: string): boolean {
  if (!timeForm.test(one) || !timeForm.test(other)) return false;
  const fraction = (text: string) => (/\.(\d+)/.exec(text)?.[1] ?? '').replace(/0+$/, '');
  const zoned = (text: string) => text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return fraction(one) === fraction(other) && Date.parse(zoned(one)) === Date.parse(zoned(other));
}
