import { expect, it } from 'vitest';
import { tokenState } from './token-state.ts';

const now = Date.parse('2026-01-31T00:00:00Z');
const state = (revoked_at: string | null, expires_at: string | null) => tokenState({ revoked_at, expires_at }, now);

it('says whether a token works, and whether it expires soon', () => {
  expect(state(null, null)).toBe('active');
  expect(state(null, '2027-01-01T00:00:00Z')).toBe('active');
  expect(state(null, '2026-02-01T00:00:00Z')).toBe('ending');
  expect(state(null, '2026-01-30T00:00:00Z')).toBe('expired');
  // A rotation with an overlap revokes the token in the future.
  expect(state('2026-01-31T01:00:00Z', null)).toBe('ending');
  expect(state('2026-01-31T00:00:00Z', '2027-01-01T00:00:00Z')).toBe('revoked');
});
