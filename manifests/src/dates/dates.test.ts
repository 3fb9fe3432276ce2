/* The results were written down from Python: its `datetime`, and the packages `isodate` and `dateutil`. */

import { ExactNumber } from '@inlay/protocol/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DateError } from './date-error.ts';
import { DateTime } from './date-time.ts';
import { Duration, parseDuration, Timedelta } from './durations.ts';
import { formatDate, parseDate, parseDateBy } from './formats.ts';
import { parseIsoDate } from './iso-dates.ts';

describe('reading a date by a format', () => {
  it.each<[unknown, string, string]>([
    ['2024-02-29T23:59:59.123456+0000', '%Y-%m-%dT%H:%M:%S.%f%z', '2024-02-29 23:59:59.123456+00:00'],
    ['2024-01-01T00:00:00.5+05:30', '%Y-%m-%dT%H:%M:%S.%f%z', '2024-01-01 00:00:00.500000+05:30'],
    ['2024-01-01T10:00:00Z', '%Y-%m-%dT%H:%M:%S%z', '2024-01-01 10:00:00+00:00'],
    ['2024-1-5', '%Y-%m-%d', '2024-01-05 00:00:00+00:00'],
    ['Thu, 29 Feb 2024 01:02:03 +0100', '%a, %d %b %Y %H:%M:%S %z', '2024-02-29 01:02:03+01:00'],
    ['thursday february 29 2024', '%A %B %d %Y', '2024-02-29 00:00:00+00:00'],
    ['366 2024', '%j %Y', '2024-12-31 00:00:00+00:00'],
    ['12:05 AM', '%I:%M %p', '1900-01-01 00:05:00+00:00'],
    ['2024-W09-4', '%Y-W%W-%w', '2024-02-29 00:00:00+00:00'],
    ['2024-09-0', '%Y-%U-%w', '2024-03-03 00:00:00+00:00'],
    ['2024-W01-1', '%G-W%V-%u', '2024-01-01 00:00:00+00:00'],
    ['69', '%y', '1969-01-01 00:00:00+00:00'],
    ['2024-01-01T10:00:00.123Z', '%Y-%m-%dT%H:%M:%S.%_msZ', '2024-01-01 10:00:00.123000+00:00'],
    [1_700_000_000, '%s', '2023-11-14 22:13:20+00:00'],
    [' 1_000 ', '%s', '1970-01-01 00:16:40+00:00'],
    [1.9, '%s', '1970-01-01 00:00:01+00:00'],
    ['1700000000.123456', '%s_as_float', '2023-11-14 22:13:20.123456+00:00'],
    [new ExactNumber('1700000000123456'), '%epoch_microseconds', '2023-11-14 22:13:20.123456+00:00'],
    ['-1500', '%ms', '1969-12-31 23:59:58.500000+00:00'],
    [20_240_131, '%Y%m%d', '2024-01-31 00:00:00+00:00'],
  ])('reads %s by %s', (date, format, expected) => {
    expect(String(parseDate(date, format))).toBe(expected);
  });

  it.each<[unknown, string]>([
    ['2024-13-05', '%Y-%m-%d'],
    ['2024-02-30', '%Y-%m-%d'],
    ['2024-01-01x', '%Y-%m-%d'],
    ['2024-01-01T10:00:60Z', '%Y-%m-%dT%H:%M:%SZ'],
    ['2024-01-01T10:00:00z', '%Y-%m-%dT%H:%M:%S%z'],
    ['2024-01-01 +0130:15', '%Y-%m-%d %z'],
    ['1.5', '%s'],
    ['x', '%s_as_float'],
    ['253402300800', '%s'],
    ['2024', '%Y%'],
    ['2024q', '%Yq%q'],
    [null, '%s'],
    [{}, '%Y'],
    ['0001-01-01', '%Y-%m-%dT'],
  ])('refuses %s by %s', (date, format) => {
    expect(() => parseDate(date, format)).toThrow(DateError);
  });

  it('tries several formats in their order', () => {
    expect(String(parseDateBy('5', ['%Y', '%s', '%ms']))).toBe('1970-01-01 00:00:05+00:00');
    expect(() => parseDateBy('x', ['%Y', '%s'])).toThrow(DateError);
  });
});

describe('writing a date by a format', () => {
  const date = parseDate('2021-01-03T04:05:06.789012+0530', '%Y-%m-%dT%H:%M:%S.%f%z');
  it.each([
    ['%Y-%m-%dT%H:%M:%S.%f%z', '2021-01-03T04:05:06.789012+0530'],
    ['%Y-%m-%dT%H:%M:%S.%_msZ', '2021-01-03T04:05:06.789Z'],
    ['%s', '1609626906'],
    ['%s_as_float', '1609626906.789012'],
    ['%ms', '1609626906789'],
    ['%epoch_microseconds', '1609626906789012'],
    ['%a %A %b %B %d %e %j', 'Sun Sunday Jan January 03  3 003'],
    ['%y %C %G %g %V %U %W %u %w', '21 20 2020 20 53 01 00 7 0'],
    ['%I %l %p %P', '04  4 AM am'],
    ['%-d/%-m %_d %^a %05d', '3/1  3 SUN 00003'],
    ['%c|%x|%X|%D|%F|%T|%R', 'Sun Jan  3 04:05:06 2021|01/03/21|04:05:06|01/03/21|2021-01-03|04:05:06|04:05'],
    ['%Z %% %q %', 'UTC+05:30 % %q %'],
  ])('writes %s', (format, expected) => {
    expect(formatDate(date, format)).toBe(expected);
  });

  it('gives the same date when it is read again', () => {
    const formats = [
      '%Y-%m-%dT%H:%M:%S.%f%z',
      '%d %b %Y %H:%M:%S.%f %z',
      '%f %S %M %I %p %j %Y %z',
      '%G-W%V-%u %H:%M:%S.%f%z',
    ];
    // Python writes years below 1000 with fewer digits than it reads.
    const moments = fc.record({
      seconds: fc.integer({ min: -30_000_000_000, max: 253_402_200_000 }),
      micros: fc.integer({ min: 0, max: 999_999 }),
      offset: fc.integer({ min: -1439, max: 1439 }),
    });
    fc.assert(
      fc.property(moments, fc.constantFrom(...formats), ({ seconds, micros, offset }, format) => {
        const moment = DateTime.fromEpoch(seconds, micros, { offsetSeconds: offset * 60 });
        const read = parseDate(formatDate(moment, format), format);
        expect(read.compare(moment)).toBe(0);
        expect(read.isoFormat()).toBe(moment.isoFormat());
      }),
    );
  });
});

describe('durations', () => {
  const base = parseDate('2024-01-31T10:00:00.500000+0000', '%Y-%m-%dT%H:%M:%S.%f%z');
  it.each([
    ['P1D', '2024-02-01T10:00:00.500000+00:00', '2024-01-30T10:00:00.500000+00:00'],
    ['P1M', '2024-02-29T10:00:00.500000+00:00', '2023-12-31T10:00:00.500000+00:00'],
    ['P13M', '2025-02-28T10:00:00.500000+00:00', '2022-12-31T10:00:00.500000+00:00'],
    ['P1Y', '2025-01-31T10:00:00.500000+00:00', '2023-01-31T10:00:00.500000+00:00'],
    ['P2W', '2024-02-14T10:00:00.500000+00:00', '2024-01-17T10:00:00.500000+00:00'],
    ['PT0.000001S', '2024-01-31T10:00:00.500001+00:00', '2024-01-31T10:00:00.499999+00:00'],
    ['P1DT5S', '2024-02-01T10:00:05.500000+00:00', '2024-01-30T09:59:55.500000+00:00'],
    ['P1.5D', '2024-02-01T22:00:00.500000+00:00', '2024-01-29T22:00:00.500000+00:00'],
    ['PT1,5H', '2024-01-31T11:30:00.500000+00:00', '2024-01-31T08:30:00.500000+00:00'],
    ['-P1M', '2023-12-31T10:00:00.500000+00:00', '2024-02-29T10:00:00.500000+00:00'],
    ['P1Y2M3DT4H5M6S', '2025-04-03T14:05:06.500000+00:00', '2022-11-27T05:54:54.500000+00:00'],
  ])('moves a date by %s', (text, later, earlier) => {
    const length = parseDuration(text);
    expect(base.plus(length).isoFormat()).toBe(later);
    expect(base.minus(length).isoFormat()).toBe(earlier);
  });

  it('refuses what is no duration, and steps that leave the calendar', () => {
    for (const text of ['P', '1D', 'P1', 'p1d', 'P1S', 'PT1D', 'P-1D', 'P1D ', '']) {
      expect(() => parseDuration(text)).toThrow(DateError);
    }
    expect(() => base.plus(parseDuration('P9999Y'))).toThrow(DateError);
    expect(() => base.plus(parseDuration('P0.5M'))).toThrow(DateError);
    expect(() => base.minus(parseDuration('P800000D'))).toThrow(DateError);
  });

  it('prints as Python prints', () => {
    expect(
      ['P1D', 'PT36H', '-P1D', 'PT1.5S', 'P1Y2M', 'P1M', 'P400D'].map((text) => String(parseDuration(text))),
    ).toStrictEqual([
      '1 day, 0:00:00',
      '1 day, 12:00:00',
      '-1 day, 0:00:00',
      '0:00:01.500000',
      '1 years, 2 months, 0:00:00',
      '1 month, 0:00:00',
      '400 days, 0:00:00',
    ]);
    expect(parseDuration('P1Y')).toBeInstanceOf(Duration);
    expect(parseDuration('P7D')).toBeInstanceOf(Timedelta);
  });

  it('adds and takes away to the same date', () => {
    const parts = fc.record({ days: fc.integer({ min: -9999, max: 9999 }), microseconds: fc.maxSafeInteger() });
    fc.assert(
      fc.property(parts, (one) => {
        const length = Timedelta.of({ days: one.days, microseconds: one.microseconds % 1e15 });
        expect(base.plus(length).minus(length).compare(base)).toBe(0);
        expect(base.plus(length).since(base).compare(length)).toBe(0);
        expect(Timedelta.fromMicroseconds(length.totalMicroseconds).compare(length)).toBe(0);
      }),
    );
  });
});

it('reads ISO 8601 in its basic and extended forms, in UTC', () => {
  const read = (text: string) => parseIsoDate(text).isoFormat();
  expect(
    [
      '2024',
      '2024-03',
      '20240102T030405Z',
      '2024-01-02T03:04:05.123456789+05:30',
      '2024-W05-3',
      '2024-060',
      '2024-01-02 03:04',
      '2024-01-02T24:00',
    ].map(read),
  ).toStrictEqual([
    '2024-01-01T00:00:00+00:00',
    '2024-03-01T00:00:00+00:00',
    '2024-01-02T03:04:05+00:00',
    '2024-01-01T21:34:05.123456+00:00',
    '2024-01-31T00:00:00+00:00',
    '2024-02-29T00:00:00+00:00',
    '2024-01-02T03:04:00+00:00',
    '2024-01-03T00:00:00+00:00',
  ]);
  for (const text of [
    'nope',
    '202401',
    '2024-13-01',
    '2024-01-02T',
    '2024-01-02T25:00',
    '2024-01-02T03:0405',
    '2024-01-02T03:04+5',
  ]) {
    expect(() => parseIsoDate(text)).toThrow(DateError);
  }
});
