/**
 * Takes secrets out of a connector's messages before anybody can read them. A secret is found as plain text, inside
 * JSON text and inside a URL. A secret of several lines, such as a private key, is also found line by line, because
 * logs come in lines.
 */
export interface Redactor {
  redact(text: string): string;
  /** A connector was given another secret while it ran. */
  add(secrets: readonly string[]): void;
}

const mask = '*'.repeat(10);
/**
 * Shorter secrets are not redacted: that would hide ordinary words and numbers, and such a secret is easy to guess
 * anyway.
 */
const minLength = 4;

export function redactor(secrets: readonly string[]): Redactor {
  let known: string[] = [];

  function add(more: readonly string[]): void {
    const spellings = more.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]).flatMap(spellingsOf);
    // Longest first, because a secret may contain another.
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
