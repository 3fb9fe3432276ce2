/*
 * Reads XML into objects as the Python package `xmltodict` does: attributes with `@`, text beside children as `#text`,
 * elements of one name as a list, an element without anything as null. Knows no entities but the five of the standard
 * and numbers, so that nothing grows.
 */

interface Element {
  name: string;
  content: Record<string, unknown>;
  text: string;
}

const deepest = 500;
const token =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE[^>[]*(?:\[[^\]]*\])?[^>]*>|<(\/?)([^\s/>]+)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>|([^<]+)/g;

/** Throws an Error for a text that is no XML. */
export function parseXml(text: string): Record<string, unknown> {
  const root: Element = { name: '', content: {}, text: '' };
  const open: Element[] = [root];
  for (const match of text.matchAll(token)) {
    const [, data, closes, name, attributes = '', isEmpty, characters] = match;
    const current = open.at(-1) as Element;
    if (data !== undefined) current.text += data;
    else if (characters !== undefined) current.text += unescapeXml(characters);
    else if (closes === '/') {
      if (open.length === 1 || current.name !== name) throw new Error('The answer is no valid XML.');
      open.pop();
      addTo(open.at(-1) as Element, current);
    } else if (name !== undefined) {
      if (open.length > deepest) throw new Error('The XML of the answer is too deep.');
      const element: Element = { name, content: readAttributes(attributes), text: '' };
      if (isEmpty === '/') addTo(current, element);
      else open.push(element);
    }
  }
  if (open.length !== 1 || Object.keys(root.content).length === 0) throw new Error('The answer is no valid XML.');
  return root.content;
}

function addTo(parent: Element, { name, content, text }: Element): void {
  const words = text.trim();
  const hasContent = Object.keys(content).length > 0;
  const value = hasContent ? (words === '' ? content : { ...content, '#text': words }) : words === '' ? null : words;
  const before = parent.content[name];
  if (!Object.hasOwn(parent.content, name)) define(parent.content, name, value);
  else define(parent.content, name, Array.isArray(before) ? [...before, value] : [before, value]);
}

function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function readAttributes(text: string): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [, name = '', double, single] of text.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    define(attributes, `@${name}`, unescapeXml(double ?? single ?? ''));
  }
  return attributes;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
