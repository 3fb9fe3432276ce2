import { describe, expect, it } from 'vitest';
import { failureOf } from './foreign-errors.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const errorId = '6f1e0c2a-0000-4000-8000-000000000001';

describe('an error of the platform in the log', () => {
  it.each([
    [
      'a problem',
      409,
      {
        status: 409,
        type: 'x#try-again-later',
        title: 'try-again-later',
        detail: 'Busy.',
        data: { message: 'locked' },
      },
      'the platform answered 409: try-again-later: Busy.: locked',
    ],
    [
      'a problem with empty parts',
      503,
      { status: 503, type: 'x', title: 'service-unavailable', detail: null, documentationUrl: null, data: null },
      'the platform answered 503: service-unavailable',
    ],
    ['only an id', 500, { errorId }, `the platform answered 500: errorId ${errorId}`],
    [
      'a known exception, without its stack',
      404,
      { message: 'not here', details: 'row 1', errorId, exceptionClassName: 'X', exceptionStack: ['at X'] },
      `the platform answered 404: not here: row 1: errorId ${errorId}`,
    ],
    [
      'the default of its framework',
      400,
      {
        message: 'Bad Request',
        _links: { self: { href: '/v1/x' } },
        _embedded: { errors: [{ message: 'invalid id' }] },
      },
      'the platform answered 400: Bad Request: invalid id',
    ],
    ['load shedding', 429, { message: 'Too many requests' }, 'the platform answered 429: Too many requests'],
    ["a proxy's page", 502, '<html><h1>Bad Gateway</h1></html>', 'the platform answered 502'],
    ['nothing', 504, '', 'the platform answered 504'],
    ['something else entirely', 400, [null, 1], 'the platform answered 400'],
    ['JSON null', 400, 'null', 'the platform answered 400'],
    [
      'parts of the wrong kind',
      400,
      { title: 1, data: 'x', _embedded: { errors: [null] } },
      'the platform answered 400',
    ],
    ['several lines', 400, { message: 'one\n  two' }, 'the platform answered 400: one two'],
  ])('keeps the useful words of %s', (_what, status, body, message) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(failureOf({ status, headers: {}, text }, 'unavailable', now)?.message).toBe(message);
  });

  it('is not endless', () => {
    const text = JSON.stringify({ message: 'x'.repeat(10_000) });
    expect(failureOf({ status: 400, headers: {}, text }, 'unavailable', now)?.message.length).toBeLessThan(400);
  });
});

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, 7],
    ['more seconds than we wait', { 'retry-after': '3600' }, 60],
    ['an HTTP date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9],
    [
      'an HTTP date on a platform whose clock is not ours',
      { 'retry-after': 'Thu, 01 Jan 2026 01:00:09 GMT', date: 'Thu, 01 Jan 2026 01:00:00 GMT' },
      9,
    ],
    ['a date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('is understood as %s', (_what, headers, retryAfterSeconds) => {
    expect(failureOf({ status: 429, headers, text: '' }, 'unavailable', now)).toMatchObject({
      failure: 'throttled',
      retryAfterSeconds,
    });
  });
});
