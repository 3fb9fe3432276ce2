/**
 * Takes secrets out of what a connector says, before anybody gets to read it. A secret is found as it stands, inside
 * JSON text and inside a URL; one of several lines, a private key, also line by line, since logs come by the line.
 */
export interface Redactor {
  redact(text: string): string;
  /** A connector was given another secret while it ran. */
  add(secrets: readonly string[]): void;
}

const mask = '*'.repeat(10);
/** Hiding a shorter one would blot out ordinary words and numbers, and hide nothing that is not guessed as easily. */
const minLength = 4;

export function redactor(secrets: readonly string[]): Redactor {
  let known: string[] = [];

  function add(more: readonly string[]): void {
    const spellings = more.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]).flatMap(spellingsOf);
    // The longest first: a secret may contain another.
    known = [...new Set([...known, ...spellings])]
      .filter((text) => text.length >= minLength)
      .sort((a, b) => b.length - a.length);
  }

  add(secrets);
  return { add, redact: (text) => known.reduce((shown, secret) => shown.replaceAll(secret, mask), text) };
}

function spellingsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
