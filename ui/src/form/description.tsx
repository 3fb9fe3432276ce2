/**
 * Help in HTML from a connector's author. Reduced to an allowlist of elements without attributes, except for web links, before
 * the browser parses it: parsing a `style` alone reports a violation of the page's policy. Other elements are shown as their
 * text, and so is anything that only looks like an element, such as `https://<your domain>.example.com`.
 */
import { type ComponentChild, Fragment, h } from 'preact';
import { useMemo } from 'preact/hooks';

const kept = new Set(['a', 'b', 'br', 'code', 'em', 'i', 'li', 'ol', 'p', 'strong', 'ul']);
const dropped = new Set(['iframe', 'math', 'noscript', 'object', 'script', 'style', 'svg', 'template', 'title']);
const plain = /^(blockquote|div|h[1-6]|hr|img|pre|small|span|su[bp]|table|t[dhr]|u)$/;
/** A comment, a tag with its attributes, or a lone `<`. */
const markup = /<!--[\s\S]*?-->|<(\/?)([a-z][a-z0-9]*)((?:[\s/](?:[^"'<>]|"[^"]*"|'[^']*')*)?)>|</gi;
const hrefIn = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/i;
const maxDepth = 20;

export function Description({ html, id }: { html: string; id: string }) {
  const content = useMemo(() => {
    const page = new DOMParser().parseFromString(reduced(html), 'text/html');
    return childrenOf(page.body, 0);
  }, [html]);
  return (
    <div class="inlay-field-help" id={id}>
      {content}
    </div>
  );
}

/** Emits only tags written here, so that the text can't influence parsing. */
function reduced(html: string): string {
  return html.replace(markup, (text: string, slash = '', given = '', attributes = '') => {
    const name = given.toLowerCase();
    if (text.startsWith('<!--') || plain.test(name)) return '';
    // A template's content is parsed but inert.
    if (dropped.has(name)) return `<${slash}template>`;
    if (!kept.has(name)) return text.replaceAll('<', '&lt;');
    const [, ...quoted] = (name === 'a' && slash === '' && hrefIn.exec(attributes)) || [];
    const href = quoted.find((value) => value !== undefined);
    return `<${slash}${name}${href === undefined ? '' : ` href="${href.replaceAll('"', '&quot;')}"`}>`;
  });
}

function childrenOf(parent: Node, depth: number): ComponentChild[] {
  if (depth > maxDepth) return [parent.textContent];
  return [...parent.childNodes].map((node, index) => {
    return node instanceof Element ? rebuilt(node, index, depth + 1) : node.textContent;
  });
}

function rebuilt(element: Element, key: number, depth: number): ComponentChild {
  const name = element.localName;
  const children = childrenOf(element, depth);
  const address = webAddress(element.getAttribute('href'));
  if (address) return h('a', { key, href: address, target: '_blank', rel: 'noopener noreferrer' }, children);
  return h(name === 'a' || !kept.has(name) ? Fragment : name, { key }, ...children);
}

function webAddress(href: string | null): string | undefined {
  if (href === null || !URL.canParse(href)) return undefined;
  const url = new URL(href);
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}
