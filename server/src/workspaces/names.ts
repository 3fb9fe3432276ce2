/**
 * Workspace names. A name is kept as sent; two names are the same when their NFC forms are equal, code point by code
 * point: never compatibility forms (NFKC) and never case folding, which would merge customers. Searching folds case.
 * The contract decides what a name may contain (its `name` format).
 */

/** The form by which names are compared and claimed. */
export function nameIdentity(name: string): string {
  return name.normalize('NFC');
}

/**
 * Makes a name from the platform storable in both databases: PostgreSQL refuses NUL, and all lone surrogates become the
 * same bytes. Names in requests contain neither.
 */
export function storableName(name: string): string {
  return name.toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * The form in which `name_contains` looks for a part of a name. Lower-casing first turns ẞ into ß. Upper-casing then
 * makes letters equal that lower-casing alone keeps different (ß and ss, ſ and s). The final sigma depends on its
 * neighbours, so it becomes a normal sigma. Folding can leave a composed letter decomposed, so NFC comes last.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
