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
 * The form in which `name_contains` looks for a part of a name. Upper-casing in between expands what lower-casing alone
 * leaves apart (ß and ss, ſ and s), and lower-casing before it brings ẞ to ß first. The final sigma depends on its
 * neighbors, so it is levelled. Folding can leave a composed letter decomposed, so NFC comes last.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
