/*
 * The filters of Jinja and of the reference runtime.
 * Long because Jinja has many filters: each is a few lines, and all are used by name from one table.
 */
import { createHash, createHmac, getHashes } from 'node:crypto';
import { spendMade } from '../values/budget.ts';
import { bindArguments, type Kwargs } from '../values/call-arguments.ts';
import { round, toFloat, toInteger, toJson } from '../values/conversions.ts';
import { fixed } from '../values/number-format.ts';
import { replacePattern, searchPattern } from '../values/patterns.ts';
import { formatPercent } from '../values/percent-format.ts';
import { pythonRepr, pythonText } from '../values/printing.ts';
import { capitalize, splitLines, strip, stripEnd } from '../values/python-text.ts';
import { TemplateError } from '../values/template-error.ts';
import {
  Dict,
  Float,
  Generator,
  hashOf,
  isMapping,
  mappingEntries,
  numberOf,
  Tuple,
  typeError,
  typeName,
  Undefined,
  valueError,
} from '../values/values.ts';
import { attributeOf, itemOf } from './access.ts';
import { bestOf, percentEncode } from './functions.ts';
import { center, joinTexts, replaceText } from './methods.ts';
import {
  calculate,
  characters,
  compareValues,
  indexOf,
  isEqual,
  isIterable,
  isTruthy,
  iterate,
  lengthOf,
  listOf,
  negate,
  textLength,
} from './operators.ts';
import { valueTests } from './value-tests.ts';

export type Filter = (value: unknown, args: readonly unknown[], kwargs: Kwargs) => unknown;

/** A filter with its parameters after the value: those after a `?` are optional. */
function define(parameters: string, call: (value: unknown, ...args: unknown[]) => unknown): Filter {
  const [must = '', may = ''] = parameters.split('?');
  const names = (part: string) => part.split(' ').filter((one) => one !== '');
  const all = [...names(must), ...names(may)];
  return (value, args, kwargs) => call(value, ...bindArguments('filter', all, names(must).length, args, kwargs));
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw typeError(`expected string, got ${typeName(value)}`);
}

/** `indent` adds a line end to its value, and then wants a text. */
function addable(value: unknown): string {
  if (value instanceof Undefined) value.fail();
  return Array.isArray(value) ? textWith(value, 'splitlines') : text(value);
}

/** String methods on other values raise Python's attribute errors, which are not type errors. */
function textWith(value: unknown, method: string): string {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') return value;
  throw valueError(`'${typeName(value)}' object has no attribute '${method}'`);
}

const given = (value: unknown) => value !== undefined && value !== null;
const flag = (value: unknown, fallback = false) => (value === undefined ? fallback : isTruthy(value));
const index = (value: unknown, fallback: number) => (value === undefined ? fallback : indexOf(value));
const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);

/** A getter for `a.b.0`. */
function getter(path: unknown, fallback?: unknown): (item: unknown) => unknown {
  const parts: unknown[] =
    typeof path === 'string'
      ? path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      : given(path)
        ? [path]
        : [];
  return (item) => {
    let found = item;
    for (const part of parts) {
      found = itemOf(found, part);
      if (given(fallback) && found instanceof Undefined) found = fallback;
    }
    return found;
  };
}

function sorted(items: unknown[], keyOf: (item: unknown) => unknown, isReversed: boolean): unknown[] {
  const sign = isReversed ? -1 : 1;
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((one, other) => sign * compareValues(one.key, other.key, '<'))
    .map(({ item }) => item);
}

function extreme(sign: 1 | -1): Filter {
  return define('? case_sensitive attribute', (value, isSensitive, attribute) => {
    const items = listOf(value);
    if (items.length === 0) return new Undefined('No aggregated item, sequence was empty.');
    const get = getter(attribute);
    return bestOf(items, sign, 'max', (item) => (flag(isSensitive) ? get(item) : lower(get(item))));
  });
}

/** `select`, `reject`, and both for an attribute. */
function selecting(isWanted: boolean, hasAttribute: boolean): Filter {
  return (value, args, kwargs) => {
    const source = value;
    return new Generator(
      (function* () {
        if (!isTruthy(source)) return;
        const [attribute] = args;
        if (hasAttribute && attribute === undefined) throw valueError('Missing parameter for attribute name');
        const get = hasAttribute ? getter(attribute) : (item: unknown) => item;
        const [name, ...rest] = hasAttribute ? args.slice(1) : args;
        for (const item of iterate(source)) {
          const found = get(item);
          const isFound = name === undefined ? isTruthy(found) : callTest(pythonText(name), found, rest, kwargs);
          if (isFound === isWanted) yield item;
        }
      })(),
    );
  };
}

export function callTest(name: string, value: unknown, args: readonly unknown[], kwargs: Kwargs): boolean {
  if (name === 'filter' || name === 'test') return (name === 'filter' ? filters : valueTests).has(pythonText(value));
  const test = valueTests.get(name);
  if (!test) throw new TemplateError('syntax', `There is no test named '${name}'`);
  if (args.length !== test.count || kwargs.size > 0) {
    throw typeError(`The test '${name}' takes ${test.count} arguments but ${args.length} were given`);
  }
  return test.check(value, args[0]);
}

export function callFilter(name: string, value: unknown, args: readonly unknown[], kwargs: Kwargs): unknown {
  const filter = filters.get(name);
  if (!filter) throw new TemplateError('syntax', `There is no filter named '${name}'`);
  return filter(value, args, kwargs);
}

function escapeHtml(value: unknown): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '>': '&gt;',
    '<': '&lt;',
    "'": '&#39;',
    '"': '&#34;',
  };
  const source = pythonText(value);
  spendMade(source.length * 5);
  return source.replaceAll(/[&><'"]/g, (character) => named[character] ?? character);
}

function urlEncode(value: unknown): string {
  const quote = (part: unknown, isQuery: boolean) => {
    const quoted = percentEncode(pythonText(part), isQuery ? '' : '/');
    return isQuery ? quoted.replaceAll('%20', '+') : quoted;
  };
  if (typeof value === 'string' || !isIterable(value)) return quote(value, false);
  const pairs = isMapping(value) ? mappingEntries(value) : listOf(value).map((pair) => pairOf(pair));
  return pairs.map(([key, item]) => `${quote(key, true)}=${quote(item, true)}`).join('&');
}

function pairOf(pair: unknown): readonly [unknown, unknown] {
  const [key, value, ...more] = listOf(pair);
  if (value === undefined || more.length > 0) throw valueError('A pair must have two values');
  return [key, value];
}

function hash(value: unknown, type: unknown, salt: unknown): string {
  const name = type === undefined ? 'md5' : text(type);
  // Python writes `sha3_256` for what OpenSSL calls `sha3-256`.
  const algorithm = name
    .replace(/^sha3_/, 'sha3-')
    .replace(/^(blake2[bs])$/, (found) => (found === 'blake2b' ? 'blake2b512' : 'blake2s256'));
  if (!/^[a-z0-9_]+$/.test(name) || name.startsWith('shake') || !getHashes().includes(algorithm)) {
    throw valueError(`No hashing function named ${name}`);
  }
  const made = createHash(algorithm).update(pythonText(value), 'utf8');
  if (salt !== undefined && isTruthy(salt)) made.update(pythonText(salt), 'utf8');
  return made.digest('hex');
}

function decodeBase64(value: string): string {
  // Python leaves out characters that do not belong, and wants the right end.
  const kept = value.replaceAll(/[^A-Za-z0-9+/=]/g, '');
  const data = kept.replace(/=.*$/, '');
  if (
    kept.length === data.length
      ? data.length % 4 !== 0
      : data.length % 4 === 1 || (data.length + kept.length - data.length) % 4 !== 0
  ) {
    throw valueError('Incorrect padding');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(data, 'base64'));
  } catch {
    throw valueError('The decoded bytes are no UTF-8 text');
  }
}

function groupBy(value: unknown, attribute: unknown, fallback: unknown, isSensitive: unknown): unknown {
  const get = getter(attribute, fallback);
  const keyOf = flag(isSensitive) ? get : (item: unknown) => lower(get(item));
  const groups: { key: unknown; items: unknown[] }[] = [];
  for (const item of sorted(listOf(value), keyOf, false)) {
    const key = keyOf(item);
    const last = groups.at(-1);
    if (last && isEqual(last.key, key)) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  const shown = (group: { key: unknown; items: unknown[] }) => (flag(isSensitive) ? group.key : get(group.items[0]));
  return groups.map((group) => new Tuple([shown(group), group.items], ['grouper', 'list']));
}

function fileSize(value: unknown, isBinary: boolean): string {
  const bytes = toFloat(value).value;
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const units = [...'kMGTPEZY'].map((unit) => (isBinary ? `${unit.toUpperCase()}iB` : `${unit}B`));
  const at = units.findIndex((_, power) => bytes < base ** (power + 2));
  const power = at === -1 ? units.length - 1 : at;
  return `${fixed((base * bytes) / base ** (power + 2), 1)} ${units[power]}`;
}

function truncate(value: string, length: number, killsWords: boolean, end: string, leeway: number): string {
  if (length < textLength(end) || leeway < 0) throw valueError(`expected length >= ${textLength(end)}, got ${length}`);
  if (textLength(value) <= length + leeway) return value;
  const cut = [...characters(value)].slice(0, length - textLength(end)).join('');
  if (killsWords) return cut + end;
  const space = cut.lastIndexOf(' ');
  return (space === -1 ? cut : cut.slice(0, space)) + end;
}

function indent(value: string, width: unknown, isFirst: boolean, isBlank: boolean): string {
  const margin = typeof width === 'string' ? width : ' '.repeat(Math.max(0, Math.min(index(width, 4), 10_000)));
  const [first = '', ...lines] = splitLines(`${value}\n`, false);
  spendMade((lines.length + 1) * margin.length);
  const rest = lines.map((line) => (line === '' && !isBlank ? line : margin + line));
  return (isFirst ? margin : '') + [first, ...rest].join('\n');
}

/** Words on lines of a width, as Python's `textwrap` puts them. */
function wordWrap(value: string, width: number, breaksLong: boolean, separator: string): string {
  if (width <= 0) throw valueError(`invalid width ${width} (must be > 0)`);
  return splitLines(value, false)
    .map((paragraph) => {
      const lines: string[] = [];
      let line = '';
      for (const chunk of paragraph.match(/\s+|[^\s-]*[^\s-]-(?=[^\s-])|[^\s]+?-(?=\p{L})|[^\s]+/gu) ?? []) {
        let rest = chunk;
        if (textLength(line) + textLength(rest) > width && line.trim() !== '') {
          lines.push(stripEnd(line));
          line = '';
          if (rest.trim() === '') continue;
        }
        while (breaksLong && textLength(rest) > width) {
          lines.push([...rest].slice(0, width).join(''));
          rest = [...rest].slice(width).join('');
        }
        line += rest;
      }
      if (line.trim() !== '') lines.push(stripEnd(line));
      return lines.join(separator);
    })
    .join(separator);
}

const first = define('', (value) => {
  for (const item of iterate(value)) return item;
  return new Undefined('No first item, sequence was empty.');
});

const reversible = (value: unknown): unknown[] => {
  if (value instanceof Generator) throw typeError("'generator' object is not reversible");
  if (numberOf(value) !== undefined || value === null) throw typeError(`'${typeName(value)}' object is not reversible`);
  return listOf(value).reverse();
};

const length = define('', (value) => {
  const found = lengthOf(value);
  if (found === undefined) throw typeError(`object of type '${typeName(value)}' has no len()`);
  return found;
});

const byDefault = define('? default_value boolean', (value, fallback = '', isBoolean = false) => {
  return value instanceof Undefined || (isTruthy(isBoolean) && !isTruthy(value)) ? fallback : value;
});

export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>(
  Object.entries({
    abs: define('', (value) => {
      const number = numberOf(value);
      if (number === undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
      return (number instanceof Float ? number.value : number) < 0
        ? negate(number)
        : number instanceof Float
          ? new Float(Math.abs(number.value))
          : number;
    }),
    attr: define('name', (value, name) => {
      if (isMapping(value) && typeof name === 'string')
        return attributeOf(new Dict(), name) instanceof Undefined
          ? new Undefined(`There is no attribute '${name}'`)
          : attributeOf(value, name);
      return attributeOf(value, text(name));
    }),
    base64binascii_decode: define('', (value) => {
      const source = textWith(value, 'encode');
      if (/\P{ASCII}/u.test(source)) throw valueError("'ascii' codec can't encode characters");
      return Buffer.from(source, 'latin1').toString('base64');
    }),
    base64decode: define('', (value) => decodeBase64(textWith(value, 'encode'))),
    base64encode: define('', (value) => Buffer.from(textWith(value, 'encode'), 'utf8').toString('base64')),
    batch: define('linecount ? fill_with', (value, size, fill) => {
      const [items, count] = [listOf(value), indexOf(size)];
      const batches: unknown[][] = [];
      for (const item of items) {
        const last = batches.at(-1);
        if (!last || last.length === count) batches.push([item]);
        else last.push(item);
      }
      const last = batches.at(-1);
      if (last && given(fill)) {
        spendMade(Math.max(0, count - last.length));
        while (last.length < count) last.push(fill);
      }
      return new Generator(batches);
    }),
    capitalize: define('', (value) => capitalize(pythonText(value))),
    center: define('? width', (value, width) => center(pythonText(value), width ?? 80)),
    count: length,
    d: byDefault,
    default: byDefault,
    dictsort: define('? case_sensitive by reverse', (value, isSensitive, by = 'key', isReversed = false) => {
      if (by !== 'key' && by !== 'value') throw valueError('You can only sort by either "key" or "value"');
      if (!isMapping(value)) {
        if (value instanceof Undefined) value.fail();
        throw valueError(`'${typeName(value)}' object has no attribute 'items'`);
      }
      const pairs = mappingEntries(value).map((entry) => new Tuple([...entry]));
      const keyOf = (pair: unknown) => (pair as Tuple).items[by === 'key' ? 0 : 1];
      return sorted(pairs, (pair) => (flag(isSensitive) ? keyOf(pair) : lower(keyOf(pair))), isTruthy(isReversed));
    }),
    e: define('', escapeHtml),
    escape: define('', escapeHtml),
    filesizeformat: define('? binary', (value, isBinary) => fileSize(value, flag(isBinary))),
    first,
    float: define('? default', (value, fallback = new Float(0)) => {
      try {
        return toFloat(value);
      } catch (error) {
        return recovered(error, fallback);
      }
    }),
    forceescape: define('', escapeHtml),
    format: (value, args, kwargs) => {
      if (args.length > 0 && kwargs.size > 0) {
        throw valueError("can't handle positional and keyword arguments at the same time");
      }
      return formatPercent(pythonText(value), kwargs.size > 0 ? Dict.of(kwargs) : new Tuple(args));
    },
    groupby: define('attribute ? default case_sensitive', groupBy),
    hash: define('? hash_type salt', hash),
    hmac: define('key ? hash_type', (value, key, type = 'sha256') => {
      if (type !== 'sha256') throw valueError(`Hash type '${pythonText(type)}' is not allowed. Allowed types: sha256`);
      return createHmac('sha256', pythonText(key)).update(pythonText(value), 'utf8').digest('hex');
    }),
    indent: define('? width first blank', (value, width, isFirst, isBlank) =>
      indent(addable(value), width, flag(isFirst), flag(isBlank)),
    ),
    int: define('? default base', (value, fallback = 0, base = 10) => {
      try {
        return toInteger(value, indexOf(base));
      } catch (error) {
        recovered(error, undefined);
        try {
          return toInteger(toFloat(value));
        } catch (again) {
          return recovered(again, fallback);
        }
      }
    }),
    items: define('', (value) => {
      if (value instanceof Undefined) return new Generator([]);
      if (!isMapping(value)) throw typeError('Can only get item pairs from a mapping.');
      return new Generator(mappingEntries(value).map((entry) => new Tuple([...entry])));
    }),
    join: define('? d attribute', (value, separator = '', attribute = null) => {
      const get = getter(attribute);
      return joinTexts(
        pythonText(separator),
        listOf(value).map((item) => pythonText(get(item))),
      );
    }),
    last: define('', (value) => {
      const [item = new Undefined('No last item, sequence was empty.')] = reversible(value);
      return item;
    }),
    length,
    list: define('', listOf),
    lower: define('', (value) => pythonText(value).toLowerCase()),
    map: (value, args, kwargs) =>
      new Generator(
        (function* () {
          if (!isTruthy(value)) return;
          const [name, ...rest] = args;
          let apply: (item: unknown) => unknown;
          if (name === undefined && kwargs.has('attribute')) {
            const [unknown] = [...kwargs.keys()].filter((key) => key !== 'attribute' && key !== 'default');
            if (unknown !== undefined) throw valueError(`Unexpected keyword argument '${unknown}'`);
            apply = getter(kwargs.get('attribute'), kwargs.get('default'));
          } else if (name === undefined) {
            throw valueError('map requires a filter argument');
          } else {
            apply = (item) => callFilter(pythonText(name), item, rest, kwargs);
          }
          for (const item of iterate(value)) yield apply(item);
        })(),
      ),
    max: extreme(1),
    min: extreme(-1),
    pprint: define('', (value) => pythonRepr(value)),
    random: define('', (value) => {
      const items = listOf(value);
      return items[Math.floor(Math.random() * items.length)] ?? new Undefined('No random item, sequence was empty.');
    }),
    regex_replace: define('regex replacement', (value, pattern, replacement) =>
      replacePattern(text(pattern), text(replacement), text(value)),
    ),
    regex_search: define('regex', (value, pattern) => {
      const found = searchPattern(text(pattern), text(value));
      return found === undefined ? '' : found;
    }),
    reject: selecting(false, false),
    rejectattr: selecting(false, true),
    replace: define('old new ? count', (value, old, replacement, count = null) =>
      replaceText(pythonText(value), pythonText(old), pythonText(replacement), count === null ? -1 : indexOf(count)),
    ),
    reverse: define('', (value) => {
      if (typeof value === 'string') return [...value].reverse().join('');
      if (!isIterable(value)) throw valueError('argument must be iterable');
      if (value instanceof Generator) return listOf(value).reverse();
      return new Generator(listOf(value).reverse());
    }),
    round: define('? precision method', (value, precision = 0, method = 'common') => {
      if (method !== 'common' && method !== 'ceil' && method !== 'floor') {
        throw valueError('method must be common, ceil or floor');
      }
      if (method === 'common') return round(value, indexOf(precision));
      const scale = calculate('**', 10, precision);
      const product = calculate('*', value, scale);
      if (numberOf(product) === undefined) throw typeError(`must be real number, not ${typeName(product)}`);
      const scaled = toFloat(product).value;
      const whole = method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled);
      return calculate('/', toInteger(new Float(whole)), scale);
    }),
    safe: define('', (value) => pythonText(value)),
    select: selecting(true, false),
    selectattr: selecting(true, true),
    slice: define('slices ? fill_with', (value, slices, fill) => {
      const [items, count] = [listOf(value), indexOf(slices)];
      if (count === 0) throw valueError('integer division or modulo by zero');
      spendMade(Math.max(0, count));
      const [size, extra] = [Math.floor(items.length / count), items.length % count];
      let at = 0;
      const parts = Array.from({ length: Math.max(0, count) }, (_, number) => {
        const part = items.slice(at, at + size + (number < extra ? 1 : 0));
        at += part.length;
        return given(fill) && number >= extra ? [...part, fill] : part;
      });
      return new Generator(parts);
    }),
    sort: define('? reverse case_sensitive attribute', (value, isReversed, isSensitive, attribute) => {
      const getters =
        typeof attribute === 'string' ? attribute.split(',').map((part) => getter(part)) : [getter(attribute)];
      const keyOf = (item: unknown) => getters.map((get) => (flag(isSensitive) ? get(item) : lower(get(item))));
      return sorted(listOf(value), keyOf, flag(isReversed));
    }),
    string: define('', (value) => {
      if (typeof value === 'string') return value;
      // Quoted, so that literal parsing keeps it as text.
      return `"""${toJson(value)}"""`;
    }),
    striptags: define('', (value) =>
      strip(
        pythonText(value)
          .replaceAll(/<!--[\s\S]*?-->/g, '')
          .replaceAll(/<[^<>]*>/g, '')
          .replaceAll(/\s+/g, ' '),
      )
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&#39;', "'")
        .replaceAll('&#34;', '"')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&'),
    ),
    sum: define('? attribute start', (value, attribute, start = 0) => {
      const get = getter(attribute);
      let total = start;
      if (typeof start === 'string') throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
      for (const item of iterate(value)) total = calculate('+', total, get(item));
      return total;
    }),
    title: define('', (value) =>
      pythonText(value)
        .split(/([-\s({[<]+)/)
        .map((part) => {
          const [head = '', ...rest] = part;
          return head.toUpperCase() + rest.join('').toLowerCase();
        })
        .join(''),
    ),
    tojson: define('? indent', (value, spaces) =>
      toJson(value, { sortsKeys: true, ...(given(spaces) && { indent: indexOf(spaces) }) }).replaceAll(
        /[<>&']/g,
        (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
      ),
    ),
    trim: define('? chars', (value, chars) => strip(pythonText(value), given(chars) ? text(chars) : undefined)),
    truncate: define('? length killwords end leeway', (value, size, killsWords, end = '...', leeway = null) => {
      if (typeof value !== 'string') {
        const found = lengthOf(value);
        // Leeway keeps a slightly longer text unchanged.
        if (found !== undefined && found <= index(size, 255) + (leeway === null ? 5 : indexOf(leeway))) return value;
        throw typeError(`object of type '${typeName(value)}' cannot be truncated`);
      }
      return truncate(value, index(size, 255), flag(killsWords), text(end), leeway === null ? 5 : indexOf(leeway));
    }),
    unique: define('? case_sensitive attribute', (value, isSensitive, attribute) => {
      const get = getter(attribute);
      const seen = new Set<string>();
      return new Generator(
        (function* () {
          for (const item of iterate(value)) {
            const key = hashOf(flag(isSensitive) ? get(item) : lower(get(item)));
            if (!seen.has(key)) yield item;
            seen.add(key);
          }
        })(),
      );
    }),
    upper: define('', (value) => pythonText(value).toUpperCase()),
    urlencode: define('', urlEncode),
    wordcount: define('', (value) => pythonText(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
    wordwrap: define(
      '? width break_long_words wrapstring break_on_hyphens',
      (value, width, breaksLong, separator = null) =>
        wordWrap(text(value), index(width, 79), flag(breaksLong, true), separator === null ? '\n' : text(separator)),
    ),
    xmlattr: define('? autospace', (value, hasSpace) => {
      if (value instanceof Undefined) value.fail();
      if (!isMapping(value)) throw valueError(`'${typeName(value)}' object has no attribute 'items'`);
      const parts = mappingEntries(value)
        .filter(([, item]) => item !== null && !(item instanceof Undefined))
        .map(([key, item]) => {
          if (/[\s/>=]/.test(text(key))) throw valueError(`Invalid character in attribute name: ${pythonRepr(key)}`);
          return `${escapeHtml(key)}="${escapeHtml(item)}"`;
        });
      return (parts.length > 0 && flag(hasSpace, true) ? ' ' : '') + parts.join(' ');
    }),
  } satisfies Record<string, Filter>),
);

/** What Python's `except (TypeError, ValueError)` catches. */
function recovered(error: unknown, fallback: unknown): unknown {
  if (error instanceof TemplateError && (error.fault === 'type' || error.fault === 'value')) return fallback;
  throw error;
}
