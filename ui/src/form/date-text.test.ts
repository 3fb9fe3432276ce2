import { describe, expect, it } from 'vitest';
import { fromControl, toControl } from './date-text.ts';

const utc = { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' };

describe('a date in the control of the browser', () => {
  it('is written in the first usual format that the pattern takes', () => {
    expect(fromControl('date-time', {}, '2024-02-29T10:20')).toBe('2024-02-29T10:20:00Z');
    expect(fromControl('date-time', utc, '2024-02-29T10:20:30')).toBe('2024-02-29T10:20:30Z');
    expect(fromControl('date-time', { pattern: '^.{10}T.{8}\\.\\d{3}Z$' }, '2024-02-29T10:20')).toBe(
      '2024-02-29T10:20:00.000Z',
    );
    expect(fromControl('date-time', { pattern: '^.{10} .{8}$' }, '2024-02-29T10:20')).toBe('2024-02-29 10:20:00');
    expect(fromControl('date-time', { pattern: '^\\d{4}-\\d\\d-\\d\\d$' }, '2024-02-29T10:20')).toBe('2024-02-29');
    expect(fromControl('date', {}, '2024-02-29')).toBe('2024-02-29');
    expect(fromControl('date', utc, '2024-02-29')).toBe('2024-02-29T00:00:00Z');
    expect(fromControl('date', {}, '')).toBeUndefined();
  });

  it('is shown when the control can hold the whole date', () => {
    expect(toControl('date-time', utc, '2024-02-29T10:20:00Z')).toBe('2024-02-29T10:20');
    expect(toControl('date-time', utc, '2024-02-29T10:20:30Z')).toBe('2024-02-29T10:20:30');
    expect(toControl('date-time', utc, undefined)).toBe('');
    expect(toControl('date', {}, '2024-02-29')).toBe('2024-02-29');
  });

  it('is left to a line of text when it could not be written back as it is', () => {
    expect(toControl('date-time', {}, '2024-02-29T10:20:00+02:00')).toBeUndefined();
    expect(toControl('date-time', {}, '2024-02-29T10:20:00.123Z')).toBeUndefined();
    expect(toControl('date', {}, '2024-02-29T10:20:00Z')).toBeUndefined();
    expect(toControl('date', {}, 'yesterday')).toBeUndefined();
    expect(toControl('date', { pattern: '^\\d\\d/\\d\\d/\\d{4}$' }, undefined)).toBeUndefined();
  });
});
