/* Reads JSON without changing what it says, and finds values in it. */

/** An integer that a number cannot hold becomes text, since its digits would change otherwise. */
export function parseJson(text: string): unknown {
  return JSON.parse(longNumber.test(text) ? text.replace(stringOrLongInteger, quoteUnsafe) : text);
}

const longNumber = /\d{16}/;
// A string is matched as a whole, so that digits within it are left alone.
const stringOrLongInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

function quoteUnsafe(token: string): string {
  return token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
}

/** The value at a dot path, such as `data.items`; an empty path is the value itself. A number is a place in a list. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  let found = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
