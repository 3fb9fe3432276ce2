/** A value as Python's `str` writes it: what the reference puts into a query, a header or a path. */
export function pythonText(value: unknown): string {
  return String(value);
}
