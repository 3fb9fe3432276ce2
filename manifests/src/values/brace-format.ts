/* Python's `'{} of {total:>5}'.format(…)`. */

import { CalendarDate, DateTime } from '../dates/date-time.ts';
import { strftime } from '../dates/strftime.ts';
import type { Kwargs } from './call-arguments.ts';
import { formatValue } from './number-format.ts';
import { pythonRepr, pythonText } from './printing.ts';
import { valueError } from './values.ts';

/** How a field such as `{0.name[key]}` is looked up. */
export interface FieldAccess {
  attributeOf(value: unknown, name: string): unknown;
  itemOf(value: unknown, key: unknown): unknown;
}

export function formatBraces(format: string, args: readonly unknown[], kwargs: Kwargs, access: FieldAccess): string {
  let automatic = 0;
  const fieldValue = (field: string): unknown => {
    const [, first = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(field) ?? [];
    let value: unknown;
    if (first === '' || /^\d+$/.test(first)) {
      const index = first === '' ? automatic++ : Number(first);
      if (index >= args.length) throw valueError(`Replacement index ${index} out of range for positional args tuple`);
      value = args[index];
    } else {
      if (!kwargs.has(first)) throw valueError(`KeyError: '${first}'`);
      value = kwargs.get(first);
    }
    for (const [, attribute, key] of rest.matchAll(/\.([^.[]+)|\[([^\]]*)\]/g)) {
      if (attribute !== undefined) value = access.attributeOf(value, attribute);
      else value = access.itemOf(value, /^\d+$/.test(key ?? '') ? Number(key) : key);
    }
    return value;
  };
  const write = (text: string, depth: number): string => {
    if (depth > 2) throw valueError('Max string recursion exceeded');
    let result = '';
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? '';
      if ((character === '{' || character === '}') && text[at + 1] === character) {
        result += character;
        at++;
      } else if (character === '}') {
        throw valueError("Single '}' encountered in format string");
      } else if (character === '{') {
        const end = endOfField(text, at);
        result += replacement(text.slice(at + 1, end), depth);
        at = end;
      } else {
        result += character;
      }
    }
    return result;
  };
  const replacement = (inside: string, depth: number): string => {
    const [, field = '', conversion, specification = ''] = /^([^!:]*)(?:!([a-z]))?(?::(.*))?$/s.exec(inside) ?? [];
    const found = fieldValue(field);
    const value = conversion === undefined ? found : conversion === 's' ? pythonText(found) : pythonRepr(found);
    const form = write(specification, depth + 1);
    if ((value instanceof DateTime || value instanceof CalendarDate) && form !== '') return strftime(value, form);
    return formatValue(value, form);
  };
  return write(format, 0);
}

function endOfField(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  throw valueError("expected '}' before end of string");
}
