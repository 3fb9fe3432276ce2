/**
 * Makes foreign text storable in every database. PostgreSQL and the SQLite driver reject U+0000, and lone surrogates
 * have no encoding, so different ones would all become the same bytes.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Control characters, line separators and bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Makes foreign text a single line that can be stored, logged and displayed, such as an account name or an error
 * message.
 */
export function plainText(text: string, mostCharacters: number): string {
  return text.replace(unprintable, ' ').trim().slice(0, mostCharacters).toWellFormed();
}
