/** A time as the API shows it: in UTC, to the second. */
export function isoTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
