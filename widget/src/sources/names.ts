/** Names of sources: finding a free name, and searching among names as people expect. */

/** The name itself, or with the first number that makes it differ from the others. */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map(foldText));
  if (!used.has(foldText(wanted))) return wanted;
  for (let number = 2; ; number += 1) {
    const name = `${wanted} ${number}`;
    if (!used.has(foldText(name))) return name;
  }
}

/** Whether every word of the search occurs, whatever the case and the accents. */
export function matches(name: string, search: string): boolean {
  const folded = foldText(name);
  return foldText(search)
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

/** Compatibility forms too: half-width and full-width letters are the same to the person who types. */
function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .trim();
}
