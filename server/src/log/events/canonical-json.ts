/**
 * JSON with one text for each value (RFC 8785, JSON Canonicalization Scheme), so that a hash of the text is a hash of the
 * value. The scheme writes numbers and texts as JavaScript does, so only the order of members is left to do: by the UTF-16
 * code units of their names, which is how JavaScript compares texts.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    const names = Object.keys(members).sort();
    return `{${names.map((name) => `${quoted(name)}:${canonicalJson(members[name])}`).join(',')}}`;
  }
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError('JSON cannot represent NaN or Infinity.');
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('JSON cannot represent this value.');
  return text;
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('The text is not valid Unicode: it contains half of a surrogate pair.');
  return JSON.stringify(text);
}
