/** Gives the whole name of the commit and the command line of its build. */
export function buildCommit(options: {
  /** The repository. */
  root: string;
  /** Anything that names a commit; by default the last release (release.json). */
  commit?: string | undefined;
  tell?: (line: string) => void;
  signal?: AbortSignal;
}): Promise<{ commit: string; product: string }>;
