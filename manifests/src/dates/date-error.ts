/** A date, a format or a duration that cannot be read. The message is for the author of a manifest. */
export class DateError extends Error {
  override name = 'DateError';
}
