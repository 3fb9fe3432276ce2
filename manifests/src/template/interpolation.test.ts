import { ExactNumber, parseJson, stringifyJson } from '@inlay/protocol/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { DateTime } from '../dates/date-time.ts';
import { readLiteral } from '../values/literals.ts';
import { pythonRepr, pythonText } from '../values/printing.ts';
import { TemplateError } from '../values/template-error.ts';
import {
  InterpolatedBoolean,
  InterpolatedMapping,
  InterpolatedNestedMapping,
  InterpolatedString,
} from './interpolation.ts';
import { compileTemplate } from './template.ts';

const clock = () => DateTime.fromEpoch(1_718_452_800);
const surroundings = { clock, parameters: { name: 'users' } };
const config = { zeros: '007', flag: false, list: ['x', 'y z'], key: 'made_up', n: 5 };

function value(template: string, names: Record<string, unknown> = { config }): unknown {
  return new InterpolatedString(template, surroundings).evaluate(names);
}

function fault(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof TemplateError ? error.fault : String(error);
  }
}

describe('the literal reading', () => {
  it.each<[string, unknown]>([
    ['12', 12],
    ['007', '007'],
    ['00', 0],
    ['1e5', new ExactNumber('100000.0')],
    ['12_000', 12_000],
    ['0x10', 16],
    ['0b11', 3],
    ['5 # c', 5],
    ['[1,2]', [1, 2]],
    ["'q'", 'q'],
    ["'a' 'b'", 'ab'],
    ["r'\\d'", '\\d'],
    ["'\\x41\\u0042'", 'AB'],
    ["'\\x4'", "'\\x4'"],
    ["'''a\nb'''", 'a\nb'],
    ["'a\nb'", "'a\nb'"],
    ['None', null],
    ['True', true],
    ['true', 'true'],
    ['1j', '1j'],
    ['1+2j', '1+2j'],
    ['1+2', '1+2'],
    ['--5', '--5'],
    ['-(5)', -5],
    ['- 5', -5],
    ['-0', 0],
    ['nan', 'nan'],
    ['0.10', 0.1],
    ['.5', 0.5],
    ['5.', new ExactNumber('5.0')],
    ['+5', 5],
    ['(1)', 1],
    ['(1,)', [1]],
    ['()', []],
    ['1,2', [1, 2]],
    ['{}', {}],
    ["{'a': [1, {'b': (2, 3)}]}", { a: [1, { b: [2, 3] }] }],
    ['{"a": true}', '{"a": true}'],
    ['{1: None}', { 1: null }],
    [' 5 ', 5],
    ['\n5', 5],
    ['\n 5', '\n 5'],
    ['5\n6', '5\n6'],
    ['[1,\n 2] # end', [1, 2]],
    ['# c\n5', 5],
    ['1__0', '1__0'],
    ['0777', '0777'],
    ['1.2.3', '1.2.3'],
    ['2024-01-02', '2024-01-02'],
    ['12345678901234567890', new ExactNumber('12345678901234567890')],
    ['0.12345678901234567890', new ExactNumber('0.12345678901234567890')],
    ['...', '...'],
    ["b'x'", "b'x'"],
    ['', ''],
  ])('reads %j', (text, expected) => {
    expect(readLiteral(text)).toStrictEqual(expected);
  });

  it('gives back every plain value that Python prints', () => {
    const plain = fc.jsonValue({ maxDepth: 4 }).filter((one) => !stringifyJson(one).includes('__proto__'));
    fc.assert(
      fc.property(plain, (one) => {
        const data = parseJson(stringifyJson(one));
        const read = readLiteral(pythonRepr(data));
        expect(sameNumbers(read)).toStrictEqual(sameNumbers(data));
      }),
    );
  });
});

/** Floats without a fraction are exact numbers after the reading. */
function sameNumbers(one: unknown): unknown {
  if (one instanceof ExactNumber) return Number(one.text);
  if (Array.isArray(one)) return one.map(sameNumbers);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(Object.entries(one).map(([key, inside]) => [key, sameNumbers(inside)]));
}

describe('a single field', () => {
  it('is empty for a missing key, and fails for a key below a missing key', () => {
    expect(value("{{ config['missing'] }}")).toBe('');
    expect(fault(() => value("{{ config['missing']['x'] }}"))).toBe('missing');
  });

  it('fails for a name that nothing defines, even where the name is not reached', () => {
    expect(fault(() => value("{{ 'x' if true else cofnig.a }}"))).toBe('unknown_name');
    expect(fault(() => value('{{ range(3) }}'))).toBe('unknown_name');
    expect(fault(() => value('{{ stream_state.x }}', { stream_state: {} }))).toBe('unknown_name');
    expect(value('{% for one in config.list %}{{ loop.index }}{{ one }}{% endfor %}')).toBe('1x2y z');
  });

  it('is the text of the template after a type error', () => {
    expect(value("{{ 'a' + 1 }}")).toBe("{{ 'a' + 1 }}");
    expect(value('{{ config.list | map("upper") | length }}')).toBe('{{ config.list | map("upper") | length }}');
  });

  it('knows the slice by its other names, and the parameters', () => {
    const names = { stream_slice: { id: 'a' } };
    expect(
      value('{{ stream_partition.id }}{{ stream_interval.id }}{{ stream_slice.id }}{{ parameters.name }}', names),
    ).toBe('aaausers');
  });

  it('keeps a literal only if it has one of the types that are requested', () => {
    const typed = (template: string, type: 'text' | 'boolean' | 'integer' | 'number') =>
      new InterpolatedString(template, surroundings).evaluate({ config }, [type]);
    expect(typed('{{ config.n }}', 'text')).toBe('5');
    expect(typed('{{ config.n }}', 'integer')).toBe(5);
    expect(typed('{{ config.n }}', 'number')).toBe('5');
    expect(typed('{{ config.n / 2 }}', 'number')).toBe(2.5);
    expect(typed("{{ '1_0' }}", 'text')).toBe('1_0');
    expect(typed('{{ config.flag }}', 'boolean')).toBe(false);
  });

  it('keeps every digit of a number that it does not calculate with', () => {
    const record = parseJson('{"id": 123456789012345678901, "price": 0.12345678901234567890, "list": [1e400]}');
    expect(stringifyJson(value('{{ record.id }}', { record }))).toBe('123456789012345678901');
    expect(stringifyJson(value('{{ record }}', { record }))).toBe(stringifyJson(record));
    expect(value('{{ record.price }} EUR', { record })).toBe('0.12345678901234567890 EUR');
    expect(stringifyJson(value('{{ record.id + 1 }}', { record }))).toBe('123456789012345678902');
  });

  it('never takes a value of the data as a template', () => {
    const text = '{{ config.secret }}{% raw %}';
    expect(value('{{ record.text }}', { record: { text }, config: { secret: 's' } })).toBe(text);
    expect(value('{{ [record.text] | join }}x', { record: { text } })).toBe(`${text}x`);
  });
});

describe('a mapping', () => {
  it('has null for missing keys, and texts or lists where only those are requested', () => {
    const mapping = new InterpolatedMapping(
      {
        number: '12',
        zeros: '{{ config.zeros }}',
        missing: '{{ config.missing }}',
        deep: '{{ config.missing.x }}',
        empty: '',
        none: '{{ none }}',
        list: '{{ config.list }}',
        quoted: "'x'",
        dict: "{{ {'a': 1} }}",
        "{{ config['key'] }}": 'dyn',
        flag: '{{ config.flag }}',
      },
      surroundings,
    );
    expect(mapping.evaluate({ config }, ['text', 'list'])).toStrictEqual({
      number: '12',
      zeros: '007',
      missing: null,
      deep: null,
      empty: null,
      none: 'None',
      list: ['x', 'y z'],
      quoted: 'x',
      dict: "{'a': 1}",
      made_up: 'dyn',
      flag: 'False',
    });
  });

  it('keeps numbers, truth values and objects in a body, and leaves null out', () => {
    const body = new InterpolatedNestedMapping(
      {
        n: '{{ config.n }}',
        gone: '{{ config.missing }}',
        nothing: '{{ none }}',
        inner: { zeros: '{{ config.zeros }}', list: ['{{ 1 + 1 }}', 'x', { y: '{{ config.flag }}' }, '{{ none }}'] },
        '{{ config.key }}': true,
      },
      surroundings,
    );
    expect(body.evaluate({ config })).toStrictEqual({
      n: 5,
      inner: { zeros: '007', list: [2, 'x', { y: false }, null] },
      made_up: true,
    });
  });
});

it('takes exactly the values for false that the reference does', () => {
  const holds = (keep: unknown) =>
    new InterpolatedBoolean('{{ record.keep }}', surroundings).evaluate({ record: { keep } });
  const falsy = [false, 'False', 'false', '', '0', '0.0', 0, [], {}, '{}', '[]', '()', new ExactNumber('0.0')];
  expect(falsy.map(holds)).toStrictEqual(falsy.map(() => false));
  const truthy = [true, null, 'None', 'no', ' ', 'FALSE', [0], 1, -1, 0.5];
  expect(truthy.map(holds)).toStrictEqual(truthy.map(() => true));
  const condition = (text: string) => new InterpolatedBoolean(text, surroundings).evaluate({ record: {} });
  expect(condition('{{ record.missing }}')).toBe(false);
  expect(condition('{{ record.missing.x }}')).toBe(false);
  expect(condition("{{ 'a' + 1 }}")).toBe(true);
});

describe('safety', () => {
  it('reaches no prototype, no constructor and no global', () => {
    const names = [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__class__',
      'length',
      'call',
      'map',
    ];
    for (const name of names) {
      for (const of of ['config', "'text'", '[1]', '5', '{}', 'now_utc()', 'config.list']) {
        expect(value(`{{ (${of}).${name} }}${''}`)).toBe('');
        expect(value(`{{ (${of})['${name}'] }}`)).toBe('');
      }
      expect(fault(() => value(`{{ ${name} }}`))).toBe('unknown_name');
    }
    for (const name of ['globalThis', 'process', 'Object', 'require', 'eval', 'undefined']) {
      expect(fault(() => value(`{{ ${name} }}`))).toBe('unknown_name');
    }
    expect(fault(() => value("{{ config | attr('__class__') }}{{ 'x' | constructor }}"))).toBe('syntax');
    value("{{ config.update({'__proto__': {'polluted': 1}}) }}", { config: {} });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it.each([
    "{{ 'x' * 10**9 }}",
    '{{ [1] * 10**9 }}',
    '{{ 10 ** (10 ** 10) }}',
    '{{ 9 ** 99999 }}',
    "{{ 'x'.zfill(10**9) }}",
    "{{ '%999999999d' % 1 }}",
    "{{ '{:>999999999}'.format(1) }}",
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    "{% set l = 'x' * 1000 %}{% for a in l %}{% for b in l %}{% for c in l %}{% endfor %}{% endfor %}{% endfor %}",
    "{% set l = 'x' * 3000 %}{% for a in l %}{{ l ~ l }}{% endfor %}",
    `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`,
    `{{ ${'not '.repeat(50_000)}1 }}`,
    `{{ 1${' + 1'.repeat(200_000)} }}`,
  ])('stops a template that would take too much: %#', (template) => {
    expect(fault(() => value(template))).toMatch(/^(limit|syntax|type|value)$/);
  });

  it('runs a pattern that would take years in linear time, and refuses one that needs to look back', () => {
    const record = { text: `${'a'.repeat(5000)}!` };
    expect(value("{{ record.text | regex_search('^((a+)+)$') }}", { record })).toBe('');
    expect(fault(() => value(String.raw`{{ record.text | regex_search('(a)\\1') }}`, { record }))).toBe('value');
  });

  it('ends with a value or with its own error, whatever the template and the data', () => {
    const part = fc.constantFrom(
      ...'{{ }} {% %} if else endif for in endfor set = config record . [ ] ( ) { } , : | ~ + - * / // % ** == < not and or is none defined'.split(
        ' ',
      ),
      ...['upper', 'join', 'map', 'first', 'length', 'tojson', 'format', 'int', 'sort', 'now_utc()', 'duration("P1D")'],
      ...['"a"', "'%s'", '1', '0', '2.5', '"\\x4"', '{#', '#}', '{%- raw %}', '\n', 'x'],
    );
    const templates = fc.oneof(
      fc.array(part, { maxLength: 14 }).map((parts) => parts.join(' ')),
      fc.array(part, { maxLength: 10 }).map((parts) => `{{ ${parts.join(' ')} }}`),
      fc.string({ unit: 'binary', maxLength: 30 }),
    );
    fc.assert(
      fc.property(templates, fc.jsonValue(), (template, data) => {
        try {
          const text = pythonText(
            new InterpolatedString(template, surroundings).evaluate({ config: data, record: { data } }),
          );
          expect(typeof text).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
      { numRuns: isLongRun ? 1_000 : 300 },
    );
  });

  it('says where a template is wrong', () => {
    expect(() => compileTemplate("{{ config['a }}")).toThrow(/character/);
    expect(() => compileTemplate('{% if true %}x')).toThrow('endif');
  });
});
