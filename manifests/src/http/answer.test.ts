import { describe, expect, it } from 'vitest';
import { Answer } from './answer.ts';

it('numbers that only Python has in JSON are null', () => {
  const json = (text: string) => new Answer(200, [], Buffer.from(text)).json;
  expect(json('{"a": NaN, "b": [-Infinity, 1], "c": "NaN \\" Infinity"}')).toEqual({
    a: null,
    b: [null, 1],
    c: 'NaN " Infinity',
  });
  expect(json('{"a": NaN')).toBeUndefined();
});

describe('the text of an answer', () => {
  const answer = (bytes: Buffer, contentType: string) => new Answer(200, ['Content-Type', contentType], bytes);

  it('is read in the encoding that the answer names, or as UTF-8', () => {
    const text = '{"name": "Müller"}';
    expect(answer(Buffer.from(text), 'application/json').json).toEqual({ name: 'Müller' });
    const latin = answer(Buffer.from(text, 'latin1'), 'application/json; charset=ISO-8859-1');
    expect(latin.json).toEqual({ name: 'Müller' });
    expect(latin.isTextDamaged).toBe(false);
    expect(answer(Buffer.from(text, 'utf16le'), 'text/json; charset="utf-16le"').text).toBe(text);
  });

  it('has other characters for those that cannot be read, and reports them', () => {
    const broken = answer(Buffer.from('{"name": "Müller"}', 'latin1'), 'application/json');
    expect(broken.json).toEqual({ name: 'M\ufffdller' });
    expect(broken.isTextDamaged).toBe(true);
    expect(answer(Buffer.from('{}'), 'application/json; charset=no-such').json).toEqual({});
  });
});
