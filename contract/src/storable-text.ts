/**
 * A text from elsewhere as every database can keep it. PostgreSQL and the driver of SQLite refuse U+0000, and halves of
 * surrogate pairs have no bytes of their own: all of them would become the same ones.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
