/**
 * Help that a connector's author wrote in HTML. It is parsed in a document that runs and loads nothing, and rebuilt
 * from a list of harmless elements: links to the web, and emphasis. Of any other element only its text is shown. What looks
 * like an element and is none, `https://<your domain>.example.com`, is text.
 */
import { type ComponentChild, Fragment, h } from 'preact';
import { useMemo } from 'preact/hooks';

const kept = new Set(['b', 'br', 'code', 'em', 'i', 'li', 'ol', 'p', 'strong', 'ul']);
const dropped = new Set(['iframe', 'math', 'noscript', 'object', 'script', 'style', 'svg', 'template', 'title']);
const plain = [
  'a',
  'blockquote',
  'div',
  'h[1-6]',
  'hr',
  'img',
  'pre',
  'small',
  'span',
  'sub',
  'sup',
  'table',
  'td',
  'th',
  'tr',
  'u',
];
const noElement = new RegExp(`<(?!!--|/?(?:${[...kept, ...dropped, ...plain].join('|')})(?:[\\s/]|>))`, 'gi');
const maxDepth = 20;

export function Description({ html, id }: { html: string; id: string }) {
  const content = useMemo(() => {
    const page = new DOMParser().parseFromString(html.replace(noElement, '&lt;'), 'text/html');
    return childrenOf(page.body, 0);
  }, [html]);
  return (
    <div class="inlay-field-help" id={id}>
      {content}
    </div>
  );
}

function childrenOf(parent: Node, depth: number): ComponentChild[] {
  if (depth > maxDepth) return [parent.textContent];
  return [...parent.childNodes].map((node, index) => {
    if (node instanceof Element) return rebuilt(node, index, depth + 1);
    return node.nodeType === Node.TEXT_NODE ? node.textContent : null;
  });
}

function rebuilt(element: Element, key: number, depth: number): ComponentChild {
  const name = element.localName;
  if (dropped.has(name)) return null;
  const children = childrenOf(element, depth);
  const address = name === 'a' ? webAddress(element.getAttribute('href')) : undefined;
  if (address) return h('a', { key, href: address, target: '_blank', rel: 'noopener noreferrer' }, children);
  return kept.has(name) ? h(name, { key }, ...(name === 'br' ? [] : children)) : h(Fragment, { key }, children);
}

function webAddress(href: string | null): string | undefined {
  if (href === null || !URL.canParse(href)) return undefined;
  const url = new URL(href);
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}
