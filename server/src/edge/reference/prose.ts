/** Pieces of text for the pages: prose with `code` in it, and JSON. */
import { type Html, html } from '../../kernel/html.ts';

/** Text between backticks becomes code. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** Indented, with short lists of plain values on one line. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? '';
  return text.replace(/\[\n *([^[\]{}]*?)\n *\]/g, (list, items: string) => {
    const line = `[${items.replace(/\n */g, ' ')}]`;
    return line.length > 60 ? list : line;
  });
}
