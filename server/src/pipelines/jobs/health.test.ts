import { describe, expect, it } from 'vitest';
import { signInTrouble } from '../sign-in-trouble.ts';
import { operatorsOnly } from '../two-texts.ts';
import { type ConnectionFacts, healthOf, type JobFailure, worstOf } from './health.ts';

const nothing: ConnectionFacts = {
  isPaused: false,
  pausedBecause: null,
  stoppedBecause: null,
  isGone: false,
  refused: null,
  signIn: null,
  open: null,
  failed: null,
  lastGoodAt: null,
};
const flaky: JobFailure = {
  kind: 'transient_error',
  origin: 'source',
  message: 'The line was cut.',
  customerMessage: 'The line was cut.',
  whose: 'customer',
};
const wrong = (whose: JobFailure['whose']): JobFailure => ({
  ...flaky,
  kind: 'config_error',
  message: 'Change it.',
  customerMessage: 'Change.',
  whose,
});
const signIn = { state: 'needs_attention', last_error: null, signed_in_at: 0 } as const;
const failedTwice = { count: 2, firstAt: 1_000, first: flaky, last: flaky };
const running = { startedAt: 5_000, failedAt: null, failure: null };
const health = (facts: Partial<ConnectionFacts>) => healthOf({ ...nothing, ...facts });

describe('the health of a connection', () => {
  it('is never_synced before the first sync, running during it, and healthy after it', () => {
    expect(health({}).state).toBe('never_synced');
    expect(health({ open: running })).toMatchObject({ state: 'running', isTryingAgain: false });
    expect(health({ lastGoodAt: 4 })).toMatchObject({ state: 'healthy', lastGoodAt: 4 });
    expect(health({ lastGoodAt: 4, open: running }).state).toBe('running');
  });

  it('is failing from the first attempt that failed until a sync succeeds, whatever runs meanwhile', () => {
    const retried = { startedAt: 900, failedAt: 1_000, failure: flaky };
    expect(health({ open: retried, lastGoodAt: 4 })).toEqual({
      state: 'failing',
      since: 1_000,
      failuresInARow: 1,
      firstError: flaky,
      lastGoodAt: 4,
      isTryingAgain: true,
      attention: null,
      pausedBecause: null,
    });
    expect(health({ failed: failedTwice })).toMatchObject({ failuresInARow: 2, since: 1_000, isTryingAgain: false });
    // The next run has begun and has not failed yet: still no new start.
    expect(health({ failed: failedTwice, open: running })).toMatchObject({
      state: 'failing',
      since: 1_000,
      failuresInARow: 2,
      isTryingAgain: true,
    });
    const again = { startedAt: 5_000, failedAt: 6_000, failure: flaky };
    expect(health({ failed: failedTwice, open: again })).toMatchObject({ since: 1_000, failuresInARow: 3 });
  });

  it('needs attention where only a person can help, and says whose', () => {
    const failedFor = (last: JobFailure) => health({ failed: { ...failedTwice, last } });
    expect(failedFor(wrong('customer'))).toMatchObject({
      state: 'needs_attention',
      since: 1_000,
      failuresInARow: 2,
      attention: { by: 'customer', what: 'Change it.', customerWhat: 'Change.' },
    });
    expect(failedFor(wrong('operator')).attention?.by).toBe('operator');
    const refused = operatorsOnly({ code: 'rejected_by_platform', parameters: { what: 'connection' } });
    expect(health({ refused }).attention).toMatchObject({
      by: 'operator',
      reasons: {
        operator: { code: 'rejected_by_platform', parameters: { what: 'connection' } },
        customer: { code: 'problem_on_our_side', parameters: {} },
      },
    });
    expect(health({ isGone: true })).toMatchObject({
      state: 'needs_attention',
      attention: { by: 'operator', reasons: { customer: { code: 'connection_lost' } } },
    });
    expect(health({ stoppedBecause: 'The schema changed.' }).attention).toMatchObject({
      what: 'The schema changed.',
      reasons: { operator: { code: 'stopped_by_platform' } },
    });
    expect(health({ signIn: signInTrouble({ ...signIn, reason: 'revoked' }) }).attention).toMatchObject({
      by: 'customer',
      reasons: {
        operator: { code: 'sign_in_ended', parameters: { why: 'revoked' } },
        customer: { code: 'sign_in_ended', parameters: {} },
      },
    });
    expect(health({ signIn: signInTrouble({ ...signIn, reason: 'client_refused' }) }).attention).toMatchObject({
      by: 'operator',
      reasons: { operator: { code: 'oauth_client_rejected' }, customer: { code: 'problem_on_our_side' } },
    });
  });

  it('is paused when someone wanted it so, whatever happened before', () => {
    expect(health({ isPaused: true, failed: failedTwice, lastGoodAt: 4 })).toMatchObject({
      state: 'paused',
      lastGoodAt: 4,
    });
  });

  it('of several is the worst, and paused only where nothing else is', () => {
    const worst = (...states: ReturnType<typeof health>['state'][]) =>
      worstOf(states.map((state) => ({ state })))?.state;
    expect(worst('healthy', 'needs_attention', 'failing', 'running')).toBe('failing');
    expect(worst('paused', 'healthy')).toBe('healthy');
    expect(worst('running', 'never_synced')).toBe('never_synced');
    expect(worst('paused')).toBe('paused');
    expect(worst()).toBeUndefined();
  });
});
