/**
 * What one connector run may use of the machine, and how a connector that exceeds a limit is reported. Operators set
 * the limits. Customers learn which limit applied; the name of the setting goes to the log.
 */

export interface ConnectorLimits {
  /** The limit applies to each process, and to the memory of all processes of the run together. */
  memoryBytes: number;
  /** Files and connections that one process may have open. */
  openFiles: number;
}

export type LimitName = keyof ConnectorLimits;

export const defaultLimits: ConnectorLimits = { memoryBytes: 1024 ** 3, openFiles: 1024 };

/** What programs print when the operating system refuses more, in the languages connectors are written in. */
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

/** One text for the customer, one for the log. */
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
