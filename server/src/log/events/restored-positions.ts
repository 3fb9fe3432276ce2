/**
 * Positions of events are 1, 2, 3, …; after a restore they continue at the time of the restore in microseconds. So none is given
 * twice, even if the same backup is restored again. A reader that read events which the restored data doesn't have, is then at a
 * position between the last event before the restore and the first one after.
 */

/** Until the year 2255 within the safe integers. */
export const positionAfterRestore = (head: number, now: number): number => Math.max(head + 1, now * 1_000);

/** In the year 2001. No organization gets there by counting. */
const earliest = 1_000_000_000_000_000;

export const wasRestored = (head: number): boolean => head >= earliest;
