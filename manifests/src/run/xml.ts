/*
 * Parses XML into objects like the Python package `xmltodict`: attributes with `@`, text next to children as `#text`,
 * elements with the same name as a list, empty elements as null. Supports only the five standard entities and character
 * references, so that entities cannot expand.
 */

interface Element {
  name: string;
  content: Record<string, unknown>;
  text: string;
}

const deepest = 500;
const nameOf = '[A-Za-z_:\\u0080-\\uffff][\\w.:\\-\\u0080-\\uffff]*';
const token = new RegExp(
  [
    '<!--[\\s\\S]*?-->',
    '<!\\[CDATA\\[([\\s\\S]*?)\\]\\]>',
    '<\\?[\\s\\S]*?\\?>',
    '<!DOCTYPE[^>[]*(?:\\[[^\\]]*\\])?[^>]*>',
    `<(/?)(${nameOf})((?:"[^"<]*"|'[^'<]*'|[^<>"'])*?)(/?)>`,
    '([^<]+)',
  ].join('|'),
  'g',
);
const attribute = new RegExp(`\\s+(${nameOf})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g');

/**
 * Throws an Error for text that is not XML. As strict as the parser of the reference runtime, which then has no
 * records.
 */
export function parseXml(text: string): Record<string, unknown> {
  const source = text.replace(/^\ufeff/, '');
  // A document type may define entities. They are kept verbatim.
  const decode = source.includes('<!DOCTYPE') ? unescapeXml : unescapeStrictly;
  const root: Element = { name: '', content: {}, text: '' };
  const open: Element[] = [root];
  let end = 0;
  for (const match of source.matchAll(token)) {
    const [whole, data, closes, name, attributes = '', isEmpty, characters] = match;
    if (match.index !== end || (whole.startsWith('<?xml ') && end > 0)) throw invalid();
    end += whole.length;
    const current = open.at(-1) as Element;
    if (data !== undefined) current.text += data;
    else if (characters !== undefined) current.text += decode(characters);
    else if (closes === '/') {
      if (open.length === 1 || current.name !== name) throw invalid();
      open.pop();
      addTo(open.at(-1) as Element, current);
    } else if (name !== undefined) {
      if (open.length > deepest) throw new Error('The XML of the response is nested too deeply.');
      if (open.length === 1 && Object.keys(root.content).length > 0) throw invalid();
      const element: Element = { name, content: readAttributes(attributes, decode), text: '' };
      if (isEmpty === '/') addTo(current, element);
      else open.push(element);
    }
  }
  const isWhole = end === source.length && open.length === 1 && root.text.trim() === '';
  if (!isWhole || Object.keys(root.content).length === 0) throw invalid();
  return root.content;
}

function invalid(): Error {
  return new Error('The response is not valid XML.');
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

function readAttributes(text: string, decode: (text: string) => string): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  const rest = text.replace(attribute, (_whole, name: string, double?: string, single?: string) => {
    if (Object.hasOwn(attributes, `@${name}`)) throw invalid();
    // Breaks between lines are spaces in an attribute.
    define(attributes, `@${name}`, decode((double ?? single ?? '').replace(/\r\n|[\r\n\t]/g, ' ')));
    return '';
  });
  if (rest.trim() !== '') throw invalid();
  return attributes;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function unescapeStrictly(text: string): string {
  if (/&(?!(?:#\d+|#x[\da-fA-F]+|amp|lt|gt|quot|apos);)/.test(text)) throw invalid();
  return unescapeXml(text);
}
