import { describe, expect, it } from 'vitest';
import { isSampled, readTraceContext, traceHeaders, traceparentOf } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const good = `00-${traceId}-${spanId}-01`;

describe('traceparent', () => {
  it('is read and written as the specification gives it', () => {
    const trace = readTraceContext(good);
    expect(trace).toEqual({ traceId, spanId, flags: 1 });
    expect(trace && [traceparentOf(trace), isSampled(trace)]).toEqual([good, true]);
    expect(readTraceContext(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, flags: 2 });
    expect(readTraceContext(`00-${traceId}-${spanId}-fe`), 'unknown flags are cleared').toMatchObject({ flags: 2 });
  });

  it('of a later version is read as far as it is known, and is passed on as version 00', () => {
    const later = readTraceContext(`cc-${traceId}-${spanId}-01-what-the-future-brings`);
    expect(later && traceparentOf(later)).toBe(good);
    expect(readTraceContext(`cc-${traceId}-${spanId}-01`)).toBeDefined();
  });

  it.each([
    ['absent', undefined],
    ['sent twice', `${good}, ${good}`],
    ['a list', [good, good]],
    ['of the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['of version 00 with more', `${good}-x`],
    ['of a later version with more that no hyphen begins', `cc-${traceId}-${spanId}-01x`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['with a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['in upper case', good.toUpperCase()],
    ['too short', good.slice(0, -1)],
    ['with blanks around', ` ${good} `],
    ['with a line end', `${good}\n`],
    ['empty', ''],
  ])('that is %s counts as absent', (_, given) => {
    expect(readTraceContext(given)).toBeUndefined();
  });
});

describe('tracestate', () => {
  const state = (text: string | string[]) => readTraceContext(good, text)?.tracestate;

  it('is passed on with its members in order, and without blanks around them', () => {
    expect(state('rojo=00f067aa0ba902b7 ,\tcongo=t61rcWkgMzE, ,t@v=a b')).toBe(
      'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE,t@v=a b',
    );
    expect(state(['a=1', 'b=2'])).toBe('a=1,b=2');
    const trace = readTraceContext(good, 'a=1');
    expect(traceHeaders(trace)).toEqual({ traceparent: good, tracestate: 'a=1' });
    expect(traceHeaders(undefined)).toEqual({});
  });

  it.each([
    ['a bad key', 'A=1'],
    ['no value', 'a'],
    ['an empty value', 'a='],
    ['an equals sign in a value', 'a=b=c'],
    ['a control character', 'a=\u0001b'],
    ['a character beyond ASCII', 'a=ü'],
    ['the same key twice', 'a=1,a=2'],
    ['more than 32 members', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')],
    ['nothing', ' , '],
  ])('with %s is dropped, and traceparent still counts', (_, text) => {
    expect(readTraceContext(good, text)).toEqual({ traceId, spanId, flags: 1 });
  });

  it('longer than 512 characters loses its last members', () => {
    const members = Array.from({ length: 8 }, (_, i) => `k${i}=${'v'.repeat(100)}`);
    expect(state(members.join(','))).toBe(members.slice(0, 4).join(','));
  });
});
