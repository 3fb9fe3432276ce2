/** Short names that tables and files can carry. */

const maxLength = 40;

/** Lower-case letters and digits with single underscores. A name without letters and digits becomes `source`. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return slug.slice(0, maxLength).replace(/_+$/, '') || 'source';
}

/** The slug, or the first of slug_2, slug_3, … that is free. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  for (let n = 2; ; n++) {
    const candidate = `${slug}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}
