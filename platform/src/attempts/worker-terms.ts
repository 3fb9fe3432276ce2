/** What a worker and its coordinator agree on, apart from their messages. */
/** Raised when one side no longer understands the other. A coordinator understands the one before, too. */
export const workerProtocol = 1;

/** Times of a lease: a worker renews it often, and has ended everything some time before others may think that it is gone. */
export const heartbeatEveryMs = 10_000;
export const workerEndsAfterMs = 25_000;
/** A claim is answered by then, with or without a job. */
export const longestClaimMs = 25_000;

/** Names the attempt beside the worker's own token. */
export const attemptHeader = 'inlay-attempt';
