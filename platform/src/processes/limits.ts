/**
 * What one run of a connector may use of the machine, and how a connector that wanted more is told of. The limits are
 * the operator's. Customers learn which limit it was; the name of the setting is for the log.
 */

export interface ConnectorLimits {
  /** Of each process for itself, and of what all processes of the run have in memory together. */
  memoryBytes: number;
  /** Files and connections that one process may have open. */
  openFiles: number;
}

export type LimitName = keyof ConnectorLimits;

export const defaultLimits: ConnectorLimits = { memoryBytes: 1024 ** 3, openFiles: 1024 };

/** What programs say when the operating system gives them no more, in the languages that connectors are written in. */
const words: [LimitName, RegExp][] = [
  [
    'memoryBytes',
    /heap out of memory|bad_alloc|\bMemoryError\b|[Bb]uffer allocation failed|OutOfMemoryError|annot allocate memory|ENOMEM/,
  ],
  ['openFiles', /\bEMFILE\b|[Tt]oo many open files/],
];

/** The limit that a line of a log complains of. */
export function limitInWords(line: string): LimitName | undefined {
  return words.find(([, pattern]) => pattern.test(line))?.[0];
}

/** For the customer and for the log. */
export function explainLimit(name: LimitName, kind: string, limits: ConnectorLimits): [string, string] {
  if (name === 'openFiles') {
    const setting = `The limit is ${limits.openFiles} open files per connector process. To change it, set INLAY_CONNECTOR_OPEN_FILES.`;
    return [`The ${kind} was stopped because it tried to open more than ${limits.openFiles} files.`, setting];
  }
  const limit = sizeInWords(limits.memoryBytes);
  const setting = `The limit is ${limit} per connector run. To change it, set INLAY_CONNECTOR_MEMORY_MB.`;
  return [`The ${kind} was stopped because it needed more than ${limit} of memory.`, setting];
}

function sizeInWords(bytes: number): string {
  const megabytes = Math.round(bytes / 1024 ** 2);
  return megabytes % 1024 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`;
}
