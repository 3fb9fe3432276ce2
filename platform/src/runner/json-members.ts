/**
 * Splits a JSON object without touching its values, so that one part can be replaced and the rest is unchanged: parsing
 * and writing a number would lose digits that a JavaScript number cannot represent.
 */

/** JSON to write unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The members of an object by key, each as JSON text. The text must be valid JSON; of a repeated key the last counts. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== '}') {
    const keyEnd = skipString(text, at);
    const key: string = JSON.parse(text.slice(at, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.set(key, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/** The elements of a list, each as JSON text. The text must be valid JSON. */
export function elementsOf(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== ']') {
    const end = skipValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return elements;
}

export function objectText(members: Iterable<readonly [key: string, value: string]>): string {
  return `{${Array.from(members, ([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}

/** Including its opening and closing quotes. */
export function skipString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at + 1;
}

const endsWord = ',}]';

function skipValue(text: string, start: number): number {
  let at = start;
  if (text[at] === '"') return skipString(text, at);
  if (text[at] === '{' || text[at] === '[') {
    for (let depth = 0; at < text.length; at++) {
      const character = text[at];
      if (character === '"') at = skipString(text, at) - 1;
      else if (character === '{' || character === '[') depth++;
      else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
    }
  }
  // A number or a word.
  while (at < text.length && !endsWord.includes(text[at] as string) && text.charCodeAt(at) > 32) at++;
  return at;
}
