/* What is wrong with a manifest, in words for its author. */

/** An `error` leaves out the streams that the place belongs to; a `warning` leaves out nothing. */
export interface Problem {
  level: 'error' | 'warning';
  /** Where in the manifest, such as `streams[3].retriever.requester`. Empty for the whole manifest. */
  path: string;
  message: string;
}

/** A manifest of which nothing can run. */
export class ManifestError extends Error {
  override name = 'ManifestError';
}

export function describeProblem({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}
