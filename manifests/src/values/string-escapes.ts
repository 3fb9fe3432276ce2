const simple: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const digitsOf: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * The content of a quoted Python string, unescaped. Unknown escapes are kept verbatim. Returns undefined for a
 * truncated one, such as `\x4`. Character names (`\N{…}`) are not supported.
 */
export function unescapeString(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  let result = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character !== '\\') {
      result += character;
      continue;
    }
    at++;
    const letter = text[at];
    if (letter === undefined) return undefined;
    const octal = /^[0-7]{1,3}/.exec(text.slice(at, at + 3))?.[0];
    if (octal) {
      result += String.fromCharCode(Number.parseInt(octal, 8));
      at += octal.length - 1;
    } else if (Object.hasOwn(digitsOf, letter)) {
      const digits = text.slice(at + 1, at + 1 + (digitsOf[letter] ?? 0));
      if (digits.length !== digitsOf[letter] || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
      const point = Number.parseInt(digits, 16);
      if (point > 0x10ffff) return undefined;
      result += String.fromCodePoint(point);
      at += digits.length;
    } else if (letter === 'N') {
      return undefined;
    } else {
      result += Object.hasOwn(simple, letter) ? simple[letter] : `\\${letter}`;
    }
  }
  return result;
}
