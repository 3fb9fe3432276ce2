import { describe, it } from 'vitest';

/** True for `npm run check -- --long`: every case of the long proofs. Otherwise each of them tries a part of its cases. */
export const isLongRun = process.env.INLAY_LONG_TESTS !== undefined;

// In a short run these define nothing, rather than a test that is skipped: a run fails if it skipped one.
const nothing = Object.assign(() => {}, { each: () => () => {} });
export const itInLongRun = isLongRun ? it : (nothing as unknown as typeof it);
export const describeInLongRun = isLongRun ? describe : (nothing as unknown as typeof describe);
