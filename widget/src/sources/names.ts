/** Names of sources: finding a free name, and searching leniently. */

/** The name itself, or the name with the first number that makes it unique. */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map(foldText));
  if (!used.has(foldText(wanted))) return wanted;
  for (let number = 2; ; number += 1) {
    const name = `${wanted} ${number}`;
    if (!used.has(foldText(name))) return name;
  }
}

/** Whether every word of the search occurs in the name, ignoring case and accents. */
export function matches(name: string, search: string): boolean {
  const folded = foldText(name);
  return foldText(search)
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

/** Also makes compatibility forms equal: half-width and full-width letters are the same to a person who types. */
function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .trim();
}
