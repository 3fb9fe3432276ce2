/*
 * Texts in the answers of the S3 API, which are flat. The reader of manifests says whether an answer is whole; it trims texts,
 * and a key may begin or end with a space.
 */
import { parseXml, unescapeXml } from '@inlay/manifests/run/xml';

/** Whether the text is one whole element of that name: a body that was cut off is not, nor is a web page. */
export function isDocument(xml: string, root: string): boolean {
  try {
    return Object.hasOwn(parseXml(xml), root);
  } catch {
    return false;
  }
}

/** The text of the first element of that name. */
export function textIn(xml: string, element: string): string | undefined {
  const found = new RegExp(`<${element}(?:\\s[^>]*)?>([^<]*)</${element}>`).exec(xml);
  return found?.[1] === undefined ? undefined : unescapeXml(found[1]);
}

/** What is inside each element of that name. */
export function elementsIn(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}(?:\\s[^>]*)?>(.*?)</${element}>`, 'gs'))].map(
    ([, inner]) => inner ?? '',
  );
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
