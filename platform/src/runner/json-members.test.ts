import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { elementsOf, membersOf, objectText } from './json-members.ts';

describe('the members of an object', () => {
  test('come with their values as they were written', () => {
    const text = ' { "a" : 1.10 ,"b\\"}":[1, {"c":"]}"}], "d":"x\\\\","e":{},"f":12345678901234567890 } ';
    expect([...membersOf(text)]).toEqual([
      ['a', '1.10'],
      ['b"}', '[1, {"c":"]}"}]'],
      ['d', '"x\\\\"'],
      ['e', '{}'],
      ['f', '12345678901234567890'],
    ]);
  });

  test('and the elements of a list come in the same way', () => {
    expect(elementsOf(' [ 1.10 ,[2],{"a":"]"} , "]\\"", 12345678901234567890]')).toEqual([
      '1.10',
      '[2]',
      '{"a":"]"}',
      '"]\\""',
      '12345678901234567890',
    ]);
    expect(elementsOf('[]')).toEqual([]);
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (list, indent) => {
        expect(elementsOf(JSON.stringify(list, null, indent)).map((each) => JSON.parse(each))).toEqual(
          JSON.parse(JSON.stringify(list)),
        );
      }),
    );
  });

  test('are those that a parser finds, and give the object back', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const members = membersOf(text);
        expect([...members].map(([key, value]) => [key, JSON.parse(value)])).toEqual(Object.entries(JSON.parse(text)));
        expect(JSON.parse(objectText(members))).toEqual(JSON.parse(text));
      }),
    );
  });
});
