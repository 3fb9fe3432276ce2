/** True for `npm run check -- --long`: every case of the long proofs. Otherwise each of them tries a part of its cases. */
export const isLongRun = process.env.INLAY_LONG_TESTS !== undefined;
