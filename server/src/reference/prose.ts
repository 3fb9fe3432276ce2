/** Pieces of text as HTML: prose with `code` in it, and JSON with colours for its parts. */
import { type Html, html } from '../html.ts';

/** Text between backticks becomes code. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

const jsonToken = /("(?:[^"\\]|\\.)*")(?=(\s*:)?)|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

/** Indented, with short lists of plain values on one line. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? '';
  return text.replace(/\[\n *([^[\]{}]*?)\n *\]/g, (list, items: string) => {
    const line = `[${items.replace(/\n */g, ' ')}]`;
    return line.length > 60 ? list : line;
  });
}

export function json(value: unknown): Html {
  const text = formatJson(value);
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(jsonToken)) {
    const [token, string, colon] = match;
    const kind = string === undefined ? 'literal' : colon === undefined ? 'string' : 'key';
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${parts}${text.slice(end)}`;
}
