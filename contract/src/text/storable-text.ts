/**
 * A text from elsewhere as every database can keep it. PostgreSQL and the driver of SQLite refuse U+0000, and halves of
 * surrogate pairs have no bytes of their own: all of them would become the same ones.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Control characters, line separators, and the characters that turn the direction of the text around them. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** A text from elsewhere as one line that can be stored, logged and shown: the name of an account, the words of an error. */
export function plainText(text: string, mostCharacters: number): string {
  return text.replace(unprintable, ' ').trim().slice(0, mostCharacters).toWellFormed();
}
